/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classification of RISC-V opcodes against the mnemonics of LLVM's disassembler: every 16-bit encoding, and a
 * structured and a random sample (100,000 words) of the 32-bit ones, for both register widths, with the base
 * extensions and with every one that can be decoded together; then the 16-bit ones again with Zca, Zcb, Zcmp and Zcmt,
 * each alone and together, in place of C with D.
 */
#include "codecs/isa/riscv.h"
#include "tests/lib/check.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>

static LLVMDisasmContextRef context;
static unsigned xlen; /* of context, with the flags of riscv.h */
static unsigned long compared;

/* Encodings that a specification defines and LLVM's decoder does not know. */
static const struct {
	uint32_t mask, match;
	uint8_t flow;
} unknown_to_llvm[] = {
	{0xffffffff, 0x00200073, HF_FLOW_TRAP_RETURN}, /* uret: N extension, gone since LLVM 15 */
	{0xffffffff, 0x70200073, HF_FLOW_TRAP_RETURN}, /* mnret: Smrnmi */
	{0xffffffff, 0x00d00073, HF_FLOW_WAIT},        /* wrs.nto, wrs.sto: LLVM 16 and later */
	{0xffffffff, 0x01d00073, HF_FLOW_WAIT},
	{0x0000707f, 0x0000100f, HF_FLOW_SYNC},        /* fence.i with fields that are to be ignored */
};

static uint8_t flow_if_unknown(uint32_t opcode)
{
	for (size_t i = 0; i < sizeof unknown_to_llvm / sizeof unknown_to_llvm[0]; i++)
		if ((opcode & unknown_to_llvm[i].mask) == unknown_to_llvm[i].match)
			return unknown_to_llvm[i].flow;
	return HF_FLOW_PLAIN;
}

static bool one_of(const char *word, const char *list)
{
	size_t n = strlen(word);

	for (const char *s = list; n && (s = strstr(s, word)); s++)
		if ((s == list || s[-1] == ' ') && (s[n] == ' ' || s[n] == 0))
			return true;
	return false;
}

/* "ra", "12(ra)", "t0" to 1 for ra, 5 for t0, 0 for zero, 9 for any other. */
static unsigned reg_of(const char *operand)
{
	char name[16] = "";
	const char *open = strchr(operand, '(');

	sscanf(open ? open + 1 : operand, "%15[a-z0-9]", name);
	return strcmp(name, "ra") == 0 ? 1 : strcmp(name, "t0") == 0 ? 5 : strcmp(name, "zero") == 0 ? 0 : 9;
}

/* Table 3 of the unprivileged specification, row by row. */
static uint8_t jalr_table(unsigned rd, unsigned rs1)
{
	bool rd_link = rd == 1 || rd == 5, rs1_link = rs1 == 1 || rs1 == 5;

	if (!rd_link && !rs1_link)
		return HF_FLOW_INDIRECT_JUMP;
	if (!rd_link && rs1_link)
		return HF_FLOW_RETURN;
	if (rd_link && !rs1_link)
		return HF_FLOW_INDIRECT_CALL;
	return rd == rs1 ? HF_FLOW_INDIRECT_CALL : HF_FLOW_SWAP;
}

/* The flow of a disassembled instruction; *ret_offset is the operand of a direct one. */
static uint8_t flow_of_text(const char *text, long *ret_offset)
{
	char word[3][32] = {"", "", ""}, rest[64] = "";
	int words = sscanf(text, " %31s %31[^,] , %31[^,] , %63s", word[0], word[1], word[2], rest);
	const char *last = words == 4 ? rest : words > 1 ? word[words - 1] : "0";
	bool two = words >= 3;

	*ret_offset = strtol(last, NULL, 10);
	if (one_of(word[0], "beq bne blt bge bltu bgeu bgt ble bgtu bleu beqz bnez blez bgez bltz bgtz"))
		return HF_FLOW_BRANCH;
	if (strcmp(word[0], "j") == 0)
		return HF_FLOW_JUMP;
	if (strcmp(word[0], "jal") == 0)
		return !two || reg_of(word[1]) == 1 || reg_of(word[1]) == 5 ? HF_FLOW_CALL : HF_FLOW_JUMP;
	if (strcmp(word[0], "ret") == 0)
		return HF_FLOW_RETURN;
	if (strcmp(word[0], "jr") == 0)
		return jalr_table(0, reg_of(last));
	if (strcmp(word[0], "jalr") == 0)
		return jalr_table(two ? reg_of(word[1]) : 1, reg_of(last));
	if (one_of(word[0], "cm.popret cm.popretz"))
		return HF_FLOW_RETURN;
	if (one_of(word[0], "cm.jt cm.jalt"))
		return word[0][4] == 't' ? HF_FLOW_INDIRECT_JUMP : HF_FLOW_INDIRECT_CALL;
	if (one_of(word[0], "ecall ebreak"))
		return HF_FLOW_TRAP_CALL;
	if (one_of(word[0], "mret sret uret dret"))
		return HF_FLOW_TRAP_RETURN;
	if (one_of(word[0], "wfi wrs.nto wrs.sto"))
		return HF_FLOW_WAIT;
	return strcmp(word[0], "fence.i") == 0 ? HF_FLOW_SYNC : HF_FLOW_PLAIN;
}

