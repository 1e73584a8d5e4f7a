/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The basic blocks that a hart executed. A block begins where a transfer led to, and behind every instruction that can
 * be one, and ends before the next block: so an instruction is in one block, and chunks do not show. Internal to
 * fs/profile/.
 */
#ifndef HF_FS_PROFILE_BBV_BLOCKS_H
#define HF_FS_PROFILE_BBV_BLOCKS_H

#include "fs/profile/texts.h"
#include "index/answer/intervals.h"

struct hf_bbv_blocks {
	const struct hf_profiled *of;
	uint64_t *start; /* of each block; ascending */
	size_t count, cap;
};

/* *ret_blocks is to be freed after success. */
int hf_bbv_blocks_find(const struct hf_profiled *of, struct hf_bbv_blocks *ret_blocks);
void hf_bbv_blocks_free(struct hf_bbv_blocks *blocks);
/* The number of the block with that instruction, from 0. */
size_t hf_bbv_block_of(const struct hf_bbv_blocks *blocks, uint64_t pc);

/* The address of the instruction whose opcode is code[at] of the run, as rows of the counts have it. */
static inline uint64_t hf_bbv_pc_of(const struct hf_run *run, uint32_t at)
{
	const uint64_t pc = run->key.first + at;

	return run->key.isa == HF_ISA_RV32 ? (uint32_t)pc : pc;
}

/* What the hart executed: of says in which intervals, and who hears of it; the rest of it need not be set. */
int hf_bbv_each(const struct hf_profile_source *source, const struct hf_intervals *of);

#endif
