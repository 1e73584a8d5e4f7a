/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks over a program: where they end, what they lead to, and that they are found again. */
#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"
#include "codecs/walk/limits.h"
#include "tests/lib/check.h"

#define BASE UINT64_C(0x80000000)
#define NOP 0x00000013u
#define C_NOP 0x0001u
#define RET 0x00008067u
#define C_JR_RA 0x8082u
#define ECALL 0x00000073u
#define MRET 0x30200073u
#define A64_NOP 0xd503201fu
#define A64_RET 0xd65f03c0u
#define A64_ISB 0xd5033fdfu
#define A64_WFI 0xd503207fu
#define A64_ERET 0xd69f03e0u

struct code {
	struct hf_program program;
	struct hf_program_piece piece;
	uint8_t bytes[4096];
};

static void place(struct code *c, uint64_t address)
{
	*c = (struct code){.piece = {.address = address, .bytes = c->bytes}};
	c->program = (struct hf_program){.pieces = &c->piece, .count = 1};
}

/* size bytes of an opcode behind what there is; returns where. */
static uint64_t put(struct code *c, uint32_t opcode, unsigned size)
{
	const uint64_t pc = c->piece.address + c->piece.size;

	for (unsigned i = 0; i < size; i++)
		c->bytes[c->piece.size++] = (uint8_t)(opcode >> 8 * i);
	return pc;
}

static uint32_t jal(unsigned rd, int32_t offset)
{
	const uint32_t o = (uint32_t)offset;

	return (o & 0x100000) << 11 | (o & 0x7fe) << 20 | (o & 0x800) << 9 | (o & 0xff000) | rd << 7 | 0x6f;
}

static uint32_t jalr(unsigned rd, unsigned rs1, uint32_t offset)
{
	return offset << 20 | rs1 << 15 | rd << 7 | 0x67;
}

static uint32_t auipc(unsigned rd)
{
	return rd << 7 | 0x17;
}

/* beq x0, x0, offset: small and forward */
static uint32_t branch(uint32_t offset)
{
	return (offset & 0x1e) << 7 | (offset & 0x7e0) << 20 | 0x63;
}

static void start(struct hf_walk_blocks *w, const struct hf_walk_rules *rules, const struct code *c)
{
	CHECK_EQ(hf_walk_blocks_init(w, rules, c->piece.size, 4), 0);
	w->program = &c->program;
	w->isa = rules->xlen == 0 ? HF_ISA_A64 : (rules->xlen & HF_RISCV_XLEN) == 32 ? HF_ISA_RV32 : HF_ISA_RV64;
	w->mask = w->isa == HF_ISA_RV32 ? UINT32_MAX : UINT64_MAX;
	w->mode = HF_MODE_M;
}

static const struct hf_walk_rules rv64 = {.xlen = 64}, rv32 = {.xlen = 32}, arm;

/* ---- RISC-V ---- */

static void test_block(void)
{
	struct hf_walk_blocks w;
	struct hf_walk_block *b, *behind;
	struct code c;

	place(&c, BASE);
	put(&c, NOP, 4);
	put(&c, C_NOP, 2);
	put(&c, branch(6), 4);
	put(&c, C_NOP, 2);
	put(&c, ECALL, 4);
	put(&c, NOP, 4);
	start(&w, &rv64, &c);
	b = hf_walk_find(&w, BASE);
	CHECK_EQ(b->count, 3);
	CHECK_EQ(b->halfwords, 5);
	CHECK_EQ(b->end, HF_WALK_BRANCH);
	CHECK_EQ(b->last, BASE + 6);
	CHECK_EQ(b->next, BASE + 10);
	CHECK_EQ(b->target, BASE + 12);
	CHECK_EQ(b->insn[1].insn.pc, BASE + 4);
	CHECK_EQ(b->insn[1].insn.opcode, C_NOP);
	CHECK_EQ(b->insn[1].insn.size, 2);
	CHECK_EQ(b->insn[2].insn.mode, HF_MODE_M);
	CHECK_EQ(b->insn[2].insn.isa, HF_ISA_RV64);
	CHECK_EQ(b->insn[2].flags, 0);
	CHECK(hf_walk_find(&w, BASE) == b);
	behind = hf_walk_follow(&w, b, 0);
	CHECK_EQ(behind->count, 2);
	CHECK_EQ(behind->end, HF_WALK_TRAP_CALL);
	CHECK(hf_walk_follow(&w, b, 1) == hf_walk_find(&w, BASE + 12));
	/* the last instruction of the program, and nothing behind it */
	b = hf_walk_follow(&w, behind, 0);
	CHECK_EQ(b->count, 1);
	CHECK_EQ(b->end, HF_WALK_NO_CODE);
	b = hf_walk_follow(&w, b, 0);
	CHECK_EQ(b->count, 0);
	CHECK_EQ(b->end, HF_WALK_NO_CODE);
	CHECK_EQ(b->next, b->pc);
	/* blocks of another mode, and where there is no program */
	w.mode = HF_MODE_U;
	CHECK_EQ(hf_walk_find(&w, BASE)->insn[0].insn.mode, HF_MODE_U);
	w.program = NULL;
	CHECK_EQ(hf_walk_find(&w, BASE)->count, 0);
	hf_walk_blocks_fini(&w);
}