static void compare_target(uint32_t opcode, const char *text, uint8_t flow, long offset)
{
	const uint64_t pc = 0x80000100;
	uint64_t target, want = pc + (uint64_t)offset;
	bool direct = flow == HF_FLOW_BRANCH || flow == HF_FLOW_JUMP || flow == HF_FLOW_CALL;
	bool absolute = strstr(text, "zero") && strstr(text, "j") && (opcode & 0x7f) == 0x67 && flow != HF_FLOW_PLAIN;

	if (absolute) { /* "jr -4(zero)", "jalr zero", "jalr s2, 8(zero)" */
		const char *open = strchr(text, '('), *number = open;

		while (number && strchr("-0123456789", number[-1]))
			number--;
		want = number ? (uint64_t)strtol(number, NULL, 10) & ~UINT64_C(1) : 0;
	}
	if ((xlen & HF_RISCV_XLEN) == 32)
		want &= 0xffffffff;
	CHECK_EQ(hf_riscv_target(opcode, xlen, pc, &target), direct || absolute);
	if (direct || absolute)
		CHECK_EQ(target, want);
}

/* The number of a register by its ABI name; 99 if it is none. */
static unsigned number_of(const char *name)
{
	static const char *const names[] = {
		"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
		"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
	};

	for (unsigned i = 0; i < 32; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return 99;
}

/* Registers and offset of every jump, from the aliases that the disassembler prints. */
static void compare_jump(uint32_t opcode, const char *text)
{
	char name[32] = "", first[32] = "", rest[64] = "", base[16] = "zero";
	int words = sscanf(text, " %31s %31[^,] , %63[^\n]", name, first, rest);
	const char *address = words == 3 ? rest : first, *open = strchr(address, '(');
	struct hf_riscv_jump jump;
	unsigned rd = 0;
	long offset = 0;

	if (!one_of(name, "j jal jr jalr ret")) {
		CHECK(!hf_riscv_jump(opcode, xlen, &jump));
		return;
	}
	if (strncmp(name, "jal", 3) == 0)
		rd = words == 3 ? number_of(first) : 1;
	if (name[strlen(name) - 1] == 'r' || strcmp(name, "ret") == 0) {
		if (open)
			offset = strtol(address, NULL, 0);
		sscanf(open ? open + 1 : address, "%15[a-z0-9]", base);
		/* "jalr s2, a0" and "jr a0" have no offset; "jalr a0, 5" does not occur */
		if (strcmp(name, "ret") == 0)
			memcpy(base, "ra", sizeof "ra");
	}
	CHECK(hf_riscv_jump(opcode, xlen, &jump));
	CHECK_EQ(jump.rd, rd);
	CHECK_EQ(jump.rs1, number_of(base));
	CHECK_EQ(jump.offset, offset);
	CHECK_EQ(jump.indirect, strcmp(name, "j") != 0 && strcmp(name, "jal") != 0);
}

/* lui, auipc, and c.lui, which is printed as lui. */
static void compare_upper(uint32_t opcode, const char *text)
{
	const uint64_t pc = 0x80000100;
	char name[32] = "", reg[32] = "", rest[64] = "";
	int words = sscanf(text, " %31s %31[^,] , %63s", name, reg, rest);
	uint64_t value, want;
	unsigned rd;

	/* c.lui with 0 is reserved, and c.mop.N of Zcmop, which LLVM prints as it is encoded */
	if (words < 3 || !one_of(name, "lui auipc") || ((opcode & 3) != 3 && strcmp(rest, "0") == 0) ||
	    strcmp(reg, "zero") == 0) {
		CHECK(!hf_riscv_upper(opcode, xlen, pc, &rd, &value));
		return;
	}
	want = (uint64_t)(int32_t)((uint32_t)strtoul(rest, NULL, 0) << 12) + (strcmp(name, "auipc") == 0 ? pc : 0);
	if ((xlen & HF_RISCV_XLEN) == 32)
		want &= 0xffffffff;
	CHECK(hf_riscv_upper(opcode, xlen, pc, &rd, &value));
	CHECK_EQ(rd, number_of(reg));
	CHECK_EQ(value, want);
}

/* "cm.jalt 32", and nothing else has an index. */
static void compare_table(uint32_t opcode, const char *text)
{
	unsigned index = 0, want;
	const bool is = sscanf(text, " cm.jt %u", &want) == 1 || sscanf(text, " cm.jalt %u", &want) == 1;

	CHECK_EQ(hf_riscv_table_jump(opcode, xlen, &index), is);
	if (is)
		CHECK_EQ(index, want);
	if (strncmp(text, "\tcm.", 4) == 0)
		CHECK(hf_riscv_is_code_size(opcode));
}

static void compare(uint32_t opcode)
{
	unsigned size = hf_riscv_size(opcode);
	char text[128] = "";
	long offset = 0;
	size_t used = LLVMDisasmInstruction(context, (uint8_t *)&opcode, size, 0, text, sizeof text);
	uint8_t flow = used == size ? flow_of_text(text, &offset) : flow_if_unknown(opcode);

	if (hf_riscv_flow(opcode, xlen) != flow) {
		fprintf(stderr, "%08x xlen %x:%s: flow %u, not %u\n", opcode, xlen, text,
			hf_riscv_flow(opcode, xlen), flow);
		exit(1);
	}
	compare_target(opcode, text, flow, offset);
	compare_jump(opcode, text);
	compare_upper(opcode, text);
	compare_table(opcode, text);
	compared++;
}

static void compare_narrow(void)
{
	for (uint32_t opcode = 0; opcode < 0x10000; opcode++)
		if ((opcode & 3) != 3)
			compare(opcode);
}

/* Every major opcode, funct3 and funct7, with the registers that matter to the link rules. */
static void compare_structured(void)
{
	static const uint32_t regs[] = {0, 1, 5, 9};
	static const uint32_t special = 1u << 24 | 1u << 25 | 1u << 27 | 1u << 28 | 1u << 3;

	for (uint32_t i = 0; i < 32 * 8 * 128; i++) {
		uint32_t opcode = (i & 0x1f) << 2 | 3 | (i >> 5 & 7) << 12 | i >> 8 << 25;
		bool every = special >> (i & 0x1f) & 1;

		if ((i & 7) == 7) /* longer than 32 bits */
			continue;
		for (uint32_t r = 0; r < (every ? 64 : 3); r++)
			compare(opcode | regs[r & 3] << 7 | regs[r >> 2 & 3] << 15 | regs[r >> 4] << 20);
	}
	for (uint32_t funct12 = 0; funct12 < 4096; funct12++)
		compare(funct12 << 20 | 0x73);
}

static void compare_random(unsigned count)
{
	uint64_t x = 88172645463325252;

	while (count--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (hf_riscv_size((uint32_t)x | 3) == 4)
			compare((uint32_t)x | 3);
	}
}

static void start(const char *triple, const char *features, unsigned width)
{
	context = LLVMCreateDisasmCPUFeatures(triple, "", features, NULL, 0, NULL, NULL);
	CHECK(context);
	xlen = width;
}

static void test_width(const char *triple, unsigned width, const char *features)
{
	start(triple, features, width);
	compare_narrow();
	compare_structured();
	compare_random(100000);
	LLVMDisasmDispose(context);
}

/* Those of the listing: hypervisor, Zawrs, Zicbo*, Zacas, Zimop, Zcmop, Zicfilp, Zicfiss and others. */
static const char every_feature[] =
#define ON_14(name) "+" name ","
#if LLVM_VERSION_MAJOR >= 19
#define ON_19(name) "+" name ","
#else
#define ON_19(name)
#endif
#define IF_RISCV(text) text
#define IF_A64(text)
#define IF_ARM(text)
#define IF_M(text)
#define HF_FEATURE(isa, version, name) IF_##isa(ON_##version(name))
#include "codecs/isa/features.def"
	;

static void test_code_size(const char *triple, unsigned width)
{
#if LLVM_VERSION_MAJOR >= 19
	static const struct {
		const char *features;
		unsigned flags;
	} modes[] = {
		{"+m,+a,+zca,+zcb,+zcmp", HF_RISCV_ZCMP},
		{"+m,+a,+zca,+zcb,+zcmt", HF_RISCV_ZCMT},
		{"+m,+a,+zca,+zcb,+zcmp,+zcmt", HF_RISCV_ZCMP | HF_RISCV_ZCMT},
	};

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		start(triple, modes[i].features, width | modes[i].flags);
		compare_narrow();
		LLVMDisasmDispose(context);
	}
#else
	fprintf(stderr, "%s, %u: LLVM %d has no Zcmp and Zcmt, they are NOT compared\n", triple, width,
		LLVM_VERSION_MAJOR);
#endif
}

