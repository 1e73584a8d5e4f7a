/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The course of a hart: what it did when, for whoever draws it. A summary tells it by chunks, however long the hart is;
 * the events tell it exactly.
 */
#ifndef HF_INDEX_COURSE_H
#define HF_INDEX_COURSE_H

#include "index/cursor.h"
#include "index/summary.h"
#include "index/summary/rare.h"
#include "index/summary_tree.h"

/* So many times in the ordinals [first, end). From events these are as few as can be. */
struct hf_course_when {
	uint64_t first, end, count;
};

/* Memory of retired instructions, as far as its address is known. A summary may have coarser ranges than the events,
 * and does not count: touched at least once. */
struct hf_course_data {
	uint64_t first, last; /* addresses */
	bool written;	      /* else read */
};

/* From that ordinal on, up to the next one that is told. From a summary it was there at that ordinal: the first of a
 * chunk. */
struct hf_course_stack {
	uint64_t ordinal;
	const uint32_t *nodes; /* as in struct hf_summary_stack */
	uint32_t count;
	uint64_t beyond; /* calls and traps above these */
	const struct hf_call_node *so_far; /* the tree up to now, from events: calls of each node; else NULL */
};

/* Who hears of it, in the order of time for each of them from events, and of runs and ranges from a summary. NULL: not
 * wanted. A positive number ends it, an error too. */
struct hf_course {
	void *ctx;
	int (*code)(void *ctx, const struct hf_run *run, const struct hf_course_when *when);
	int (*data)(void *ctx, const struct hf_course_data *data, const struct hf_course_when *when);
	/* interrupt: of HF_RARE_TRAP */
	int (*mark)(void *ctx, enum hf_rare_kind kind, bool interrupt, const struct hf_course_when *when);
	int (*stack)(void *ctx, const struct hf_course_stack *stack);
};

/* tree: of the same summary. HF_ERR_STATE: the summary is damaged. */
int hf_course_of_summary(struct hf_summary *summary, struct hf_index *index, const struct hf_summary_tree *tree,
			 bool (*stop)(void *ctx), void *stop_ctx, const struct hf_course *course);
/* cursor, stop: as hf_counts_of_events has them. Nodes are numbered as in the tree that it makes, and in summaries. */
int hf_course_of_events(struct hf_cursor *cursor, bool (*stop)(void *ctx), void *stop_ctx,
			const struct hf_course *course, struct hf_diag *diag);

#endif
