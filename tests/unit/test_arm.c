/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classification of A64, A32 and T32 opcodes against the texts of the disassembler: every 16-bit encoding; around
 * every row of arm.def its fixed bits with random others, also with each fixed bit inverted; every value of the bits
 * that tell A64's branches, exceptions and system instructions apart; and 300,000 random words of each set.
 */
#include "codecs/isa/arm.h"
#include "codecs/isa/disasm.h"
#include "tests/lib/check.h"

#include <llvm/Config/llvm-config.h>

#define RANDOM_WORDS 300000
#define FILLS 64

static struct hf_disasm *disasm;
static unsigned long compared, unknown;

enum table { A64, A32, A32F, T16, T32 };
static const struct {
	uint32_t mask, match;
	enum table table;
} rows[] = {
#define HF_ARM(table, mask, match, flow, flags) {mask, match, table},
#include "codecs/isa/arm.def"
};

static uint32_t next_random(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 16);
}

static bool one_of(const char *word, const char *list)
{
	size_t n = strlen(word);

	for (const char *s = list; n && (s = strstr(s, word)); s++)
		if ((s == list || s[-1] == ' ') && (s[n] == ' ' || s[n] == 0))
			return true;
	return false;
}

/* What the disassembler says of an instruction, in our terms. */
struct want {
	uint8_t flow, flags;
	long offset; /* the operand of a direct one */
};

static struct want a64_want(const char *word, const char *operands)
{
	const char *last = strrchr(operands, '#');
	struct want w = {HF_FLOW_PLAIN, 0, last ? strtol(last + 1, NULL, 10) : 0};

	if (strcmp(word, "b") == 0)
		w.flow = HF_FLOW_JUMP, w.flags = HF_ARM_P0;
	else if (strcmp(word, "bl") == 0)
		w.flow = HF_FLOW_CALL, w.flags = HF_ARM_P0 | HF_ARM_LINK;
	else if (strncmp(word, "b.", 2) == 0 || strncmp(word, "bc.", 3) == 0 || one_of(word, "cbz cbnz tbz tbnz"))
		w.flow = HF_FLOW_BRANCH, w.flags = HF_ARM_P0 | HF_ARM_CONDITIONAL;
	else if (one_of(word, "br braa brab braaz brabz"))
		w.flow = HF_FLOW_INDIRECT_JUMP, w.flags = HF_ARM_P0 | HF_ARM_INDIRECT;
	else if (one_of(word, "blr blraa blrab blraaz blrabz"))
		w.flow = HF_FLOW_INDIRECT_CALL, w.flags = HF_ARM_P0 | HF_ARM_INDIRECT | HF_ARM_LINK;
	else if (one_of(word, "ret retaa retab retaasppc retabsppc retaasppcr retabsppcr"))
		w.flow = HF_FLOW_RETURN, w.flags = HF_ARM_P0 | HF_ARM_INDIRECT;
	else if (one_of(word, "eret eretaa eretab"))
		w.flow = HF_FLOW_TRAP_RETURN, w.flags = HF_ARM_P0 | HF_ARM_INDIRECT;
	else if (strcmp(word, "drps") == 0)
		w.flow = HF_FLOW_TRAP_RETURN;
	else if (one_of(word, "svc hvc smc brk hlt dcps1 dcps2 dcps3"))
		w.flow = HF_FLOW_TRAP_CALL;
	else if (one_of(word, "isb tstart"))
		w.flow = HF_FLOW_SYNC, w.flags = HF_ARM_P0;
	else if (one_of(word, "wfe wfi wfet wfit"))
		w.flow = HF_FLOW_WAIT, w.flags = HF_ARM_WFX;
	return w;
}

