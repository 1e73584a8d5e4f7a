/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of a file in the code that ran: wherever it lay, with as few words as are promised, and no place if another
 * program ran there, if it fits twice, or if too little of it ran.
 */
#include "codecs/base/bytes.h"
#include "codecs/image/bias.h"
#include "tests/lib/check.h"

#include <elf.h>

enum { CODE = 0x5000, VADDR = 0x640, HEAD = 0x100, PAGE = 4096 };

static uint8_t file[HEAD + CODE];

/* Code whose words differ. pages: so many are different, then they come again. */
static void make_file(unsigned seed, unsigned pages)
{
	Elf64_Ehdr ehdr = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_RISCV,
			   .e_version = EV_CURRENT,
			   .e_phoff = sizeof ehdr,
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 1,
			   .e_ehsize = sizeof ehdr};
	const Elf64_Phdr phdr = {.p_type = PT_LOAD,
				 .p_flags = PF_R | PF_X,
				 .p_offset = HEAD,
				 .p_vaddr = VADDR,
				 .p_filesz = CODE,
				 .p_memsz = CODE};

	memcpy(file, &ehdr, sizeof ehdr);
	memcpy(file + sizeof ehdr, &phdr, sizeof phdr);
	for (uint32_t i = 0; i < CODE; i += 4)
		hf_put32(file + HEAD + i, ((i % (pages * PAGE) + 7) * 2654435761u ^ seed * 40503u) | 3);
}

static struct hf_image *image;

static void run(uint64_t pc, uint32_t opcode)
{
	struct hf_event ev = {.kind = HF_EVENT_INSN,
			      .insn = {.pc = pc, .opcode = opcode, .size = 4, .isa = HF_ISA_RV64}};

	CHECK_EQ(hf_image_put(image, &ev, 1), 0);
}

/* Runs count instructions of the file from offset on, every other one, where bias brings them. */
static void run_file(uint64_t bias, uint32_t offset, unsigned count)
{
	for (unsigned i = 0; i < count; i++, offset += 8)
		run(VADDR + offset + bias, hf_get32(file + HEAD + offset));
}

static void begin(void)
{
	hf_image_free(image);
	CHECK_EQ(hf_image_new(&image), 0);
}

static struct hf_bias find(struct hf_bias_search **ret_search)
{
	struct hf_bias_search *search;
	struct hf_bias bias;
	struct hf_src *src;

	CHECK_EQ(hf_bias_search_new(image, &search), 0);
	CHECK_EQ(hf_src_memory_new(file, sizeof file, &src), 0);
	CHECK_EQ(hf_bias_find(search, src, &bias, NULL), 0);
	hf_src_free(src);
	if (ret_search)
		*ret_search = search;
	else
		hf_bias_search_free(search);
	return bias;
}

static void check(enum hf_bias_verdict verdict, uint64_t value, uint64_t bytes, uint64_t differs)
{
	const struct hf_bias bias = find(NULL);

	CHECK_EQ(bias.verdict, verdict);
	CHECK_EQ(bias.bias, value);
	CHECK_EQ(bias.bytes, bytes);
	CHECK_EQ(bias.differs, differs);
}

static void check_places(void)
{
	static const uint64_t biases[] = {0, 0x1000, 0x4000000000, 0xffffffff80000000,
					  -(uint64_t)0x1000 * 2 + 0x1000 * 3};

	make_file(1, CODE / PAGE);
	for (size_t i = 0; i < sizeof biases / sizeof biases[0]; i++) {
		begin();
		run_file(biases[i], 0, 300);
		check(HF_BIAS_FOUND, biases[i], 1200, 0);
	}
}

static void check_few(void)
{
	begin();
	check(HF_BIAS_UNUSED, 0, 0, 0);
	run_file(0x7000, 0x100, HF_BIAS_VOTES / 2 - 1);
	check(HF_BIAS_UNUSED, 0, 0, 0);
	run_file(0x7000, 0x100, HF_BIAS_VOTES / 2);
	check(HF_BIAS_FOUND, 0x7000, 4 * (HF_BIAS_VOTES / 2), 0);
	/* With a difference it takes more. */
	run(0x7000 + VADDR, 0x13);
	check(HF_BIAS_UNUSED, 0, 0, 0);
}

