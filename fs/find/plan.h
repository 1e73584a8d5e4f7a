/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which chunks of a hart the answers are: what the lists of a summary say of a question, or all chunks if none is about
 * it. Internal to fs/find/.
 */
#ifndef HF_FIND_PLAN_H
#define HF_FIND_PLAN_H

#include "fs/find/terms.h"
#include "index/summary.h"

struct hf_find_plan {
	uint64_t low, high;  /* chunks in [low, high) */
	uint64_t *count;     /* of answers in chunk low + i, or with exact at most so many; owned; NULL: nobody knows */
	bool exact;	     /* count is what decoding will give */
	uint64_t candidates; /* chunks that may have any */
	const char *list;    /* what told; NULL: nothing, for this reason */
	const char *no_list;
};

/* What is asked, and of what. All is borrowed. */
struct hf_find_ask {
	const struct hf_terms *terms;
	struct hf_summary *summary;
	struct hf_index *index;
	uint32_t hart;
	uint64_t low, high;
	struct hf_disasm *disasm;
};

/*
 * summary NULL: there is none. HF_ERR_STATE: it is damaged. HF_ERR_NOMEM/IO.
 */
int hf_find_plan_new(const struct hf_find_ask *ask, struct hf_find_plan *ret_plan);
void hf_find_plan_fini(struct hf_find_plan *plan);

static inline bool hf_find_plan_has(const struct hf_find_plan *plan, uint64_t chunk)
{
	return !plan->count || plan->count[chunk - plan->low];
}

/*
 * A list of the summary: what it can tell of a question. Adds to counts[chunk - low], for chunks in [low, high), how many
 * instructions of the chunk its terms let through, and clears *exact if that is only the most there can be. The plan takes
 * of all lists that serve the question the least count.
 */
struct hf_find_list {
	const char *name;
	/* The terms it is about: bits; 0: of no use for this question. */
	uint32_t (*serves)(const struct hf_terms *terms);
	int (*count)(const struct hf_find_ask *ask, uint64_t *counts, bool *exact);
};

/* list_runs.c, list_words.c, list_rare.c, list_registers.c */
extern const struct hf_find_list hf_find_list_runs, hf_find_list_words, hf_find_list_rare, hf_find_list_registers;

#endif