/* What LLVM does not know, and what looks like something else to those who know an extension: by the specifications. */
static void test_known(void)
{
	static const struct {
		uint32_t opcode;
		uint8_t flow;
	} known[] = {
		{0x70200073, HF_FLOW_TRAP_RETURN}, /* mnret, Smrnmi */
		{0x7b200073, HF_FLOW_TRAP_RETURN}, /* dret */
		{0x00200073, HF_FLOW_TRAP_RETURN}, /* uret */
		{0x10200073, HF_FLOW_TRAP_RETURN}, /* sret, from VS too */
		{0x10400073, HF_FLOW_PLAIN},       /* sctrclr, Smctr */
		{0x00d00073, HF_FLOW_WAIT},        /* wrs.nto */
		{0x01d00073, HF_FLOW_WAIT},        /* wrs.sto */
		{0x62a50073, HF_FLOW_PLAIN},       /* hfence.gvma */
		{0x68054573, HF_FLOW_PLAIN},       /* hlv.w */
		{0x0005200f, HF_FLOW_PLAIN},       /* cbo.inval */
		{0x0045200f, HF_FLOW_PLAIN},       /* cbo.zero */
		{0x28b6352f, HF_FLOW_PLAIN},       /* amocas.d */
		{0x28b6052f, HF_FLOW_PLAIN},       /* amocas.b, Zabha */
		{0xcdc0c073, HF_FLOW_PLAIN},       /* sspopchk x1 */
		{0x48b6352f, HF_FLOW_PLAIN},       /* ssamoswap.d */
		{0x6081, HF_FLOW_PLAIN},           /* c.mop.1: c.sspush x1 */
		{0x00001017, HF_FLOW_PLAIN},       /* lpad 1 */
	};
	uint64_t value;
	unsigned rd;

	for (unsigned width = 32; width <= 64; width += 32)
		for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
			CHECK_EQ(hf_riscv_flow(known[i].opcode, width), known[i].flow);
			CHECK_EQ(hf_riscv_size(known[i].opcode), known[i].opcode >> 16 ? 4 : known[i].opcode & 2 ? 4 : 2);
			CHECK(!hf_riscv_upper(known[i].opcode, width, 0x80000000, &rd, &value));
		}
}

