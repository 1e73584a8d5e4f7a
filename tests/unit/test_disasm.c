/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of known opcodes, in every instruction set, and the memo: same answers whatever was asked before. */
#include "codecs/isa/disasm.h"
#include "codecs/isa/names.h"
#include "tests/lib/check.h"

#include <llvm/Config/llvm-config.h>
#include <pthread.h>

#define THREADS 4

static const char *put(struct hf_disasm *disasm, uint32_t opcode, unsigned size, unsigned isa)
{
	static _Thread_local char buf[HF_DISASM_ROOM + 1];
	uint8_t *end = hf_disasm_put(disasm, (uint8_t *)buf, opcode, size, isa);

	for (uint8_t *p = end; p < (uint8_t *)buf + HF_DISASM_WIDTH; p++)
		CHECK_EQ(*p, ' ');
	CHECK(end[-1] != ' ');
	*end = 0;
	return buf;
}

static const struct {
	uint32_t opcode;
	uint8_t size, isa;
	const char *text;
} known[] = {
	{0x00f71263, 4, HF_ISA_RV64, "00f71263 bne a4, a5, 4"},
	{0x02f71663, 4, HF_ISA_RV64, "02f71663 bne a4, a5, 44"},
	{0x02061713, 4, HF_ISA_RV64, "02061713 slli a4, a2, 32"},
	{0x00008067, 4, HF_ISA_RV64, "00008067 ret"},
	{0x8082, 2, HF_ISA_RV64, "8082     ret"},
	{0x60e2, 2, HF_ISA_RV64, "60e2     ld ra, 24(sp)"},
	{0x60e2, 2, HF_ISA_RV32, "60e2     flw ft1, 24(sp)"},
	{0x2001, 2, HF_ISA_RV32, "2001     jal 0"},
	{0xba02, 2, HF_ISA_RV64, "ba02     fsd ft0, 304(sp)"}, /* with Zcmp cm.pop, if its list were valid */
	{0x30529073, 4, HF_ISA_RV64, "30529073 csrw mtvec, t0"},
	{0x0d0576d7, 4, HF_ISA_RV64, "0d0576d7 vsetvli a3, a0, e32, m1, ta, ma"},
	{0xdead0000, 2, HF_ISA_RV64, "0000     unimp"},
	{0xffffffff, 4, HF_ISA_RV64, "ffffffff unknown"},
	{0x00000013, 6, HF_ISA_RV64, "00000013 unknown"},
	{0x00000013, 4, HF_ISA_NONE, "00000013 unknown"},
	{0x00000013, 4, 99, "00000013 unknown"},
	{0xd65f03c0, 4, HF_ISA_A64, "d65f03c0 ret"},
	{0xf9400be8, 4, HF_ISA_A64, "f9400be8 ldr x8, [sp, #16]"},
	{0x54000041, 4, HF_ISA_A64, "54000041 b.ne #8"},
	{0xe12fff1e, 4, HF_ISA_A32, "e12fff1e bx lr"},
	{0x4770, 2, HF_ISA_T32, "4770     bx lr"},
	{0xf000f802, 4, HF_ISA_T32, "f000f802 bl #4"},
	{0xf00fc00b, 4, HF_ISA_T32 | HF_DISASM_M, "f00fc00b le lr, #-20"},
	{0xf00fc00b, 4, HF_ISA_T32, "f00fc00b le lr, #-20"},
	{0xf044c003, 4, HF_ISA_T32 | HF_DISASM_M, "f044c003 wls lr, r4, #4"},
	{0x4774, 2, HF_ISA_T32 | HF_DISASM_M, "4774     bxns lr"},
	{0xe97fe97f, 4, HF_ISA_T32 | HF_DISASM_M, "e97fe97f sg"},
	{0xee111e60, 4, HF_ISA_T32 | HF_DISASM_M, "ee111e60 vmul.i16 q0, q0, r0"},
#if LLVM_VERSION_MAJOR >= 19
	{0x0ec5d533, 4, HF_ISA_RV64, "0ec5d533 czero.eqz a0, a1, a2"},
	{0xbe42, 2, HF_ISA_RV32 | HF_DISASM_CODE_SIZE, "be42     cm.popret {ra}, 16"},
	{0xb8f2, 2, HF_ISA_RV64 | HF_DISASM_CODE_SIZE, "b8f2     cm.push {ra, s0-s11}, -112"},
	{0xa082, 2, HF_ISA_RV64 | HF_DISASM_CODE_SIZE, "a082     cm.jalt 32"},
	{0xba02, 2, HF_ISA_RV64 | HF_DISASM_CODE_SIZE, "ba02     unknown"},
	{0xbe42, 2, HF_ISA_RV64, "be42     fsd fa6, 312(sp)"},
	{0x00c5f553, 4, HF_ISA_RV64, "00c5f553 fadd.s fa0, fa1, fa2"},
	{0x00c5f553, 4, HF_ISA_RV64 | HF_DISASM_ZFINX, "00c5f553 fadd.s a0, a1, a2"},
	{0x02c5f553, 4, HF_ISA_RV64 | HF_DISASM_ZFINX, "02c5f553 fadd.d a0, a1, a2"},
	{0x00052507, 4, HF_ISA_RV32 | HF_DISASM_ZFINX, "00052507 unknown"}, /* flw */
	{0x00c58533, 4, HF_ISA_RV32 | HF_DISASM_ZFINX, "00c58533 add a0, a1, a2"},
#endif
};

