/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a range of instructions, and its runs. Internal to index/answer/, but for the range. */
#ifndef HF_INDEX_RANGE_H
#define HF_INDEX_RANGE_H

#include "index/read/cursor.h"
#include "index/summary/run.h"

/* Instructions of a hart: [first, end). stop: asked for each chunk; HF_ERR_CANCELLED. May be NULL. */
struct hf_insn_range {
	uint64_t first, end;
	bool (*stop)(void *ctx);
	void *ctx;
};

/*
 * Decodes it. Events, from the first instruction up to the one behind the last, go to fn, unless that is NULL, and then to the
 * cutter, which is new. cursor is new too, and to be ended by the caller. HF_ERR_MISMATCH: the hart has no such instructions.
 */
int hf_range_events(struct hf_cursor *cursor, const struct hf_insn_range *range, struct hf_run_cutter *cutter,
		    int (*fn)(void *ctx, const struct hf_event *ev, size_t n), void *ctx, struct hf_diag *diag);

#endif
