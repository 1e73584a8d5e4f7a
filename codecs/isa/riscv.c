/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/isa/riscv.h"

/* Major opcodes, bits 6:2 (Unprivileged, RV32/64G instruction set listings). */
enum major {
	MAJOR_MISC_MEM = 0x03,
	MAJOR_AUIPC = 0x05,
	MAJOR_LUI = 0x0d,
	MAJOR_BRANCH = 0x18,
	MAJOR_JALR = 0x19,
	MAJOR_JAL = 0x1b,
	MAJOR_SYSTEM = 0x1c,
};

static unsigned field(uint32_t opcode, unsigned low, unsigned width)
{
	return opcode >> low & ((1u << width) - 1);
}

static bool is_link(unsigned reg)
{
	return reg == 1 || reg == 5;
}

/* The return-address stack hints of the unprivileged specification, 2.5.1. */
static uint8_t jalr_flow(unsigned rd, unsigned rs1)
{
	if (is_link(rd))
		return is_link(rs1) && rs1 != rd ? HF_FLOW_SWAP : HF_FLOW_INDIRECT_CALL;
	return is_link(rs1) ? HF_FLOW_RETURN : HF_FLOW_INDIRECT_JUMP;
}

/* SYSTEM with funct3 0. The hypervisor's and supervisor's fences (funct7 != 0, rs1 and rs2 registers) are plain. */
static uint8_t system_flow(uint32_t opcode)
{
	switch (opcode) {
	case 0x00000073: /* ecall */
	case 0x00100073: /* ebreak */
		return HF_FLOW_TRAP_CALL;
	case 0x00200073: /* uret, of the withdrawn N extension */
	case 0x10200073: /* sret */
	case 0x30200073: /* mret */
	case 0x70200073: /* mnret, Smrnmi */
	case 0x7b200073: /* dret, debug specification */
		return HF_FLOW_TRAP_RETURN;
	case 0x10500073: /* wfi */
	case 0x00d00073: /* wrs.nto, Zawrs */
	case 0x01d00073: /* wrs.sto */
		return HF_FLOW_WAIT;
	default:
		return HF_FLOW_PLAIN;
	}
}

/* The encodings of c.fsdsp that Zcmp and Zcmt use instead (Unprivileged, Zc*: 28.13 and 28.14). */
static uint8_t code_size_flow(uint32_t opcode, unsigned xlen)
{
	unsigned high = field(opcode, 8, 5), index;

	if (hf_riscv_table_jump(opcode, xlen, &index))
		return index < 32 ? HF_FLOW_INDIRECT_JUMP : HF_FLOW_INDIRECT_CALL; /* cm.jt, cm.jalt */
	/* cm.popretz, cm.popret; register lists below 4 are reserved */
	if ((xlen & HF_RISCV_ZCMP) && (high == 0x1c || high == 0x1e) && field(opcode, 4, 4) >= 4)
		return HF_FLOW_RETURN;
	return HF_FLOW_PLAIN;
}

/* Quadrant 2, funct3 100: c.jr, c.jalr, c.ebreak among c.mv and c.add. */
static uint8_t compressed_register_flow(uint32_t opcode)
{
	unsigned rs1 = field(opcode, 7, 5);

	if (field(opcode, 2, 5) != 0)
		return HF_FLOW_PLAIN;
	if (!(opcode & 0x1000))
		return rs1 == 0 ? HF_FLOW_PLAIN : jalr_flow(0, rs1); /* c.jr x0 is reserved */
	return rs1 == 0 ? HF_FLOW_TRAP_CALL : jalr_flow(1, rs1);
}

static uint8_t compressed_flow(uint32_t opcode, unsigned xlen)
{
	switch ((opcode >> 11 & 0x1c) | (opcode & 3)) { /* funct3, quadrant */
	case 1 << 2 | 1: /* c.jal; c.addiw where xlen is 64 */
		return (xlen & HF_RISCV_XLEN) == 32 ? HF_FLOW_CALL : HF_FLOW_PLAIN;
	case 5 << 2 | 1:
		return HF_FLOW_JUMP;
	case 6 << 2 | 1:
	case 7 << 2 | 1:
		return HF_FLOW_BRANCH;
	case 4 << 2 | 2:
		return compressed_register_flow(opcode & 0xffff);
	case 5 << 2 | 2:
		return code_size_flow(opcode & 0xffff, xlen);
	default:
		return HF_FLOW_PLAIN;
	}
}

uint8_t hf_riscv_flow_major(uint32_t opcode, unsigned xlen)
{
	unsigned funct3 = field(opcode, 12, 3);

	if ((opcode & 3) != 3)
		return compressed_flow(opcode, xlen);
	switch (field(opcode, 2, 5)) {
	case MAJOR_BRANCH:
		return funct3 == 2 || funct3 == 3 ? HF_FLOW_PLAIN : HF_FLOW_BRANCH;
	case MAJOR_JALR:
		return funct3 ? HF_FLOW_PLAIN : jalr_flow(field(opcode, 7, 5), field(opcode, 15, 5));
	case MAJOR_JAL:
		return is_link(field(opcode, 7, 5)) ? HF_FLOW_CALL : HF_FLOW_JUMP;
	case MAJOR_SYSTEM:
		return funct3 ? HF_FLOW_PLAIN : system_flow(opcode);
	case MAJOR_MISC_MEM: /* fence.i: its other fields are to be ignored (Zifencei) */
		return funct3 == 1 ? HF_FLOW_SYNC : HF_FLOW_PLAIN;
	default:
		return HF_FLOW_PLAIN;
	}
}