static void check_known(struct hf_disasm *disasm)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		CHECK_STR(put(disasm, known[i].opcode, known[i].size, known[i].isa), known[i].text);
}

/* The texts for T32 must not depend on an IT instruction disassembled before. */
static void test_it_block(struct hf_disasm *disasm)
{
	CHECK_STR(put(disasm, 0xbf01, 2, HF_ISA_T32), "bf01     itttt eq");
	CHECK_STR(put(disasm, 0x1c40, 2, HF_ISA_T32), "1c40     adds r0, r0, #1");
	/* and in one that is known it has its condition */
	CHECK_STR(put(disasm, 0xf000f87c, hf_disasm_size(4, 0x08), HF_ISA_T32), "f000f87c bleq #248");
	CHECK_STR(put(disasm, 0x4770, hf_disasm_size(2, 0x18), HF_ISA_T32 | HF_DISASM_M), "4770     bxne lr");
	CHECK_STR(put(disasm, 0x1c40, hf_disasm_size(2, 0xc4), HF_ISA_T32), "1c40     addgt r0, r0, #1");
	CHECK_STR(put(disasm, 0x4770, hf_disasm_size(2, 0xe8), HF_ISA_T32), "4770     bx lr");
	CHECK_STR(put(disasm, 0x4770, hf_disasm_size(2, 0), HF_ISA_T32), "4770     bx lr");
}

/* Register lists of A32 are longer than one slot: head and tail must be put together, and nothing be cut. */
static void test_long(struct hf_disasm *disasm)
{
	const char *text = put(disasm, 0xec830a20, 4, HF_ISA_A32); /* vstmia r3, {s0-s31} */
	unsigned regs = 0;

	CHECK(strncmp(text, "ec830a20 vstmia r3, {s0, s1, ", 29) == 0);
	for (const char *s = text; (s = strstr(s, ", s")); s++)
		regs++;
	CHECK_EQ(regs, 31);
	CHECK_STR(text + strlen(text) - 6, ", s31}");
}

/* More opcodes than the memo holds: it is emptied and goes on, with the same answers. */
static void test_overflow(struct hf_disasm *disasm)
{
	for (uint32_t i = 0; i < HF_DISASM_LIMIT + 1000; i++)
		put(disasm, i << 7 | 0x37, 4, HF_ISA_RV64);
	CHECK(disasm->used <= HF_DISASM_LIMIT);
	check_known(disasm);
	CHECK_STR(put(disasm, 0x00001537, 4, HF_ISA_RV64), "00001537 lui a0, 1");
}

/* The names of control and status registers are those that LLVM knows; it need not know all of ours. */
static void test_csr_names(struct hf_disasm *disasm)
{
#if LLVM_VERSION_MAJOR >= 19
	unsigned agreed = 0;

	for (uint32_t number = 0; number < 4096; number++)
		for (unsigned isa = HF_ISA_RV32; isa <= HF_ISA_RV64; isa++) {
			const char *text = put(disasm, number << 20 | 0xf573, 4, isa); /* csrrci a0, number, 1 */
			char name[32] = "", ours[16] = "";

			CHECK_EQ(sscanf(text + 9, "csrrci a0, %31[^,], 1", name), 1);
			memcpy(ours, hf_csrs[number].name, hf_csrs[number].len);
			if (name[0] >= '0' && name[0] <= '9')
				continue;
			CHECK_STR(ours, name);
			agreed++;
		}
	CHECK(agreed > 700);
#else
	(void)disasm;
#endif
}

static void *use(void *arg)
{
	struct hf_disasm *disasm;

	CHECK_EQ(hf_disasm_new(&disasm), 0);
	check_known(disasm);
	hf_disasm_free(disasm);
	return arg;
}

int main(void)
{
	pthread_t threads[THREADS];
	struct hf_disasm *disasm;

	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, use, NULL) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(strncmp(hf_disasm_version(), "LLVM ", 5) == 0);
	CHECK_EQ(hf_disasm_new(&disasm), 0);
	check_known(disasm);
	check_known(disasm);
	test_it_block(disasm);
	test_long(disasm);
	test_csr_names(disasm);
	test_overflow(disasm);
	hf_disasm_free(disasm);
	return 0;
}