/* The ending of a block of one instruction behind a nop. */
static struct hf_walk_block ending(const struct hf_walk_rules *rules, uint32_t opcode, unsigned size)
{
	struct hf_walk_blocks w;
	struct hf_walk_block b;
	struct code c;

	place(&c, BASE);
	put(&c, rules->xlen ? NOP : A64_NOP, 4);
	put(&c, opcode, size);
	put(&c, rules->xlen ? NOP : A64_NOP, 4);
	start(&w, rules, &c);
	b = *hf_walk_find(&w, BASE);
	CHECK_EQ(b.count, b.end == HF_WALK_NO_CODE ? 3 : 2);
	hf_walk_blocks_fini(&w);
	return b;
}

static void test_endings(void)
{
	static const struct hf_walk_rules x1 = {.xlen = 64, .x1_alone = true}, swaps = {.xlen = 64, .swaps = true};
	static const struct hf_walk_rules absolute = {.xlen = 64, .absolute = true};
	static const struct {
		const struct hf_walk_rules *rules;
		uint32_t opcode;
		uint8_t size, end, flags;
	} cases[] = {
		{&rv64, NOP, 4, HF_WALK_NO_CODE, 0},
		{&rv64, MRET, 4, HF_WALK_TRAP_RETURN, 0},
		{&rv64, RET, 4, HF_WALK_INDIRECT, HF_WALK_RETURN},
		{&rv64, C_JR_RA, 2, HF_WALK_INDIRECT, HF_WALK_RETURN},
		{&rv64, 5 << 15 | 0x67, 4, HF_WALK_INDIRECT, HF_WALK_RETURN},                  /* jr t0 */
		{&x1, 5 << 15 | 0x67, 4, HF_WALK_INDIRECT, 0},
		{&rv64, 6 << 15 | 5 << 7 | 0x67, 4, HF_WALK_INDIRECT, HF_WALK_CALL},           /* jalr t0, t1 */
		{&x1, 6 << 15 | 5 << 7 | 0x67, 4, HF_WALK_INDIRECT, 0},
		{&rv64, 5 << 15 | 1 << 7 | 0x67, 4, HF_WALK_INDIRECT, 0},                      /* jalr ra, t0 */
		{&swaps, 5 << 15 | 1 << 7 | 0x67, 4, HF_WALK_INDIRECT, HF_WALK_CALL | HF_WALK_RETURN},
		{&x1, 5 << 15 | 1 << 7 | 0x67, 4, HF_WALK_INDIRECT, HF_WALK_CALL},
		{&x1, 1 << 15 | 6 << 7 | 0x67, 4, HF_WALK_INDIRECT, 0},                        /* jalr t1, ra */
		{&rv64, 0x67, 4, HF_WALK_INDIRECT, 0},                                         /* jr x0 */
		{&absolute, 0x67, 4, HF_WALK_JUMP, 0},
		{&arm, A64_RET, 4, HF_WALK_INDIRECT, 0},
		{&arm, A64_ERET, 4, HF_WALK_INDIRECT, 0},
		{&arm, A64_ISB, 4, HF_WALK_STAY, 0},
		{&arm, A64_WFI, 4, HF_WALK_NO_CODE, 0},
		{&arm, 0x94000002, 4, HF_WALK_JUMP, HF_WALK_CALL},                             /* bl +8 */
		{&arm, 0x54000040, 4, HF_WALK_BRANCH, HF_WALK_CONDITIONAL},                    /* b.eq +8 */
	};
	struct hf_walk_block b;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		b = ending(cases[i].rules, cases[i].opcode, cases[i].size);
		CHECK_EQ(b.end, cases[i].end);
		CHECK_EQ(b.flags, cases[i].flags);
	}
	b = ending(&rv64, jal(1, -4), 4);
	CHECK_EQ(b.end, HF_WALK_JUMP);
	CHECK_EQ(b.flags, HF_WALK_CALL);
	CHECK_EQ(b.target, BASE);
	CHECK_EQ(ending(&(struct hf_walk_rules){.wfx = true}, A64_WFI, 4).end, HF_WALK_STAY);
}

