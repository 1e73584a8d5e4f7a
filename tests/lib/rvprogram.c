/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/rvprogram.h"

#include "codecs/base/bytes.h"
#include "tests/lib/check.h"
#include "tests/lib/rvasm.h"
#include "tests/lib/walk.h"

#include <elf.h>

#define LEVELS 4
#define PER_LEVEL HF_RVPROGRAM_ROOTS
#define BASE 0x80000000u

enum { R0 = 0, RA = HF_RV_RA, SP = HF_RV_SP, T0 = HF_RV_T0, T1 = HF_RV_T1, T2 = HF_RV_T2, S0 = HF_RV_S0, S1 = HF_RV_S1,
       A0 = HF_RV_A0, STREAM = HF_RV_STREAM, RANDOM = HF_RV_RANDOM, DATA = HF_RV_DATA, MASK = HF_RV_MASK,
       TRAP0 = HF_RV_TRAP0, TRAP1 = HF_RV_TRAP1 };

enum funct3 { ADD = 0, SLL = 1, XOR = 4, SRL = 5, AND = 7, LW = 2, LD = 3, LBU = 4, SB = 0, SW = 2, SD = 3, BEQ = 0, BNE = 1, BLT = 4 };

struct maker {
	struct hf_rvprogram *program;
	uint64_t seed;
	uint64_t below[PER_LEVEL]; /* the functions one level down, */
	bool leaf;                 /*   unless there are none */
};

static uint32_t pick(struct maker *m, uint32_t n)
{
	return hf_rand_next(&m->seed) % n;
}

static uint64_t here(const struct maker *m)
{
	return m->program->base + m->program->size;
}

/* ---- instructions ---- */

static void put(struct maker *m, uint32_t opcode)
{
	struct hf_rvprogram *p = m->program;
	const unsigned size = (opcode & 3) == 3 ? 4 : 2;

	CHECK(p->size + size <= sizeof p->code);
	memcpy(p->code + p->size, &opcode, size);
	p->size += size;
}

static void put_op(struct maker *m, unsigned funct3, unsigned rd, unsigned rs1, unsigned rs2)
{
	put(m, 0x33 | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20);
}

static void put_imm(struct maker *m, unsigned funct3, unsigned rd, unsigned rs1, int imm)
{
	put(m, 0x13 | rd << 7 | funct3 << 12 | rs1 << 15 | (uint32_t)imm << 20);
}

static void put_load(struct maker *m, unsigned funct3, unsigned rd, unsigned rs1, int imm)
{
	put(m, 0x03 | rd << 7 | funct3 << 12 | rs1 << 15 | (uint32_t)imm << 20);
}

static void put_store(struct maker *m, unsigned funct3, unsigned rs2, unsigned rs1, int imm)
{
	const uint32_t v = (uint32_t)imm;

	put(m, 0x23 | (v & 31) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | (v >> 5 & 127) << 25);
}

/* c.mv and c.add. */
static void put_c(struct maker *m, bool add, unsigned rd, unsigned rs2)
{
	put(m, (add ? 0x9002u : 0x8002u) | rd << 7 | rs2 << 2);
}

static void put_c_addi(struct maker *m, unsigned rd, int imm)
{
	const uint32_t v = (uint32_t)imm;

	put(m, 0x0001 | (v >> 5 & 1) << 12 | rd << 7 | (v & 31) << 2);
}

static uint32_t branch(unsigned funct3, unsigned rs1, unsigned rs2, int64_t offset)
{
	CHECK(offset >= -4096 && offset < 4096);
	return hf_rv_beq(offset) | funct3 << 12 | rs1 << 15 | rs2 << 20;
}

static void put_branch_to(struct maker *m, unsigned funct3, unsigned rs1, unsigned rs2, uint64_t target)
{
	put(m, branch(funct3, rs1, rs2, (int64_t)(target - here(m))));
}

/* A branch forward, whose target land says. */
static size_t put_branch(struct maker *m)
{
	const size_t at = m->program->size;

	put(m, 0x63);
	return at;
}

static void land(struct maker *m, size_t at, unsigned funct3, unsigned rs1, unsigned rs2)
{
	const uint32_t opcode = branch(funct3, rs1, rs2, (int64_t)(m->program->size - at));

	memcpy(m->program->code + at, &opcode, sizeof opcode);
}

static void put_csr(struct maker *m, bool write, unsigned csr, unsigned reg)
{
	put(m, 0x73 | (write ? 1u : 2u) << 12 | (write ? reg << 15 : reg << 7) | csr << 20);
}

