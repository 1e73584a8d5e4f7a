/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a hart: what it did when, for pictures. From a summary it is known by chunks, which is fast for any
 * length; from the events exactly.
 */
#ifndef HF_INDEX_TIMELINE_H
#define HF_INDEX_TIMELINE_H

#include "index/read/cursor.h"
#include "index/summary/rare.h"
#include "index/summary/summary.h"
#include "index/summary/summary_tree.h"

/* count times in the ordinals [first, end) of the hart. From events the range is as small as possible. */
struct hf_timeline_when {
	uint64_t first, end, count;
	uint64_t chunk; /* the chunk of that range, from a summary; else HF_NOWHERE */
};

/* Memory that retired instructions accessed, if the address is known. From a summary ranges may be coarser than from
 * events, and mean: at least once. */
struct hf_timeline_data {
	uint64_t first, last; /* addresses */
	bool written;	      /* else read */
};

/* The stack from that ordinal up to the next call of stack. From a summary it is the stack at that ordinal, the first
 * of a chunk. */
struct hf_timeline_stack {
	uint64_t ordinal;
	const uint32_t *nodes; /* as in struct hf_summary_stack */
	uint32_t count;
	uint64_t beyond;		   /* calls and traps beyond the limit, above these */
	const struct hf_call_node *so_far; /* from events: the tree so far, with calls of each node; else NULL */
};

/* Instructions [first, end). stop is called now and then; true: HF_ERR_CANCELLED. */
struct hf_timeline_range {
	uint64_t first, end;
	bool (*stop)(void *ctx);
	void *ctx;
};

/* Most when[] of one call of code, from a summary. */
#define HF_TIMELINE_BATCH 64u

/* Callbacks. From events the calls of each are in the order of time; from a summary those for one run or range. NULL:
 * not wanted. n: at least 1, in the order of time. Any other result than 0 ends it. */
struct hf_timeline_visitor {
	void *ctx;
	int (*code)(void *ctx, const struct hf_run *run, const struct hf_timeline_when *when, size_t n);
	int (*data)(void *ctx, const struct hf_timeline_data *data, const struct hf_timeline_when *when, size_t n);
	/* interrupt: of HF_RARE_TRAP */
	int (*mark)(void *ctx, enum hf_rare_kind kind, bool interrupt, const struct hf_timeline_when *when);
	int (*stack)(void *ctx, const struct hf_timeline_stack *stack);
	/* The time before the instruction with that ordinal. Only from events, and not if the source says that the time
	 * belongs to an earlier place. */
	int (*time)(void *ctx, uint64_t ordinal, uint64_t time);
};

/* All chunks that have some of the range. tree: the whole one of the same summary, or one with its numbers.
 * HF_ERR_STATE: the summary is damaged. */
int hf_timeline_of_summary(struct hf_summary *summary, struct hf_index *index, const struct hf_summary_tree *tree,
			   const struct hf_timeline_range *range, const struct hf_timeline_visitor *visitor);
/* cursor: as for hf_counts_of_events. Nodes are numbered as in the tree that that makes of the range. */
int hf_timeline_of_events(struct hf_cursor *cursor, const struct hf_timeline_range *range,
			  const struct hf_timeline_visitor *visitor, struct hf_diag *diag);

#endif