/* A pair that makes a jump is in one block, wherever in a straight line it stands. */
static void test_pairs(void)
{
	static const struct hf_walk_rules pairs = {.xlen = 64, .pairs = true};

	for (unsigned before = 0; before < 3 * HF_WALK_BLOCK_MAX; before++) {
		struct hf_walk_blocks w;
		struct hf_walk_block *b;
		struct code c;
		uint64_t at, n;

		place(&c, BASE);
		for (unsigned i = 0; i < before; i++)
			put(&c, NOP, 4);
		at = put(&c, auipc(6), 4);
		put(&c, jalr(1, 6, 24), 4);
		start(&w, &pairs, &c);
		b = hf_walk_find(&w, BASE);
		for (n = b->count; b->end == HF_WALK_ON; n += b->count)
			b = hf_walk_follow(&w, b, 0);
		CHECK_EQ(b->end, HF_WALK_JUMP);
		CHECK_EQ(b->flags, HF_WALK_CALL | HF_WALK_PAIRED);
		CHECK_EQ(b->target, at + 24);
		CHECK_EQ(b->insn[b->count - 1].flags, HF_EVF_TAKEN);
		CHECK_EQ(b->insn[b->count - 1].insn.target, at + 24);
		CHECK_EQ(n, before + 2);
		w.rules.pairs = false;
		hf_walk_blocks_reset(&w);
		CHECK_EQ(hf_walk_find(&w, at)->end, HF_WALK_INDIRECT);
		hf_walk_blocks_fini(&w);
	}
}

/* Addresses of packets have fewer bits than those of the program. */
static void test_narrow(void)
{
	struct hf_walk_blocks w;
	struct hf_walk_block *b;
	struct code c;

	place(&c, UINT64_C(0xffffffff80000000));
	put(&c, jal(0, 8), 4);
	put(&c, NOP, 4);
	start(&w, &rv64, &c);
	w.mask = (UINT64_C(1) << 39) - 1;
	w.high = ~w.mask;
	b = hf_walk_find(&w, c.piece.address & w.mask);
	CHECK_EQ(b->count, 1);
	CHECK_EQ(b->insn[0].insn.pc, c.piece.address);
	CHECK_EQ(b->insn[0].insn.target, c.piece.address + 8);
	CHECK_EQ(b->target, (c.piece.address + 8) & w.mask);
	CHECK_EQ(b->next, (c.piece.address + 4) & w.mask);
	CHECK_EQ(hf_walk_full(&w, 0x1000), 0x1000);
	hf_walk_blocks_fini(&w);

	place(&c, UINT32_MAX - 3); /* the last word */
	put(&c, NOP, 4);
	start(&w, &rv32, &c);
	CHECK_EQ(hf_walk_find(&w, c.piece.address)->next, 0);
	hf_walk_blocks_fini(&w);
}

