/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a hart: what it did when, for whoever draws it. A summary tells it by chunks, however long the hart
 * is; the events tell it exactly.
 */
#ifndef HF_INDEX_TIMELINE_H
#define HF_INDEX_TIMELINE_H

#include "index/read/cursor.h"
#include "index/summary/rare.h"
#include "index/summary/summary.h"
#include "index/summary/summary_tree.h"

/* So many times in the ordinals [first, end) of the hart. From events these are as few as can be. */
struct hf_timeline_when {
	uint64_t first, end, count;
	uint64_t chunk; /* whose place that is, from a summary; else HF_NOWHERE */
};

/* Memory of retired instructions, as far as its address is known. A summary may have coarser ranges than the events,
 * and does not count: touched at least once. */
struct hf_timeline_data {
	uint64_t first, last; /* addresses */
	bool written;	      /* else read */
};

/* From that ordinal on, up to the next one that is told. From a summary it was there at that ordinal: the first of a
 * chunk. */
struct hf_timeline_stack {
	uint64_t ordinal;
	const uint32_t *nodes; /* as in struct hf_summary_stack */
	uint32_t count;
	uint64_t beyond;		   /* calls and traps above these */
	const struct hf_call_node *so_far; /* the tree up to now, from events: calls of each node; else NULL */
};

/* Of which instructions, [first, end), it is told; stop is asked now and then: HF_ERR_CANCELLED. */
struct hf_timeline_range {
	uint64_t first, end;
	bool (*stop)(void *ctx);
	void *ctx;
};

/* What is told at once of a run, from a summary. */
#define HF_TIMELINE_BATCH 64u

/* Who hears of it, in the order of time for each of them from events, and for each run and range from a summary. NULL: not
 * wanted. n: at least 1, in the order of time. A positive number ends it, an error too. */
struct hf_timeline_visitor {
	void *ctx;
	int (*code)(void *ctx, const struct hf_run *run, const struct hf_timeline_when *when, size_t n);
	int (*data)(void *ctx, const struct hf_timeline_data *data, const struct hf_timeline_when *when, size_t n);
	/* interrupt: of HF_RARE_TRAP */
	int (*mark)(void *ctx, enum hf_rare_kind kind, bool interrupt, const struct hf_timeline_when *when);
	int (*stack)(void *ctx, const struct hf_timeline_stack *stack);
	/* It was that time before the instruction with that ordinal: only from events, and not of a time that the
	 * source puts to an earlier place. */
	int (*time)(void *ctx, uint64_t ordinal, uint64_t time);
};

/* All of the chunks that have some of the range. tree: the whole one of the same summary, or one with its numbers.
 * HF_ERR_STATE: the summary is damaged. */
int hf_timeline_of_summary(struct hf_summary *summary, struct hf_index *index, const struct hf_summary_tree *tree,
			   const struct hf_timeline_range *range, const struct hf_timeline_visitor *visitor);
/* cursor: as hf_counts_of_events has it. Nodes are numbered as in the tree that it makes of the range. */
int hf_timeline_of_events(struct hf_cursor *cursor, const struct hf_timeline_range *range,
			  const struct hf_timeline_visitor *visitor, struct hf_diag *diag);

#endif
