/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hart executed in each of several consecutive intervals of its instructions. Chunks that lie in one interval
 * come from the summary; those in which an interval begins are decoded. Without a summary all is decoded, with the same
 * result.
 */
#ifndef HF_INDEX_INTERVALS_H
#define HF_INDEX_INTERVALS_H

#include "index/read/cursor.h"
#include "index/summary/summary.h"

struct hf_intervals {
	struct hf_cursor *cursor;   /* new, and to be ended by the caller */
	bool own_source;	    /* the cursor's source is this thread's own: its until may be set */
	struct hf_summary *summary; /* NULL: there is none */
	const uint64_t *at;	    /* count + 1 ascending ordinals of the hart: interval i is [at[i], at[i + 1]) */
	uint64_t count;
	/* run needs to know how runs were entered. If false, that may be wrong for the first instruction of a decoded
	 * chunk, which saves decoding the chunk before. */
	bool entered;
	bool (*stop)(void *ctx);    /* called now and then; true: HF_ERR_CANCELLED */
	void *stop_ctx;
	/* The run that the next calls of put, at least one, are about. In no order; the same run may come again. Runs
	 * are cut where an interval or a chunk begins. run is valid until the next call. */
	int (*run)(void *ctx, const struct hf_run *run);
	/* In that interval, from 0, the run was executed count times. */
	int (*put)(void *ctx, uint64_t number, uint64_t count);
	void *ctx;
};

/* The first error of run or put, what hf_cursor_take and hf_summary_runs return, or HF_ERR_NOMEM. */
int hf_intervals_each(const struct hf_intervals *intervals, struct hf_diag *diag);

#endif
