/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks of a hart, one after the other: the first one is decoded when it is wanted, and the more are taken, the more of
 * those behind are decoded meanwhile by other threads. Internal to fs/rows/.
 */
#ifndef HF_ROWS_AHEAD_H
#define HF_ROWS_AHEAD_H

#include "fs/find/chunk.h"
#include "fs/rows/table.h"
#include "index/exec/exec.h"

/* Chunks that are decoded ahead in one session, at most, and bytes that they may have together, as far as the chunk
 * before them tells. */
#define HF_ROWS_AHEAD_MOST 16u
#define HF_ROWS_AHEAD_BYTES (24u << 20)

struct hf_rows_ahead {
	struct hf_rows_ahead_slot {
		struct hf_job job;
		struct hf_find_reader reader;
		struct hf_rows_chunk *chunk; /* one reference, or its own */
		bool kept;		     /* it was there: there is no job */
		bool probe;		     /* as below */
		bool no_rows;		     /* it has not been decoded, for it has no rows */
		int err;
	} *slots; /* a ring: first, and in_flight of them; owned; NULL: not yet needed */
	size_t count, first, in_flight, window;
	/* Set by the caller. */
	struct hf_find_source source;
	bool probe; /* chunks without an answer to its terms are passed over: a look keeps nothing of them */
	struct hf_find_reader here; /* for those that are decoded on the calling thread */
};

/* Which chunk comes next; false: there is none. */
typedef bool (*hf_rows_ahead_fn)(struct hf_rows *rows, uint64_t *ret_number);

/* The next one, with a reference, or NULL if it was passed over; HF_NOTE_END. next is called for those behind it too. */
int hf_rows_ahead_take(struct hf_rows_ahead *ahead, struct hf_rows *rows, hf_rows_ahead_fn next,
		       struct hf_rows_chunk **ret_chunk, uint64_t *ret_number);
void hf_rows_ahead_end(struct hf_rows_ahead *ahead, struct hf_rows *rows);

#endif
