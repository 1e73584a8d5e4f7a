/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/isa/arm.h"

struct row {
	uint32_t mask, match;
	uint8_t flow, flags;
};

/* Short names for arm.def. */
enum {
	NONE = HF_ARM_NONE,
	P0 = HF_ARM_P0,
	WFX = HF_ARM_WFX,
	INDIRECT = HF_ARM_INDIRECT,
	LINK = HF_ARM_LINK,
	CONDITIONAL = HF_ARM_CONDITIONAL,
	EXCHANGE = HF_ARM_EXCHANGE,
	LOOP = HF_ARM_LOOP,
};

#define ROW(mask, match, flow, flags) {mask, match, HF_FLOW_##flow, flags},
#define HF_ARM(table, mask, match, flow, flags) IN_##table(ROW(mask, match, flow, flags))
#define IN_A64(row) row
#define IN_A32(row)
#define IN_A32F(row)
#define IN_T16(row)
#define IN_T32(row)
static const struct row a64_rows[] = {
#include "codecs/isa/arm.def"
};
#undef IN_A64
#define IN_A64(row)
#undef IN_A32
#define IN_A32(row) row
static const struct row a32_rows[] = {
#include "codecs/isa/arm.def"
};
#undef IN_A32
#define IN_A32(row)
#undef IN_A32F
#define IN_A32F(row) row
static const struct row a32f_rows[] = {
#include "codecs/isa/arm.def"
};
#undef IN_A32F
#define IN_A32F(row)
#undef IN_T16
#define IN_T16(row) row
static const struct row t16_rows[] = {
#include "codecs/isa/arm.def"
};
#undef IN_T16
#define IN_T16(row)
#undef IN_T32
#define IN_T32(row) row
static const struct row t32_rows[] = {
#include "codecs/isa/arm.def"
};

static struct hf_arm_class find(const struct row *rows, size_t count, uint32_t opcode)
{
	for (size_t i = 0; i < count; i++)
		if ((opcode & rows[i].mask) == rows[i].match)
			return (struct hf_arm_class){rows[i].flow, rows[i].flags};
	return (struct hf_arm_class){HF_FLOW_PLAIN, HF_ARM_NONE};
}

#define FIND(rows, opcode) find(rows, sizeof(rows) / sizeof(rows)[0], opcode)

static struct hf_arm_class a32_class(uint32_t opcode)
{
	uint32_t condition = opcode >> 28;
	struct hf_arm_class class;

	if (condition == 15)
		return FIND(a32f_rows, opcode);
	class = FIND(a32_rows, opcode & 0x0fffffff);
	if (condition != 14 && class.flow != HF_FLOW_PLAIN) {
		class.flags |= CONDITIONAL;
		if (class.flow == HF_FLOW_JUMP)
			class.flow = HF_FLOW_BRANCH;
	}
	return class;
}

struct hf_arm_class hf_arm_lookup(uint32_t opcode, unsigned size, unsigned isa)
{
	switch (isa) {
	case HF_ISA_A64:
		return FIND(a64_rows, opcode);
	case HF_ISA_A32:
		return a32_class(opcode);
	case HF_ISA_T32:
		return size == 2 ? FIND(t16_rows, opcode & 0xffff) : FIND(t32_rows, opcode);
	default:
		return (struct hf_arm_class){HF_FLOW_PLAIN, HF_ARM_NONE};
	}
}

/* Bits [low, low + width) of the opcode as a signed number, times 1 << shift. */
static uint64_t offset(uint32_t opcode, unsigned low, unsigned width, unsigned shift)
{
	return (uint64_t)((int64_t)((uint64_t)(opcode >> low) << (64 - width)) >> (64 - width)) << shift;
}

static uint64_t a64_target(uint32_t opcode, uint64_t pc)
{
	switch (opcode >> 25 & 0x3f) {
	case 0x0a: case 0x0b:
		return pc + offset(opcode, 0, 26, 2);
	case 0x1b: /* tbz, tbnz */
		return pc + offset(opcode, 5, 14, 2);
	case 0x3a: /* cb<cc>, cbb<cc>, cbh<cc> */
		return pc + offset(opcode, 5, 9, 2);
	default: /* b.cond, bc.cond, cbz, cbnz */
		return pc + offset(opcode, 5, 19, 2);
	}
}

static uint64_t a32_target(uint32_t opcode, uint64_t pc)
{
	uint64_t half = opcode >> 28 == 15 ? opcode >> 23 & 2 : 0; /* blx: bit 24 is H */

	return pc + 8 + offset(opcode, 0, 24, 2) + half;
}

static uint64_t t16_target(uint32_t opcode, uint64_t pc)
{
	if ((opcode & 0xf000) == 0xb000) /* cbz, cbnz: i:imm5, forward only */
		return pc + 4 + ((opcode >> 3 & 0x40) | (opcode >> 2 & 0x3e));
	return pc + 4 + (opcode & 0x2000 ? offset(opcode, 0, 11, 1) : offset(opcode, 0, 8, 1));
}

/* The sign is bit 26; of T4, bl and blx bits 13 and 11 give the next two, inverted and exclusive-ored with it. */
static uint64_t t32_target(uint32_t opcode, uint64_t pc, struct hf_arm_class class)
{
	uint32_t sign = opcode >> 26 & 1, j1 = opcode >> 13 & 1, j2 = opcode >> 11 & 1, low = opcode & 0x7ff, bits;

	if (class.flags & LOOP) { /* imm11 without its sign: that of LE (Rn 15) is a minus */
		bits = (low & 0x7fe) << 1 | j2 << 1;
		return pc + 4 + ((opcode >> 16 & 15) == 15 ? 0 - (uint64_t)bits : bits);
	}
	if (class.flow == HF_FLOW_BRANCH) { /* T3: S:J2:J1:imm6:imm11 */
		bits = sign << 19 | j2 << 18 | j1 << 17 | (opcode >> 16 & 0x3f) << 11 | low;
		return pc + 4 + offset(bits, 0, 20, 1);
	}
	bits = sign << 23 | (j1 ^ sign ^ 1) << 22 | (j2 ^ sign ^ 1) << 21 | (opcode >> 16 & 0x3ff) << 11 | low;
	if (class.flags & EXCHANGE)
		pc &= ~(uint64_t)3;
	return pc + 4 + offset(bits, 0, 24, 1);
}

bool hf_arm_target(uint32_t opcode, unsigned size, unsigned isa, uint64_t pc, uint64_t *ret_target,
		   unsigned *ret_isa)
{
	struct hf_arm_class class = hf_arm_classify(opcode, size, isa);
	uint64_t target;

	if (class.flow != HF_FLOW_BRANCH && class.flow != HF_FLOW_JUMP && class.flow != HF_FLOW_CALL)
		return false;
	if (isa == HF_ISA_A64) {
		*ret_target = a64_target(opcode, pc);
		*ret_isa = HF_ISA_A64;
		return true;
	}
	if (isa == HF_ISA_A32)
		target = a32_target(opcode, pc);
	else
		target = size == 2 ? t16_target(opcode, pc) : t32_target(opcode, pc, class);
	*ret_target = target & 0xffffffff;
	*ret_isa = class.flags & EXCHANGE ? (isa == HF_ISA_A32 ? HF_ISA_T32 : HF_ISA_A32) : isa;
	return true;
}