/* An instruction of A32 or T32 that writes the pc and is no branch. */
static uint8_t pc_flow(const char *word, const char *operands)
{
	size_t n = strlen(operands);
	bool list = n > 3 && operands[n - 1] == '}' && strncmp(operands + n - 3, "pc", 2) == 0;

	if (n > 4 && strcmp(operands + n - 4, "pc}^") == 0 && strncmp(word, "ldm", 3) == 0)
		return HF_FLOW_TRAP_RETURN; /* before the '^' */
	if (n > 5 && strcmp(operands + n - 5, "pc} ^") == 0 && strncmp(word, "ldm", 3) == 0)
		return HF_FLOW_TRAP_RETURN;
	if (list && (strncmp(word, "pop", 3) == 0 || (one_of(word, "ldm ldm.w") && strncmp(operands, "sp!", 3) == 0)))
		return HF_FLOW_RETURN;
	if (list && strncmp(word, "ldm", 3) == 0)
		return HF_FLOW_INDIRECT_JUMP;
	if (strncmp(operands, "pc,", 3) != 0)
		return HF_FLOW_PLAIN;
	if ((one_of(word, "mov mov.w") && strcmp(operands, "pc, lr") == 0) ||
	    (one_of(word, "ldr ldr.w") && strcmp(operands, "pc, [sp], #4") == 0))
		return HF_FLOW_RETURN;
	if (one_of(word, "ldr ldr.w ldrt and eor sub rsb add adc sbc rsc orr mov bic mvn lsl lsr asr ror rrx adr"))
		return HF_FLOW_INDIRECT_JUMP;
	if (one_of(word, "ands eors subs rsbs adds adcs sbcs rscs orrs movs bics mvns lsls lsrs asrs rors rrxs"))
		return HF_FLOW_TRAP_RETURN;
	return HF_FLOW_PLAIN;
}

/* Branches that only the M profile has; false: it is none. */
static bool m_want(const char *word, const char *operands, struct want *w)
{
	const char *second = strstr(operands, ", ");

	if (one_of(word, "le letp wls") || strncmp(word, "wlstp.", 6) == 0)
		w->flow = HF_FLOW_BRANCH, w->flags = HF_ARM_P0 | HF_ARM_CONDITIONAL | HF_ARM_LOOP;
	else if (strcmp(word, "bxns") == 0)
		w->flow = strcmp(operands, "lr") == 0 ? HF_FLOW_RETURN : HF_FLOW_INDIRECT_JUMP,
		w->flags = HF_ARM_P0 | HF_ARM_INDIRECT;
	else if (strcmp(word, "blxns") == 0)
		w->flow = HF_FLOW_INDIRECT_CALL, w->flags = HF_ARM_P0 | HF_ARM_INDIRECT | HF_ARM_LINK;
	else if (strcmp(word, "bxaut") == 0)
		w->flow = second && strncmp(second, ", lr,", 5) == 0 ? HF_FLOW_RETURN : HF_FLOW_INDIRECT_JUMP,
		w->flags = HF_ARM_P0 | HF_ARM_INDIRECT;
	else
		return false;
	return true;
}

static struct want arm_want(const char *word, const char *operands, bool condition)
{
	const char *last = strrchr(operands, '#');
	struct want w = {HF_FLOW_PLAIN, HF_ARM_P0, last ? strtol(last + 1, NULL, 10) : 0};
	bool direct = operands[0] == '#';