/* A hundredth may be patched, no more. */
static void check_patches(void)
{
	begin();
	run_file(0x9000, 0, 398);
	run(0x9000 + VADDR + 398 * 8, 0x13);
	run(0x9000 + VADDR + 399 * 8, 0x13);
	run(0x9000 + VADDR + 400 * 8, 0x13);
	run(0x9000 + VADDR + 401 * 8, 0x13);
	check(HF_BIAS_FOUND, 0x9000, 402 * 4, 16);
	run(0x9000 + VADDR + 402 * 8, 0x13);
	check(HF_BIAS_DIFFERS, 0x9000, 403 * 4, 20);
}

/* What ran is of another build: a part of it is the same. */
static void check_other_build(void)
{
	begin();
	run_file(0x3000, 0, 60);
	make_file(2, CODE / PAGE);
	run_file(0x3000, 0x1000, 240);
	make_file(1, CODE / PAGE);
	check(HF_BIAS_DIFFERS, 0x3000, 1200, 960);
}

/* All pages of the file are the same: which of them ran nobody can tell. */
static void check_several(void)
{
	make_file(1, 1);
	begin();
	run_file(0x3000, 0, 100);
	CHECK_EQ(find(NULL).verdict, HF_BIAS_SEVERAL);
	make_file(1, CODE / PAGE);
}

/* Two processes have the file at two places; what is claimed is nobody else's. */
static void check_claims(void)
{
	struct hf_bias_search *search;
	struct hf_bias bias;
	struct hf_src *src;
	bool other;

	begin();
	run_file(0x100000, 0, 200);
	run_file(0x900000, 0, 100);
	run(0x5000000, 0x13);
	bias = find(&search);
	CHECK_EQ(hf_src_memory_new(file, sizeof file, &src), 0);
	CHECK_EQ(bias.verdict, HF_BIAS_FOUND);
	CHECK_EQ(bias.bias, 0x100000);
	CHECK_EQ(hf_bias_claim(search, src, bias.bias, &other), 0);
	CHECK(!other);
	CHECK_EQ(hf_bias_find(search, src, &bias, NULL), 0);
	CHECK_EQ(bias.verdict, HF_BIAS_FOUND);
	CHECK_EQ(bias.bias, 0x900000);
	CHECK_EQ(hf_bias_claim(search, src, 0x101000, &other), 0);
	CHECK(other);
	CHECK_EQ(hf_bias_claim(search, src, bias.bias, &other), 0);
	CHECK(!other);
	CHECK_EQ(hf_bias_find(search, src, &bias, NULL), 0);
	CHECK_EQ(bias.verdict, HF_BIAS_UNUSED);
	CHECK_EQ(hf_bias_bytes(search), 304 * 4 - 3 * 4);
	CHECK_EQ(hf_bias_unclaimed(search), 4);
	hf_src_free(src);
	hf_bias_search_free(search);
}

/* Of much code a part is looked for at first: what is little of the file is found when all of it is. */
static void check_much(void)
{
	enum { OTHERS = 100000, FEW = 40 };
	struct hf_bias_search *search;
	struct hf_bias bias;
	struct hf_src *src;
	bool more;

	begin();
	for (uint32_t i = 0; i < OTHERS; i++)
		run(0x80000000 + 4 * i, (i * 2246822519u & ~0x7fu) | 0x33);
	run_file(0x7000, 0x104, FEW);
	bias = find(&search);
	CHECK_EQ(bias.verdict, HF_BIAS_UNUSED);
	CHECK_EQ(hf_bias_search_all(search, &more), 0);
	CHECK(more);
	CHECK_EQ(hf_src_memory_new(file, sizeof file, &src), 0);
	CHECK_EQ(hf_bias_find(search, src, &bias, NULL), 0);
	CHECK_EQ(bias.verdict, HF_BIAS_FOUND);
	CHECK_EQ(bias.bias, 0x7000);
	CHECK_EQ(bias.bytes, 4 * FEW);
	CHECK_EQ(hf_bias_search_all(search, &more), 0);
	CHECK(!more);
	hf_src_free(src);
	hf_bias_search_free(search);
}

int main(void)
{
	check_places();
	check_few();
	check_patches();
	check_other_build();
	check_several();
	check_claims();
	check_much();
	hf_image_free(image);
	return 0;
}
