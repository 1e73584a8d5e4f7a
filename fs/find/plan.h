/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which chunks of a hart the answers are: what the lists of a summary say of a question, or all chunks if none is about
 * it. Internal to fs/find/.
 */
#ifndef HF_FIND_PLAN_H
#define HF_FIND_PLAN_H

#include "fs/find/list.h"

struct hf_find_plan {
	uint64_t low, high;  /* chunks in [low, high) */
	uint64_t *count;     /* of answers in chunk low + i, or with exact at most so many; owned; NULL: nobody knows */
	bool exact;	     /* count is what decoding will give */
	uint64_t candidates; /* chunks that may have any */
	const char *list;    /* what told; NULL: nothing, for this reason */
	const char *no_list;
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

#endif
