/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a RISC-V instruction does to the flow, from its opcode alone: how long it is, whether it branches, calls or
 * returns, and where a direct one goes. Decoders ask this for every instruction, so the plain ones are inline.
 */
#ifndef HF_ISA_RISCV_H
#define HF_ISA_RISCV_H

#include "codecs/event.h"

/*
 * To be OR-ed to xlen (32 or 64) where a hart has the code-size extensions, whose encodings are those of c.fsdsp.
 * Without them such an opcode is c.fsdsp: most captures are of harts with D, and a false return costs more than a
 * missed one.
 */
#define HF_RISCV_ZCMP 0x100u
#define HF_RISCV_ZCMT 0x200u
/* Zfinx, Zdinx, Zhinx: the opcodes of F and D, with integer registers. Nothing but their text depends on it. */
#define HF_RISCV_ZFINX 0x400u
#define HF_RISCV_XLEN 0x0ffu

/* Bytes of the instruction that begins with these low bits: 2 or 4; 0 for the longer and reserved formats
 * (Unprivileged 1.5). The all-zero opcode, defined to be illegal, has 2. */
static inline unsigned hf_riscv_size(uint32_t opcode)
{
	if ((opcode & 3) != 3)
		return 2;
	return (opcode & 0x1c) != 0x1c ? 4 : 0;
}

/* The rest of hf_riscv_flow, for major opcodes that hold anything but plain instructions. */
uint8_t hf_riscv_flow_major(uint32_t opcode, unsigned xlen);

/*
 * enum hf_flow of an opcode. Reserved, illegal and custom encodings are PLAIN. Indirect means that the target comes
 * from a register or, for cm.jt and cm.jalt, from a table in memory; jalr with rs1 = x0 is indirect here (N-Trace
 * 2 reports it), although hf_riscv_target knows where it goes (E-Trace 4.1.1 calls it inferable).
 */
static inline uint8_t hf_riscv_flow(uint32_t opcode, unsigned xlen)
{
	/* One bit for each value of opcode[6:2]: branch, jalr, jal, system, misc-mem. */
	const uint32_t wide = 1u << 24 | 1u << 25 | 1u << 27 | 1u << 28 | 1u << 3;
	/* One bit for each funct3:quadrant of a compressed one: c.jal, c.j, c.beqz, c.bnez; c.jr, Zcmp and Zcmt. */
	const uint32_t narrow = 1u << 5 | 1u << 21 | 1u << 25 | 1u << 29 | 1u << 18 | 1u << 22;
	const uint32_t bits = (opcode & 3) == 3 ? wide >> (opcode >> 2 & 31) :
						  narrow >> ((opcode >> 11 & 28) | (opcode & 3));

	return bits & 1 ? hf_riscv_flow_major(opcode, xlen) : (uint8_t)HF_FLOW_PLAIN;
}

/*
 * Where a direct branch (if taken), jump or call at pc goes, or a jalr with rs1 = x0. False for every other
 * instruction; *ret_target is then not written.
 */
bool hf_riscv_target(uint32_t opcode, unsigned xlen, uint64_t pc, uint64_t *ret_target);

/* The registers of a jump: the return address goes to rd (0: nowhere), the target is rs1 + offset. */
struct hf_riscv_jump {
	uint8_t rd;
	uint8_t rs1;    /* of a direct jump 0 */
	bool indirect;
	int32_t offset; /* of an indirect one: -2048..2047 */
};

/* False unless opcode is jal, jalr, c.j, c.jal, c.jr or c.jalr: cm.popret loads the register that it jumps to. */
bool hf_riscv_jump(uint32_t opcode, unsigned xlen, struct hf_riscv_jump *ret_jump);

/* Which register a lui, c.lui or auipc at pc writes, and what: together with a jalr right behind it that makes a
 * sequentially inferable jump. False for every other instruction, and where rd is x0 (lpad of Zicfilp, hints). */
bool hf_riscv_upper(uint32_t opcode, unsigned xlen, uint64_t pc, unsigned *ret_rd, uint64_t *ret_value);

/*
 * The encodings of c.fsdsp, of which Zcmp and Zcmt make something else: what hf_riscv_flow says of all other opcodes
 * does not depend on them.
 */
static inline bool hf_riscv_is_code_size(uint32_t opcode)
{
	return (opcode & 0xe003) == 0xa002;
}

/* Which entry of the jump vector table holds the target of a cm.jt or cm.jalt: xlen / 8 bytes each from csr jvt on.
 * False for every other instruction. */
static inline bool hf_riscv_table_jump(uint32_t opcode, unsigned xlen, unsigned *ret_index)
{
	if (!(xlen & HF_RISCV_ZCMT) || (opcode & 0xfc03) != 0xa002)
		return false;
	*ret_index = opcode >> 2 & 0xff;
	return true;
}

#endif