	if (m_want(word, operands, &w))
		return w;
	if (one_of(word, "b b.w"))
		w.flow = condition ? HF_FLOW_BRANCH : HF_FLOW_JUMP;
	else if (one_of(word, "cbz cbnz"))
		w.flow = HF_FLOW_BRANCH, condition = true;
	else if (strcmp(word, "bl") == 0 || (strcmp(word, "blx") == 0 && direct))
		w.flow = HF_FLOW_CALL, w.flags |= HF_ARM_LINK | (word[2] == 'x' ? HF_ARM_EXCHANGE : 0);
	else if (strcmp(word, "blx") == 0)
		w.flow = HF_FLOW_INDIRECT_CALL, w.flags |= HF_ARM_INDIRECT | HF_ARM_LINK;
	else if (one_of(word, "bx bxj"))
		w.flow = strcmp(operands, "lr") == 0 && !word[2] ? HF_FLOW_RETURN : HF_FLOW_INDIRECT_JUMP,
		w.flags |= HF_ARM_INDIRECT;
	else if (one_of(word, "tbb tbh"))
		w.flow = HF_FLOW_INDIRECT_JUMP, w.flags |= HF_ARM_INDIRECT;
	else if (one_of(word, "eret rfeia rfeib rfeda rfedb"))
		w.flow = HF_FLOW_TRAP_RETURN, w.flags |= HF_ARM_INDIRECT;
	else if (one_of(word, "svc hvc hvc.w smc bkpt hlt dcps1 dcps2 dcps3"))
		w.flow = HF_FLOW_TRAP_CALL, w.flags = 0;
	else if (strcmp(word, "isb") == 0 || (strcmp(word, "mcr") == 0 && strncmp(operands, "p15, #0, ", 9) == 0 &&
					      strstr(operands, ", c7, c5, #4")))
		w.flow = HF_FLOW_SYNC;
	else if (one_of(word, "wfe wfi wfe.w wfi.w"))
		w.flow = HF_FLOW_WAIT, w.flags = HF_ARM_WFX;
	else if ((w.flow = pc_flow(word, operands)) != HF_FLOW_PLAIN)
		w.flags |= HF_ARM_INDIRECT;
	else
		w.flags = 0;
	if (condition && w.flow != HF_FLOW_PLAIN)
		w.flags |= HF_ARM_CONDITIONAL;
	return w;
}

/* Takes the condition off the mnemonic; whether there was one. */
static bool strip_condition(char *word, uint32_t opcode, unsigned isa)
{
	static const char *const names[] = {"eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt",
					    "gt", "le"};
	char *dot = strstr(word, ".w");
	size_t n = dot ? (size_t)(dot - word) : strlen(word);

	if (isa == HF_ISA_T32 && (word[0] != 'b' || n != 3))
		return false;
	for (unsigned i = 0; i < 14; i++)
		if (n > 2 && strncmp(word + n - 2, names[i], 2) == 0 && (isa == HF_ISA_T32 || opcode >> 28 == i)) {
			word[n - 2] = 0;
			return true;
		}
	return isa == HF_ISA_A32 && opcode >> 28 < 14;
}

/* Defined encodings that LLVM 19 does not know, from formats that came after it or have no text. */
static bool unknown_to_llvm(uint32_t opcode, unsigned isa)
{
	uint32_t top = opcode >> 24, kind = opcode >> 14 & 3;

	if (isa != HF_ISA_A64)
		return true; /* unpredictable ones: any answer */
	return (top == 0x74 && kind != 1) || (top == 0xf4 && kind == 0) || ((top & 0x7f) == 0x75 && !(kind & 1)) ||
	       (opcode & 0xfffffbff) == 0xd6ff03e0;
}

static void compare_target(uint32_t opcode, unsigned size, unsigned isa, const struct want *w)
{
	uint64_t pc = isa == HF_ISA_A32 ? 0x1004 : 0x1006, target, want = pc + (uint64_t)w->offset;
	bool direct = w->flow == HF_FLOW_BRANCH || w->flow == HF_FLOW_JUMP || w->flow == HF_FLOW_CALL;
	unsigned to;

	CHECK_EQ(hf_arm_target(opcode, size, isa, pc, &target, &to), direct);
	if (!direct)
		return;
	if (isa == HF_ISA_A32)
		want += 8;
	if (isa == HF_ISA_T32)
		want += w->flags & HF_ARM_EXCHANGE ? 2 : 4; /* from the aligned pc */
	if (isa != HF_ISA_A64)
		want &= 0xffffffff;
	CHECK_EQ(target, want);
	CHECK_EQ(to, w->flags & HF_ARM_EXCHANGE ? (isa == HF_ISA_A32 ? HF_ISA_T32 : HF_ISA_A32) : isa);
}

