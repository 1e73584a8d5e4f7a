/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that belong to the instructions of a chunk: from its first one up to the first one of the next chunk, and
 * what comes before the first instruction of a hart.
 */
#ifndef HF_FIND_WALK_H
#define HF_FIND_WALK_H

#include "index/read/cursor.h"

struct hf_walk {
	struct hf_cursor *cursor; /* borrowed */
	/* Hears of the chunk, which has instructions, before its events. May be NULL. */
	void (*begin)(void *ctx, const struct hf_chunk *chunk);
	/* The context in which its first instruction is executed. May be NULL. */
	void (*context)(void *ctx, const struct hf_event *ev);
	/* An error ends the walk. */
	int (*put)(void *ctx, const struct hf_event *ev);
	void *ctx;
	struct hf_event ev[HF_CURSOR_BATCH]; /* its own */
};

/* Nothing is put of a chunk without instructions. HF_ERR_MISMATCH: the index promises something else. */
int hf_walk_chunk(struct hf_walk *walk, uint64_t number);

#endif
