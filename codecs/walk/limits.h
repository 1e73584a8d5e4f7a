/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ends a walk that the trace would not end: jumps in a circle that need nothing of the trace. A decoder has its
 * limit of length beside it: how far its packets can lead is said by its format.
 */
#ifndef HF_WALK_LIMITS_H
#define HF_WALK_LIMITS_H

#include "codecs/walk/block.h"

/* All zero: nothing was seen yet. It is made so again where the trace had to be asked. */
struct hf_walk_circle {
	const struct hf_walk_block *seen;
	uint32_t steps, mark;
};

/*
 * Whether the walk over blocks that need nothing of the trace was at this one before, so that it goes on as it went.
 * One block is kept, a new one each time further on (Brent), so that any circle closes.
 */
static inline bool hf_walk_is_circle(struct hf_walk_circle *c, const struct hf_walk_block *block)
{
	if (block == c->seen)
		return true;
	if (c->steps++ == c->mark) {
		c->seen = block;
		c->mark = 2 * c->steps;
	}
	return false;
}

#endif
