/* SPDX-License-Identifier: Apache-2.0 */
/* What ELF files say of Zcmp, Zcmt and the jump table, and what of them a program keeps. */
#include "codecs/image/elf_riscv.h"
#include "codecs/image/program.h"
#include "codecs/isa/riscv.h"
#include "tests/lib/check.h"
#include "tests/lib/rvelf.h"

#define BOTH (HF_RISCV_ZCMP | HF_RISCV_ZCMT)

static void test_arch(void)
{
	static const struct {
		const char *arch;
		uint32_t extensions;
	} rows[] = {
		{"", 0},
		{"rv64imafdc", 0},
		{"rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicsr2p0", 0},
		{"rv32i2p1_c2p0_zicsr2p0_zca1p0_zcb1p0_zcmp1p0", HF_RISCV_ZCMP},
		{"rv32i2p1_zca1p0_zcmp1p0_zcmt1p0", BOTH},
		{"rv32i_zcmt", HF_RISCV_ZCMT},
		{"RV32I_ZCMT", HF_RISCV_ZCMT},
		{"rv32i2p1_zce1p0", BOTH},
		{"rv64i2p1_zcmop1p0", 0}, /* may-be-operations */
		{"rv64i2p1_zcmpq1p0", 0},
		{"rv64i2p1_xzcmp1p0", 0},
		{"_zcmp_", HF_RISCV_ZCMP},
		{"rv32imac_zfinx1p0", HF_RISCV_ZFINX},
		{"rv64ima_zhinxmin", HF_RISCV_ZFINX},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_EQ(hf_riscv_arch_extensions(rows[i].arch, strlen(rows[i].arch)), rows[i].extensions);
}

static const uint8_t code[] = {0x13, 0, 0, 0};

static uint8_t *make(uint8_t xlen, uint64_t base, const char *arch, uint64_t jvt, struct hf_src **ret_src)
{
	const struct hf_rvelf elf = {.xlen = xlen, .base = base, .code = code, .code_size = sizeof code, .arch = arch,
				     .jvt = jvt};
	size_t size;
	uint8_t *bytes = hf_rvelf_make(&elf, &size);

	CHECK_EQ(hf_src_memory_new(bytes, size, ret_src), 0);
	return bytes;
}

static void add(struct hf_program *program, uint8_t xlen, uint64_t base, const char *arch, uint64_t jvt, uint64_t bias)
{
	struct hf_src *src;
	uint8_t *bytes = make(xlen, base, arch, jvt, &src);

	CHECK_EQ(hf_program_add_elf(program, src, bias, NULL), 0);
	hf_src_free(src);
	free(bytes);
}

static void test_program(uint8_t xlen)
{
	const char *both = "rv32i2p1_zcmp1p0_zcmt1p0";
	struct hf_program program;

	hf_program_init(&program);
	add(&program, xlen, 0x1000, "rv32i2p1_d2p0_c2p0", 0x40, 0); /* the table of something else: no Zcmt */
	CHECK_EQ(program.extensions, 0);
	CHECK(!program.has_jvt);
	add(&program, xlen, 0x2000, NULL, 0, 0);
	add(&program, xlen, 0x3000, both, 0, 0);
	CHECK_EQ(program.extensions, BOTH);
	CHECK(!program.has_jvt);
	add(&program, xlen, 0x4000, both, 0x4041, 0); /* no such table: the low bits are the mode */
	CHECK(!program.has_jvt);
	add(&program, xlen, 0x5000, NULL, 0x5040, 0x10000); /* without attributes nobody says that there is none */
	CHECK(program.has_jvt);
	CHECK_EQ(program.jvt, 0x15040);
	add(&program, xlen, 0x6000, both, 0x6040, 0);
	CHECK_EQ(program.jvt, 0x15040);
	hf_program_fini(&program);
}

/* Damaged in one byte, or cut: it is read or refused, and never more than its own memory. */
static void test_damaged(uint8_t xlen)
{
	struct hf_src *src;
	struct hf_elf_file file;
	struct hf_elf_riscv riscv;
	uint8_t *bytes = make(xlen, 0x1000, "rv32i2p1_zcmp1p0_zcmt1p0", 0x1040, &src);
	const size_t size = (size_t)src->size;
	size_t missed = 0;

	hf_src_free(src);
	for (size_t i = 0x1200; i < size; i++) /* the tables */
		for (unsigned k = 0; k < 10; k++) {
			const uint8_t was = bytes[i];

			bytes[i] = (uint8_t)(k < 8 ? was ^ 1u << k : k == 8 ? 0 : 255);
			CHECK_EQ(hf_src_memory_new(bytes, size, &src), 0);
			CHECK_EQ(hf_elf_file_open(src, &file, NULL), 0);
			CHECK_EQ(hf_elf_file_riscv(&file, &riscv, NULL), 0);
			missed += riscv.extensions != BOTH || !riscv.has_jvt;
			hf_elf_file_close(&file);
			hf_src_free(src);
			bytes[i] = was;
		}
	CHECK(missed > 100);
	for (size_t n = 0; n < size; n++) {
		uint8_t *cut = malloc(n + 1);

		CHECK(cut);
		memcpy(cut, bytes, n);
		CHECK_EQ(hf_src_memory_new(cut, n, &src), 0);
		if (hf_elf_file_open(src, &file, NULL) == 0) {
			CHECK_EQ(hf_elf_file_riscv(&file, &riscv, NULL), 0);
			hf_elf_file_close(&file);
		}
		hf_src_free(src);
		free(cut);
	}
	free(bytes);
}

int main(void)
{
	test_arch();
	for (uint8_t xlen = 32; xlen <= 64; xlen += 32) {
		test_program(xlen);
		test_damaged(xlen);
	}
	return 0;
}
