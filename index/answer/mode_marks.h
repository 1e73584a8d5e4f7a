/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions that a hart retired in some privilege modes: how many there are, and where every n-th of them is.
 * Chunks without a mark are counted by the lists of the summary; others are decoded. Without a summary all is decoded,
 * with the same result.
 */
#ifndef HF_INDEX_MODE_MARKS_H
#define HF_INDEX_MODE_MARKS_H

#include "index/read/cursor.h"
#include "index/summary/summary.h"

struct hf_mode_marks {
	struct hf_cursor *cursor;   /* new, and to be ended by the caller */
	struct hf_summary *summary; /* NULL: there is none */
	uint64_t first, end;	    /* ordinals: instructions in [first, end), which the hart has */
	uint64_t modes;		    /* a bit for each enum hf_mode that counts */
	uint64_t every;
	bool (*stop)(void *ctx); /* called now and then; true: HF_ERR_CANCELLED */
	void *stop_ctx;
};

/* A zeroed one is empty. */
struct hf_mode_marked {
	uint64_t insns[HF_MODE_COUNT]; /* of each mode, also of those that do not count */
	uint64_t *mark; /* owned: ordinals of the first instruction that counts, and of each every-th behind it */
	size_t count;
};

/* HF_ERR_STATE: the summary is damaged. Others as of hf_intervals_each. *ret_marked is empty after an error. */
int hf_mode_marks_find(const struct hf_mode_marks *marks, struct hf_mode_marked *ret_marked, struct hf_diag *diag);
void hf_mode_marked_free(struct hf_mode_marked *marked);

#endif