static void test_size(void)
{
	CHECK_EQ(hf_riscv_size(0), 2);
	CHECK_EQ(hf_riscv_size(0x9002), 2);
	CHECK_EQ(hf_riscv_size(0x13), 4);
	CHECK_EQ(hf_riscv_size(0x1f), 0);
	CHECK_EQ(hf_riscv_size(0xffffffff), 0);
	/* xxxxxxxxxxx11111 begins 48, 64 and more bits (Unprivileged 1.5), whatever is above */
	for (uint32_t low = 0; low < 0x10000; low++)
		CHECK_EQ(hf_riscv_size(low), (low & 3) != 3 ? 2 : (low & 0x1f) != 0x1f ? 4 : 0);
}

int main(void)
{
	LLVMInitializeRISCVTargetInfo();
	LLVMInitializeRISCVTargetMC();
	LLVMInitializeRISCVDisassembler();
	test_size();
	test_known();
	for (unsigned width = 32; width <= 64; width += 32) {
		const char *triple = width == 32 ? "riscv32" : "riscv64";

		test_width(triple, width, LLVM_VERSION_MAJOR >= 17 ? "+m,+a,+f,+d,+c,+zcb" : "+m,+a,+f,+d,+c");
		test_width(triple, width, every_feature);
	}
	test_code_size("riscv32", 32);
	test_code_size("riscv64", 64);
	printf("%lu encodings compared\n", compared);
	return 0;
}