/* CLRM of the M profile, which LLVM takes for an LDM with a base that no other profile allows. */
static bool is_clrm(uint32_t opcode, unsigned isa)
{
	return isa == HF_ISA_T32 && (opcode & 0xffff2000) == 0xe89f0000;
}

static void compare(uint32_t opcode, unsigned size, unsigned isa)
{
	char text[HF_DISASM_ROOM + 1], word[32] = "", *operands = text + 9;
	struct hf_arm_class class = hf_arm_classify(opcode, size, isa);
	struct want w;

	*hf_disasm_put(disasm, (uint8_t *)text, opcode, size, isa) = 0;
	sscanf(operands, "%31s", word);
	operands += strlen(word);
	operands += *operands == ' ';
	if (strcmp(word, "unknown") == 0) {
		unknown++;
		if (!unknown_to_llvm(opcode, isa))
			CHECK_EQ(class.flow, HF_FLOW_PLAIN);
		return;
	}
	if (isa == HF_ISA_A64)
		w = a64_want(word, operands);
	else {
		bool condition = strip_condition(word, opcode, isa);

		w = arm_want(word, operands, condition);
	}
	if (is_clrm(opcode, isa))
		w = (struct want){HF_FLOW_PLAIN, 0, 0};
	if (class.flow != w.flow || class.flags != w.flags) {
		fprintf(stderr, "isa %u: %s: flow %u flags %x, not %u, %x\n", isa, text, class.flow, class.flags,
			w.flow, w.flags);
		exit(1);
	}
	compare_target(opcode, size, isa, &w);
	compared++;
}

static void compare_word(uint32_t opcode, unsigned isa)
{
	if (isa != HF_ISA_T32)
		compare(opcode, 4, isa);
	else if (hf_t32_size(opcode >> 16) == 4)
		compare(opcode, 4, isa);
}

static void compare_row(uint32_t mask, uint32_t match, enum table table)
{
	unsigned isa = table == A64 ? HF_ISA_A64 : table <= A32F ? HF_ISA_A32 : HF_ISA_T32;

	if (table == T16)
		return; /* all of them are compared */
	for (unsigned i = 0; i < FILLS; i++)
		for (unsigned bit = 0; bit <= 32; bit++) {
			uint32_t flip = bit < 32 ? (1u << bit) & mask : 0, fill = next_random() & ~mask;

			if (i < 2)
				fill = i ? ~mask : table == A32 ? 0xe0000000 : 0;
			compare_word((match | fill) ^ flip, isa);
		}
}

/* All of A64 with op0 x101x, save for immediates and registers, which take a few values. */
static void compare_a64_groups(void)
{
	static const uint32_t middle[] = {0, 1, 2, 3, 8, 0x15, 0x1f}, low[] = {0, 1, 2, 3, 0x10, 0x1f};

	for (uint32_t i = 0; i < 2048 * 64; i++) {
		uint32_t opcode = (i & 2047) << 21 | i >> 11 << 10;

		for (uint32_t m = 0; m < 7 && (opcode & 0x1c000000) == 0x14000000; m++)
			for (uint32_t n = 0; n < 6; n++)
				compare(opcode | middle[m] << 16 | low[n] | ((m + n) & 1 ? 0x3e0 : 0), 4, HF_ISA_A64);
	}
	for (uint32_t i = 0; i < 0x10000; i++) {
		compare(0xd5030000 | i, 4, HF_ISA_A64);
		compare(0xd65f0000 | i, 4, HF_ISA_A64);
	}
}