static void put_call(struct maker *m, uint64_t target)
{
	put(m, hf_rv_jal(RA, (int64_t)(target - here(m))));
}

/* ---- functions ---- */

static void put_next_random(struct maker *m)
{
	put_imm(m, SLL, T0, RANDOM, 13);
	put_op(m, XOR, RANDOM, RANDOM, T0);
	put_imm(m, SRL, T0, RANDOM, 7);
	put_op(m, XOR, RANDOM, RANDOM, T0);
	put_imm(m, SLL, T0, RANDOM, 17);
	put_op(m, XOR, RANDOM, RANDOM, T0);
}

/* rd = a number from 1 to most, a power of two up to 1024. */
static void put_trips(struct maker *m, unsigned rd, int most)
{
	put_imm(m, SRL, T1, RANDOM, (int)pick(m, 40));
	put_imm(m, AND, rd, T1, most - 1);
	put_c_addi(m, rd, 1);
}

static void put_plain(struct maker *m)
{
	const unsigned rd = A0 + pick(m, 6), rs = A0 + pick(m, 6);

	switch (pick(m, 6)) {
	case 0: put_imm(m, ADD, rd, rs, (int)pick(m, 2048)); break;
	case 1: put_c(m, true, rd, rs); break;
	case 2: put_c(m, false, rd, rs); break;
	case 3: put_c_addi(m, rd, 1 + (int)pick(m, 31)); break;
	case 4: put_op(m, XOR, rd, rs, pick(m, 4) ? S1 : RANDOM); break;
	default: put_imm(m, SRL, rd, rs, 1 + (int)pick(m, 8)); break;
	}
}

static void put_plains(struct maker *m, unsigned least)
{
	for (unsigned n = least + pick(m, 4); n; n--)
		put_plain(m);
}

/* Through an array: what is read is added up, and a few bits of that are written. */
static void put_stream(struct maker *m, unsigned stride)
{
	const unsigned sum = A0 + pick(m, 6);
	const bool wide = pick(m, 2);

	put_load(m, wide ? LD : LBU, T1, STREAM, 0);
	put_op(m, ADD, sum, sum, T1);
	if (pick(m, 2)) {
		put_imm(m, AND, T2, sum, 31);
		put_store(m, wide ? SW : SB, pick(m, 8) ? T2 : sum, STREAM, (int)stride);
	}
	put_imm(m, ADD, STREAM, STREAM, (int)stride);
}

/* At an address that nobody foretells. */
static void put_anywhere(struct maker *m)
{
	put_imm(m, SRL, T0, RANDOM, (int)pick(m, 20));
	put_op(m, AND, T0, T0, MASK);
	put_op(m, ADD, T0, T0, DATA);
	put_load(m, LD, T1, T0, 0);
	put_imm(m, AND, T1, T1, 255);
	put_c_addi(m, T1, 3);
	put_store(m, SD, T1, T0, 0);
}

/* Instructions that only one of two passes, as data decide, runs. */
static void put_choice(struct maker *m)
{
	const unsigned reg = pick(m, 2) ? RANDOM : A0 + pick(m, 6);
	size_t at;

	put_imm(m, AND, T2, reg, 1 << pick(m, 7));
	at = put_branch(m);
	put_plains(m, 1);
	land(m, at, pick(m, 2) ? BEQ : BNE, T2, R0);
}

/* Seldom: a system call, or a load at address 0, which faults. */
static void put_exception(struct maker *m)
{
	size_t at;

	put_imm(m, AND, T2, RANDOM, 0x7f);
	at = put_branch(m);
	if (pick(m, 3))
		put(m, 0x00000073);
	else
		put_load(m, LD, T1, R0, 0);
	land(m, at, BNE, T2, R0);
}

static void put_inner_loop(struct maker *m)
{
	const unsigned stride = 1u << (3 + pick(m, 4));
	uint64_t top;

	put_trips(m, S1, 4 << pick(m, 4));
	top = here(m);
	put_plains(m, 1);
	for (unsigned n = pick(m, 4); n; n--)
		put_stream(m, stride);
	if (pick(m, 3) == 0)
		put_choice(m);
	put_plains(m, 0);
	put_c_addi(m, S1, -1);
	put_branch_to(m, BNE, S1, R0, top);
}