/* One piece of a scattered immediate: width bits at low of the opcode go to bit to. */
#define PIECE(low, width, to) (field(opcode, low, width) << (to))

static uint64_t sign_extend(uint32_t v, unsigned bits)
{
	return (uint64_t)((int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits));
}

static uint64_t imm_b(uint32_t opcode)
{
	return sign_extend(PIECE(8, 4, 1) | PIECE(25, 6, 5) | PIECE(7, 1, 11) | PIECE(31, 1, 12), 13);
}

static uint64_t imm_j(uint32_t opcode)
{
	return sign_extend(PIECE(21, 10, 1) | PIECE(20, 1, 11) | PIECE(12, 8, 12) | PIECE(31, 1, 20), 21);
}

static uint64_t imm_cj(uint32_t opcode)
{
	return sign_extend(PIECE(3, 3, 1) | PIECE(11, 1, 4) | PIECE(2, 1, 5) | PIECE(7, 1, 6) | PIECE(6, 1, 7) |
			   PIECE(9, 2, 8) | PIECE(8, 1, 10) | PIECE(12, 1, 11), 12);
}

static uint64_t imm_cb(uint32_t opcode)
{
	return sign_extend(PIECE(3, 2, 1) | PIECE(10, 2, 3) | PIECE(2, 1, 5) | PIECE(5, 2, 6) | PIECE(12, 1, 8), 9);
}

bool hf_riscv_target(uint32_t opcode, unsigned xlen, uint64_t pc, uint64_t *ret_target)
{
	bool wide = (opcode & 3) == 3;
	uint64_t target;

	switch (hf_riscv_flow(opcode, xlen)) {
	case HF_FLOW_BRANCH:
		target = pc + (wide ? imm_b(opcode) : imm_cb(opcode));
		break;
	case HF_FLOW_JUMP:
	case HF_FLOW_CALL:
		target = pc + (wide ? imm_j(opcode) : imm_cj(opcode));
		break;
	case HF_FLOW_INDIRECT_JUMP:
	case HF_FLOW_INDIRECT_CALL:
		if (!wide || field(opcode, 15, 5) != 0)
			return false;
		target = sign_extend(opcode >> 20, 12) & ~(uint64_t)1;
		break;
	default:
		return false;
	}
	*ret_target = (xlen & HF_RISCV_XLEN) == 32 ? target & 0xffffffff : target;
	return true;
}

bool hf_riscv_jump(uint32_t opcode, unsigned xlen, struct hf_riscv_jump *ret_jump)
{
	const unsigned rd = field(opcode, 7, 5);

	if ((opcode & 3) == 3) {
		if (field(opcode, 2, 5) == MAJOR_JAL) {
			*ret_jump = (struct hf_riscv_jump){.rd = (uint8_t)rd};
			return true;
		}
		if (field(opcode, 2, 5) != MAJOR_JALR || field(opcode, 12, 3) != 0)
			return false;
		*ret_jump = (struct hf_riscv_jump){.rd = (uint8_t)rd, .rs1 = (uint8_t)field(opcode, 15, 5),
						   .indirect = true,
						   .offset = (int32_t)sign_extend(opcode >> 20, 12)};
		return true;
	}
	switch (opcode & 0xe003) {
	case 0x2001: /* c.jal, or c.addiw */
		*ret_jump = (struct hf_riscv_jump){.rd = 1};
		return (xlen & HF_RISCV_XLEN) == 32;
	case 0xa001: /* c.j */
		*ret_jump = (struct hf_riscv_jump){0};
		return true;
	case 0x8002: /* c.jr, c.jalr */
		*ret_jump = (struct hf_riscv_jump){.rd = (uint8_t)field(opcode, 12, 1), .rs1 = (uint8_t)rd,
						   .indirect = true};
		return rd != 0 && field(opcode, 2, 5) == 0;
	default:
		return false;
	}
}

bool hf_riscv_upper(uint32_t opcode, unsigned xlen, uint64_t pc, unsigned *ret_rd, uint64_t *ret_value)
{
	const unsigned rd = field(opcode, 7, 5), major = field(opcode, 2, 5);
	uint64_t value;

	if ((opcode & 3) == 3 && (major == MAJOR_LUI || major == MAJOR_AUIPC)) {
		value = sign_extend(opcode >> 12, 20) << 12;
		if (major == MAJOR_AUIPC)
			value += pc;
	} else if ((opcode & 0xe003) == 0x6001 && rd != 2) { /* rd = x2 is c.addi16sp, immediate 0 c.mop or reserved */
		value = sign_extend(PIECE(2, 5, 0) | PIECE(12, 1, 5), 6) << 12;
		if (value == 0)
			return false;
	} else {
		return false;
	}
	if (rd == 0)
		return false;
	*ret_rd = rd;
	*ret_value = (xlen & HF_RISCV_XLEN) == 32 ? value & 0xffffffff : value;
	return true;
}