/* What LLVM 19 cannot be asked. */
static void test_newer(void)
{
	static const struct {
		uint32_t opcode;
		uint8_t flow, flags;
		int offset;
	} newer[] = {
		{0x74c20061, HF_FLOW_BRANCH, HF_ARM_P0 | HF_ARM_CONDITIONAL, 12},   /* cbeq w1, w2, +12 */
		{0xf4c23fe1, HF_FLOW_BRANCH, HF_ARM_P0 | HF_ARM_CONDITIONAL, -4},   /* cbeq x1, x2, -4 */
		{0x74c2a001, HF_FLOW_BRANCH, HF_ARM_P0 | HF_ARM_CONDITIONAL, -1024}, /* cbbeq */
		{0x74c2e001, HF_FLOW_BRANCH, HF_ARM_P0 | HF_ARM_CONDITIONAL, -1024}, /* cbheq */
		{0x75cfa001, HF_FLOW_BRANCH, HF_ARM_P0 | HF_ARM_CONDITIONAL, -1024}, /* cbeq w1, #31 */
		{0xf5cf9fe1, HF_FLOW_BRANCH, HF_ARM_P0 | HF_ARM_CONDITIONAL, 1020},  /* cbeq x1, #31 */
		{0x74c24001, HF_FLOW_PLAIN, 0, 0},
		{0xf4c28001, HF_FLOW_PLAIN, 0, 0},
		{0x75cfe001, HF_FLOW_PLAIN, 0, 0},
		{0xd6ff03e0, HF_FLOW_TRAP_RETURN, HF_ARM_P0 | HF_ARM_INDIRECT, 0}, /* texit */
		{0xd6ff07e0, HF_FLOW_TRAP_RETURN, HF_ARM_P0 | HF_ARM_INDIRECT, 0},
	};

	for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++) {
		struct hf_arm_class class = hf_arm_classify(newer[i].opcode, 4, HF_ISA_A64);
		struct want w = {newer[i].flow, newer[i].flags, newer[i].offset};

		CHECK_EQ(class.flow, w.flow);
		CHECK_EQ(class.flags, w.flags);
		compare_target(newer[i].opcode, 4, HF_ISA_A64, &w);
	}
}

static void test_edges(void)
{
	uint64_t target;
	unsigned to;

	CHECK_EQ(hf_t32_size(0xe7ff), 2);
	CHECK_EQ(hf_t32_size(0xe800), 4);
	CHECK_EQ(hf_t32_size(0xf000), 4);
	CHECK(hf_arm_target(0xeafffffe, 4, HF_ISA_A32, 0, &target, &to));
	CHECK_EQ(target, 0);
	CHECK(hf_arm_target(0xeafffffc, 4, HF_ISA_A32, 0, &target, &to)); /* wraps */
	CHECK_EQ(target, 0xfffffff8);
	CHECK(hf_arm_target(0x17ffffff, 4, HF_ISA_A64, 0, &target, &to));
	CHECK_EQ(target, UINT64_MAX - 3);
	CHECK_EQ(hf_arm_classify(0xd65f03c0, 4, HF_ISA_RV64).flow, HF_FLOW_PLAIN);
	CHECK_EQ(hf_arm_classify(0xd65f03c0, 4, 99).flow, HF_FLOW_PLAIN);
}

int main(void)
{
	test_edges();
	test_newer();
	if (LLVM_VERSION_MAJOR < 19) {
		printf("no comparison: the disassembler is too old to know all of A64\n");
		return 0;
	}
	CHECK(hf_disasm_new(&disasm) == 0);
	for (uint32_t opcode = 0; opcode < 0x10000; opcode++)
		if (hf_t32_size(opcode) == 2)
			compare(opcode, 2, HF_ISA_T32);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		compare_row(rows[i].mask, rows[i].match, rows[i].table);
	compare_a64_groups();
	for (unsigned i = 0; i < RANDOM_WORDS; i++) {
		uint32_t word = next_random();

		compare_word(word, HF_ISA_A64);
		compare_word((word & 0xe3ffffff) | 0x14000000, HF_ISA_A64);
		compare_word(word, HF_ISA_A32);
		compare_word(word | 0xe0000000, HF_ISA_T32);
	}
	hf_disasm_free(disasm);
	printf("%lu encodings compared, %lu unknown\n", compared, unknown);
	return 0;
}