static void put_frame(struct maker *m, bool enter)
{
	static const uint8_t saved[] = {RA, S0, S1, STREAM};

	if (enter)
		put_imm(m, ADD, SP, SP, -32);
	for (unsigned i = 0; i < 4; i++) {
		if (enter)
			put_store(m, SD, saved[i], SP, (int)i * 8);
		else
			put_load(m, LD, saved[i], SP, (int)i * 8);
	}
	if (!enter)
		put_imm(m, ADD, SP, SP, 32);
}

static uint64_t put_function(struct maker *m)
{
	const uint64_t start = here(m);
	uint64_t top;

	put_frame(m, true);
	put_next_random(m);
	put_op(m, AND, STREAM, RANDOM, MASK);
	put_op(m, ADD, STREAM, STREAM, DATA);
	put_trips(m, S0, 2 << pick(m, 2));
	top = here(m);
	put_plains(m, 2);
	for (unsigned n = 1 + pick(m, 2); n; n--)
		put_inner_loop(m);
	if (pick(m, 4) == 0)
		put_anywhere(m);
	if (pick(m, 4) == 0)
		put_exception(m);
	put_choice(m);
	for (unsigned n = m->leaf ? 0 : 1 + pick(m, 2); n; n--)
		put_call(m, m->below[pick(m, PER_LEVEL)]);
	put_c_addi(m, S0, -1);
	put_branch_to(m, BNE, S0, R0, top);
	put_frame(m, false);
	put(m, 0x8082);
	return start;
}

/* ---- the rest ---- */

/* Calls one function after the other, as the random numbers say, for ever. */
static void put_endless_loop(struct maker *m)
{
	const uint64_t top = here(m);

	m->program->entry = top;
	put_next_random(m);
	put_imm(m, SRL, T0, RANDOM, 9);
	put_imm(m, AND, T0, T0, HF_RVPROGRAM_ROOTS - 1);
	put_imm(m, SLL, T0, T0, 3);
	put_op(m, ADD, T0, T0, DATA);
	put_load(m, LD, T1, T0, HF_RVPROGRAM_TABLE);
	put(m, 0x000000e7 | T1 << 15); /* jalr ra, 0(t1) */
	put(m, hf_rv_jal(R0, (int64_t)(top - here(m))));
}

/* An exception goes on behind its instruction, an interrupt where it came. */
static void put_handler(struct maker *m)
{
	size_t at;

	m->program->handler = here(m);
	put_csr(m, false, HF_RV_MCAUSE, TRAP0);
	at = put_branch(m);
	put_csr(m, false, HF_RV_MEPC, TRAP1);
	put_c_addi(m, TRAP1, 4);
	put_csr(m, true, HF_RV_MEPC, TRAP1);
	put(m, 0x30200073);
	land(m, at, BLT, TRAP0, R0);
	put_load(m, LW, TRAP1, DATA, HF_RVPROGRAM_COUNTER);
	put_c_addi(m, TRAP1, 1);
	put_store(m, SW, TRAP1, DATA, HF_RVPROGRAM_COUNTER);
	put(m, 0x30200073);
}

void hf_rvprogram_make(struct hf_rvprogram *program, uint64_t seed)
{
	struct maker m = {.program = program, .seed = seed, .leaf = true};

	program->base = BASE;
	program->size = 0;
	for (unsigned level = 0; level < LEVELS; level++) {
		for (unsigned i = 0; i < PER_LEVEL; i++)
			program->roots[i] = put_function(&m);
		memcpy(m.below, program->roots, sizeof m.below);
		m.leaf = false;
	}
	put_endless_loop(&m);
	put_handler(&m);
}

uint8_t *hf_rvprogram_elf(const struct hf_rvprogram *program, size_t *ret_size)
{
	const Elf64_Phdr phdr = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0x1000, .p_vaddr = program->base,
				 .p_paddr = program->base, .p_filesz = program->size, .p_memsz = program->size,
				 .p_align = 0x1000};
	const Elf64_Ehdr ehdr = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
				 .e_type = ET_EXEC, .e_machine = EM_RISCV, .e_version = EV_CURRENT,
				 .e_entry = program->entry, .e_phoff = sizeof ehdr, .e_flags = 1, .e_ehsize = sizeof ehdr,
				 .e_phentsize = sizeof phdr, .e_phnum = 1};
	uint8_t *file = calloc(1, 0x1000 + program->size);

	CHECK(file);
	memcpy(file, &ehdr, sizeof ehdr);
	memcpy(file + sizeof ehdr, &phdr, sizeof phdr);
	memcpy(file + 0x1000, program->code, program->size);
	*ret_size = 0x1000 + program->size;
	return file;
}
