/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of one hart, chunk by chunk on all cores, in order. Internal to fs/find/. */
#ifndef HF_FIND_SCAN_H
#define HF_FIND_SCAN_H

#include "fs/find/chunk.h"
#include "fs/find/plan.h"

/* How far the answers have come, from hart to hart. */
struct hf_find_state {
	uint64_t skip, left; /* of the answers to come */
	uint64_t count;	     /* of those that were counted or given */
	uint64_t seen;	     /* the same, with those that were skipped */
	uint64_t given;	     /* calls of hit */
	bool done;	     /* there is no need to look further */
};

/* So many answers, of which nothing but the number is wanted. */
void hf_find_count(struct hf_find_state *state, uint64_t count);

/* One hart, whose answers are counted chunk by chunk on a thread of the executor. */
struct hf_find_chunks {
	struct hf_worker *worker;     /* with an env.disasm */
	const struct hf_predicates *predicates; /* of question and hart */
	uint64_t most_insns;	      /* HF_ERR_WHERE_LIMIT: chunks of more would have to be decoded */
	int (*counted)(void *ctx, uint64_t chunk, uint64_t n); /* chunks with answers, in order; an error ends it */
	void (*summary_dropped)(void *ctx); /* the summary is damaged: what was counted is not so, and begins anew */
};

/* stats: candidates are set; decoded and unknown are added to. *ret_broken_promise: the plan promised something else
 * than what the events are; then the state is of no use. */
int hf_find_scan(const struct hf_find *find, const struct hf_find_source *source, const struct hf_find_plan *plan,
		 struct hf_find_state *state, struct hf_find_stats *stats, bool *ret_broken_promise);

#endif
