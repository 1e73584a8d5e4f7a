/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an A64, A32 or T32 instruction does to the flow, from its opcode alone, and whether it is a P0 instruction of
 * an ETE: one that ends a range of instructions and gets an atom. arm.def is the list; opcodes are as in event.h (a
 * T32 one of 4 bytes has its first halfword in the upper half).
 */
#ifndef HF_ISA_ARM_H
#define HF_ISA_ARM_H

#include "codecs/event.h"

enum hf_arm_flags {
	HF_ARM_NONE = 0,
	HF_ARM_P0 = 1,           /* a P0 instruction */
	HF_ARM_WFX = 2,          /* one where TRCIDR2.WFXMODE is 1, and else none */
	HF_ARM_INDIRECT = 4,     /* the target is in a register or in memory */
	HF_ARM_LINK = 8,         /* keeps the address of the next instruction */
	/* May fail its own condition. What an IT block adds is not known here: any T32 instruction may be in one. */
	HF_ARM_CONDITIONAL = 16,
	HF_ARM_EXCHANGE = 32,    /* direct, to the other one of A32 and T32 */
	HF_ARM_LOOP = 64,        /* of a low-overhead loop: its condition is a count, and its offset lies elsewhere */
};

struct hf_arm_class {
	uint8_t flow;  /* enum hf_flow; a conditional b is BRANCH, other conditional ones what they are if taken */
	uint8_t flags; /* enum hf_arm_flags */
};

/* Bytes of the T32 instruction with that first halfword (DDI 0487 F3.1). */
static inline unsigned hf_t32_size(uint32_t first)
{
	return (first & 0xf800) >= 0xe800 ? 4 : 2;
}

/* ITSTATE behind a T32 instruction, before which it was it (DDI 0487, F1.2.3). 0: outside an IT block. */
static inline uint8_t hf_t32_next_it(uint8_t it, uint32_t opcode, unsigned size)
{
	if (size == 2 && (opcode & 0xff00) == 0xbf00 && opcode & 15)
		return (uint8_t)opcode;
	const unsigned next = (it & 0xe0u) | (it << 1 & 0x1fu);

	return it & 7 ? (uint8_t)next : 0;
}

/* The rest of hf_arm_classify, for what is or may be no plain instruction. */
struct hf_arm_class hf_arm_lookup(uint32_t opcode, unsigned size, unsigned isa);

/* size (2 or 4) matters to T32 alone. An isa that is none of Arm's: plain. */
static inline struct hf_arm_class hf_arm_classify(uint32_t opcode, unsigned size, unsigned isa)
{
	/* A64: op0 of the top level is x101x for branches, exceptions and system instructions (C4.1) */
	if (isa == HF_ISA_A64 && (opcode & 0x1c000000) != 0x14000000)
		return (struct hf_arm_class){HF_FLOW_PLAIN, HF_ARM_NONE};
	return hf_arm_lookup(opcode, size, isa);
}

/*
 * Where a direct branch (if taken), jump or call at pc goes, and in which instruction set it goes on. False for every
 * other instruction; nothing is written then. AArch32 targets wrap at 32 bits.
 */
bool hf_arm_target(uint32_t opcode, unsigned size, unsigned isa, uint64_t pc, uint64_t *ret_target,
		   unsigned *ret_isa);

#endif
