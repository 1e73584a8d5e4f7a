/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hart executed in each of several intervals of its instructions, one behind the other. Chunks that lie in one
 * interval come from the lists of the summary; a chunk in which an interval begins is decoded. Without a summary all is
 * decoded. Either gives the same executions of the same instructions.
 */
#ifndef HF_INDEX_INTERVALS_H
#define HF_INDEX_INTERVALS_H

#include "index/cursor.h"
#include "index/summary.h"

struct hf_intervals {
	struct hf_cursor *cursor;   /* new, and to be ended by the caller */
	struct hf_summary *summary; /* NULL: there is none */
	const uint64_t *at;	    /* count + 1 ascending ordinals, which the hart has: one is in [at[i], at[i + 1]) */
	uint64_t count;
	bool (*stop)(void *ctx);    /* asked now and then: HF_ERR_CANCELLED */
	void *stop_ctx;
	/* In the interval with that number, from 0, the run was executed count times. In no order; the same run may come
	 * again. Runs are cut where an interval or a chunk begins. The run is valid for the call. */
	int (*put)(void *ctx, uint64_t number, const struct hf_run *run, uint64_t count);
	void *ctx;
};

/* The first error of put, what hf_cursor_take and hf_summary_runs return, or HF_ERR_NOMEM. */
int hf_intervals_each(const struct hf_intervals *intervals, struct hf_diag *diag);

#endif
