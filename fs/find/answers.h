/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where all answers of a hart are, counted: by the lists of a summary if these count exactly, otherwise by decoding the
 * chunks that may have any. Internal to fs/find/.
 */
#ifndef HF_FIND_ANSWERS_H
#define HF_FIND_ANSWERS_H

#include "fs/find/chunk.h"
#include "fs/find/plan.h"

struct hf_answers_row {
	uint64_t chunk, before; /* so many answers are in the chunks before it */
};

struct hf_answers {
	struct hf_answers_row *row; /* each has answers; owned */
	size_t count;
	uint64_t total;
	uint64_t unknown; /* instructions of which the trace does not tell whether they are answers */
};

/*
 * ask: of all chunks of the hart of source. HF_ERR_WHERE_LIMIT: chunks of more than that many instructions would have to
 * be decoded. HF_ERR_STATE: the summary of ask is damaged. Nothing is owned after an error.
 */
int hf_answers_count(const struct hf_find_ask *ask, const struct hf_find_source *source, uint64_t most_insns,
		     struct hf_worker *worker, struct hf_answers *ret_answers);
/* Whether there are any, or may be: then it ends at the first chunk. */
int hf_answers_any(const struct hf_find_ask *ask, const struct hf_find_source *source, struct hf_worker *worker,
		   bool *ret_any);
void hf_answers_fini(struct hf_answers *answers);

/* How many are in chunk row[i]. */
static inline uint64_t hf_answers_in(const struct hf_answers *answers, size_t i)
{
	return (i + 1 < answers->count ? answers->row[i + 1].before : answers->total) - answers->row[i].before;
}

#endif
