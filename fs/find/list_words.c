/* SPDX-License-Identifier: Apache-2.0 */
/* The written and read memory of a summary: which chunks may touch a place. */
#include "fs/find/list_sets.h"

#include "index/summary/words.h"

static uint32_t serves(const struct hf_predicates *predicates)
{
	return hf_find_predicates_listed(predicates, predicates->access);
}

/* Adds the chunks that write, or read, one of the term's places, or a place that nobody knows. */
static int add_chunks(const struct hf_find_ask *ask, unsigned term, enum hf_words_what what, struct hf_chunk_set *set)
{
	int err = 0;

	for (size_t i = 0; !err && i < ask->predicates->place[term].count; i++) {
		const struct hf_find_range *range = &ask->predicates->place[term].range[i];
		const struct hf_words_place place = {
			.first = range->first, .last = range->last, .low = ask->low, .high = ask->high, .anywhere = true};
		struct hf_chunk_set chunks;

		err = hf_words_find_in(ask->summary, ask->hart, what, &place, &chunks, NULL);
		/* The trace tells of no access at all. */
		if (err == HF_ERR_UNSUPPORTED)
			return 0;
		if (err)
			return err;
		hf_chunk_set_join(set, &chunks);
		hf_chunk_set_free(&chunks);
	}
	return err;
}

static int add_term(const struct hf_find_ask *ask, unsigned term, struct hf_chunk_set *set)
{
	const enum hf_question_kind kind = ask->predicates->question->term[term].kind;
	int err = 0;

	if (kind != HF_ASK_READ)
		err = add_chunks(ask, term, HF_WORDS_WRITES, set);
	if (!err && kind != HF_ASK_WRITE)
		err = add_chunks(ask, term, HF_WORDS_READS, set);
	return err;
}

static int count(const struct hf_find_ask *ask, uint64_t *counts, bool *exact)
{
	return hf_find_count_sets(ask, serves(ask->predicates), add_term, counts, exact);
}

const struct hf_find_list hf_find_list_words = {.name = "accesses", .serves = serves, .count = count};
