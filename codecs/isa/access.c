/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/isa/access.h"

#include "codecs/isa/riscv.h"

/* Major opcodes, without their two low bits. */
enum { OP_LOAD = 0x00, OP_LOAD_FP = 0x01, OP_STORE = 0x08, OP_STORE_FP = 0x09, OP_AMO = 0x0b, OP_SYSTEM = 0x1c };

/* funct5 of OP_AMO. */
enum { AMO_LR = 0x02, AMO_SC = 0x03 };

/* cm.push, cm.pop, cm.popret, cm.popretz: ra and up to 12 more registers; a list of 11 saved ones does not exist. */
static struct hf_riscv_access code_size_access(uint32_t opcode, bool rv64)
{
	const unsigned list = opcode >> 4 & 15, which = opcode >> 8 & 31;

	if ((which & 0x19) != 0x18 || list < 4)
		return (struct hf_riscv_access){0};
	return (struct hf_riscv_access){
		.kind = which == 0x18 ? HF_RISCV_STORE : HF_RISCV_LOAD,
		.size = rv64 ? 3 : 2,
		.many = true,
		.limit = (uint8_t)(list - 3 + (list == 15)),
	};
}

static struct hf_riscv_access compressed_access(uint32_t opcode, bool rv64)
{
	const unsigned quadrant = opcode & 3, funct3 = opcode >> 13 & 7, op = opcode >> 10 & 7;
	struct hf_riscv_access a = {.kind = funct3 & 4 ? HF_RISCV_STORE : HF_RISCV_LOAD};

	if (quadrant == 0 && funct3 == 4 && op < 4) /* Zcb: lbu, lhu and lh, sb, sh */
		return (struct hf_riscv_access){.kind = op < 2 ? HF_RISCV_LOAD : HF_RISCV_STORE, .size = op & 1};
	/* 1 fld, 2 lw, 3 flw or ld; 5 to 7 the stores. Quadrant 2 is the same relative to sp, without Zcmp. */
	if (quadrant == 1 || (funct3 & 3) == 0)
		return (struct hf_riscv_access){0};
	a.size = (funct3 & 3) == 1 || ((funct3 & 3) == 3 && rv64) ? 3 : 2;
	return a;
}

/* Loads and stores of floating point and vector registers share their major opcodes. */
static struct hf_riscv_access float_access(uint32_t opcode, uint8_t kind)
{
	const unsigned width = opcode >> 12 & 7;
	struct hf_riscv_access a = {.kind = kind, .size = (uint8_t)width};

	if (width == 0 || width >= 5) {
		a.many = true;
		a.size = (uint8_t)(width ? width - 4 : 0);
	}
	return a;
}

static struct hf_riscv_access atomic_access(uint32_t opcode)
{
	const unsigned funct5 = opcode >> 27, width = opcode >> 12 & 7;

	if (width > 4)
		return (struct hf_riscv_access){0};
	return (struct hf_riscv_access){
		.kind = funct5 == AMO_LR   ? HF_RISCV_LOAD
			: funct5 == AMO_SC ? HF_RISCV_STORE_CONDITIONAL
					   : HF_RISCV_ATOMIC,
		.size = (uint8_t)width,
	};
}

/* The loads and stores of a hypervisor in its guest. */
static struct hf_riscv_access system_access(uint32_t opcode)
{
	const unsigned funct3 = opcode >> 12 & 7, funct7 = opcode >> 25;

	if (funct3 != 4 || funct7 >> 3 != 6)
		return (struct hf_riscv_access){0};
	return (struct hf_riscv_access){.kind = funct7 & 1 ? HF_RISCV_STORE : HF_RISCV_LOAD, .size = funct7 >> 1 & 3};
}

struct hf_riscv_access hf_riscv_access(uint32_t opcode, unsigned size, enum hf_isa isa, bool code_size)
{
	const unsigned funct3 = opcode >> 12 & 7;

	if (size == 2 && code_size && hf_riscv_is_code_size(opcode))
		return code_size_access(opcode, isa == HF_ISA_RV64);
	if (size == 2)
		return compressed_access(opcode, isa == HF_ISA_RV64);
	switch (opcode >> 2 & 31) {
	case OP_LOAD:
		return (struct hf_riscv_access){.kind = HF_RISCV_LOAD, .size = funct3 & 3};
	case OP_STORE:
		return (struct hf_riscv_access){.kind = HF_RISCV_STORE, .size = funct3 & 3};
	case OP_LOAD_FP:
		return float_access(opcode, HF_RISCV_LOAD);
	case OP_STORE_FP:
		return float_access(opcode, HF_RISCV_STORE);
	case OP_AMO:
		return atomic_access(opcode);
	case OP_SYSTEM:
		return system_access(opcode);
	default:
		return (struct hf_riscv_access){0};
	}
}

unsigned hf_riscv_access_sizes(uint32_t opcode, unsigned size, enum hf_isa isa)
{
	const struct hf_riscv_access a = hf_riscv_access(opcode, size, isa, false);
	unsigned sizes = a.kind == HF_RISCV_NO_ACCESS || a.many ? 0 : 1u << a.size;

	/* c.fsdsp, or one of several words of Zcmp: either way no other size */
	if (size == 2 && hf_riscv_is_code_size(opcode))
		sizes |= isa == HF_ISA_RV64 ? 8 : 4;
	return sizes;
}
