/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over the program image: which instructions lie between here and the next P0 instruction. What was found is kept
 * as blocks, so that code that runs again costs no more than its events.
 */
#ifndef HF_ETE_WALK_H
#define HF_ETE_WALK_H

#include "codecs/image/program.h"
#include "codecs/isa/arm.h"

/* Instructions of a block; longer stretches without a P0 instruction are several. */
#define HF_ETE_BLOCK_MAX 32
#define HF_ETE_BLOCKS 4096 /* in the cache, at most */

struct hf_ete_block {
	uint64_t pc;
	const struct hf_program *program; /* NULL: empty */
	const uint8_t *bytes;             /* of its instructions, if plain */
	uint64_t target;                  /* of the last instruction, if it is a direct one */
	uint32_t opcode;                  /* of the last instruction */
	uint8_t isa;
	uint8_t count;      /* 1.. */
	uint8_t ends;       /* the last one is a P0 instruction */
	uint8_t plain;      /* A64, and all before that one are HF_FLOW_PLAIN: detail is not used */
	uint8_t size, flow; /* of the last one */
	uint8_t flags;      /* enum hf_arm_flags */
	uint8_t direct;     /* it has a target, in this instruction set: */
	uint8_t target_isa;
};

struct hf_ete_block_detail {
	uint32_t opcodes[HF_ETE_BLOCK_MAX];
	uint8_t sizes[HF_ETE_BLOCK_MAX], flows[HF_ETE_BLOCK_MAX];
};

struct hf_ete_walk {
	bool wfx; /* WFI and WFE are P0 instructions */
	uint32_t count;                      /* of blocks, a power of two up to HF_ETE_BLOCKS */
	struct hf_ete_block *blocks;         /* owned */
	struct hf_ete_block_detail *details; /* owned: one for each block */
};

/* program_size: bytes of all programs (hf_setup_code_size). */
int hf_ete_walk_init(struct hf_ete_walk *walk, bool wfx, uint64_t program_size);
void hf_ete_walk_fini(struct hf_ete_walk *walk);

/* The block that begins at pc, NULL if the program has no instruction there. */
const struct hf_ete_block *hf_ete_walk_find(struct hf_ete_walk *walk, const struct hf_program *program, uint64_t pc,
					    unsigned isa);

/* The instructions of a block that is not plain. */
static inline const struct hf_ete_block_detail *hf_ete_walk_detail(const struct hf_ete_walk *walk,
								   const struct hf_ete_block *block)
{
	return &walk->details[block - walk->blocks];
}

#endif
