/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hart executed in each of several intervals of its instructions, one behind the other. Chunks that lie in one
 * interval come from the summary; a chunk in which an interval begins is decoded. Without a summary all is
 * decoded. Either gives the same executions of the same instructions.
 */
#ifndef HF_INDEX_INTERVALS_H
#define HF_INDEX_INTERVALS_H

#include "index/read/cursor.h"
#include "index/summary/summary.h"

struct hf_intervals {
	struct hf_cursor *cursor;   /* new, and to be ended by the caller */
	bool own_source;	    /* the cursor's source is this thread's own, and hears how far it is read (until) */
	struct hf_summary *summary; /* NULL: there is none */
	const uint64_t *at;	    /* count + 1 ascending ordinals, which the hart has: one is in [at[i], at[i + 1]) */
	uint64_t count;
	/* run looks at how runs were entered. Else that may be wrong of the first instruction of a chunk that is
	 * decoded, which saves decoding the chunk before. */
	bool entered;
	bool (*stop)(void *ctx);    /* asked now and then: HF_ERR_CANCELLED */
	void *stop_ctx;
	/* What put is about from now on, which is called at least once then. In no order; the same run may come again. Runs
	 * are cut where an interval or a chunk begins. It is valid until the next one. */
	int (*run)(void *ctx, const struct hf_run *run);
	/* In the interval with that number, from 0, the run was executed count times. */
	int (*put)(void *ctx, uint64_t number, uint64_t count);
	void *ctx;
};

/* The first error of run or put, what hf_cursor_take and hf_summary_runs return, or HF_ERR_NOMEM. */
int hf_intervals_each(const struct hf_intervals *intervals, struct hf_diag *diag);

#endif