/* An instruction may lie in two pieces, and a halfword of it as well. */
static void test_pieces(void)
{
	for (unsigned cut = 1; cut < 8; cut++) {
		static const uint8_t bytes[] = {0x13, 0, 0, 0, 0x67, 0x80, 0, 0};
		const struct hf_program_piece pieces[2] = {
			{.address = BASE, .size = cut, .bytes = bytes},
			{.address = BASE + cut, .size = 8 - cut, .bytes = bytes + cut},
		};
		const struct hf_program program = {.pieces = (struct hf_program_piece *)pieces, .count = 2};
		struct code c = {.piece = {.size = 8}};
		struct hf_walk_blocks w;
		struct hf_walk_block *b;

		start(&w, &rv64, &c);
		w.program = &program;
		b = hf_walk_find(&w, BASE);
		CHECK_EQ(b->count, 2);
		CHECK_EQ(b->end, HF_WALK_INDIRECT);
		hf_walk_blocks_fini(&w);
	}
}

/* What is asked for has room whatever is there; then the cache is emptied and goes on. */
static void test_room(void)
{
	struct hf_walk_blocks w;
	struct code c;
	unsigned made = 0;

	place(&c, BASE);
	for (unsigned i = 0; i < 1024; i++)
		put(&c, NOP, 4);
	start(&w, &rv64, &c);
	for (uint64_t pc = BASE; hf_walk_blocks_have_room(&w, 1); pc += 4, made++)
		CHECK_EQ(hf_walk_find(&w, pc)->pc, pc);
	CHECK(made > 4 && !hf_walk_blocks_have_room(&w, 1));
	hf_walk_blocks_reset(&w);
	CHECK(hf_walk_blocks_have_room(&w, 4));
	CHECK_EQ(hf_walk_find(&w, BASE + 8)->count, HF_WALK_BLOCK_MAX);
	hf_walk_blocks_fini(&w);
}

/* ---- Arm ---- */

static void test_t32(void)
{
	struct hf_walk_blocks w;
	struct hf_walk_block *b;
	struct code c;

	place(&c, 0x8000);
	put(&c, 0xbf00, 2); /* nop */
	put(&c, 0xf000, 2); /* blx +8 */
	put(&c, 0xe804, 2);
	put(&c, 0x4770, 2); /* bx lr */
	start(&w, &arm, &c);
	w.isa = HF_ISA_T32;
	w.mask = UINT32_MAX;
	b = hf_walk_find(&w, 0x8000);
	CHECK_EQ(b->count, 2);
	CHECK_EQ(b->insn[1].insn.opcode, 0xf000e804);
	CHECK_EQ(b->insn[1].flags, 0); /* in an IT block it may not be taken */
	CHECK_EQ(b->end, HF_WALK_JUMP);
	CHECK_EQ(b->flags, HF_WALK_CALL);
	CHECK_EQ(b->target, 0x800c);
	CHECK_EQ(hf_walk_find(&w, 0x8006)->end, HF_WALK_INDIRECT);
	w.isa = HF_ISA_A32;
	CHECK(hf_walk_find(&w, 0x8000) != b);
	CHECK_EQ(hf_walk_find(&w, 0x8000)->insn[0].insn.size, 4);
	hf_walk_blocks_fini(&w);
}

/* ---- circles ---- */

static void test_circle(void)
{
	static struct hf_walk_block blocks[300];

	for (unsigned lead = 0; lead < 20; lead++)
		for (unsigned length = 1; length < 40; length++) {
			struct hf_walk_circle circle = {0};
			unsigned n = 0;

			while (!hf_walk_is_circle(&circle, &blocks[n < lead ? n : lead + (n - lead) % length]))
				n++;
			CHECK(n >= length);
			CHECK(n <= 3 * (lead + length) + 2);
		}
	for (unsigned i = 0, seen = 0; i < 300; i++) {
		static struct hf_walk_circle circle;

		seen += hf_walk_is_circle(&circle, &blocks[i]);
		CHECK_EQ(seen, 0);
	}
}

int main(void)
{
	test_block();
	test_endings();
	test_pairs();
	test_narrow();
	test_pieces();
	test_room();
	test_t32();
	test_circle();
	return 0;
}
