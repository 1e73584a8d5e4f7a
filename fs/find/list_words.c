/* SPDX-License-Identifier: Apache-2.0 */
/* The written and read memory of a summary: which chunks may touch a place. */
#include "fs/find/plan.h"

#include "index/summary/words.h"

/* Of a value alone every access may be an answer, and no list has values. */
static uint32_t serves(const struct hf_terms *terms)
{
	uint32_t bits = 0;

	for (uint32_t left = terms->access; left; left &= left - 1)
		if (terms->question->term[__builtin_ctz(left)].kind != HF_ASK_VALUE)
			bits |= left & -left;
	return bits;
}

/* What of the chunks of more is not in set yet. */
static void join(struct hf_chunk_set *set, const struct hf_chunk_set *more)
{
	uint64_t chunk = 0;

	while (hf_chunk_set_next(more, chunk, &chunk)) {
		if (!hf_chunk_set_has(set, chunk))
			hf_chunk_set_add(set, chunk, 1);
		chunk++;
	}
}

/* Adds the chunks that write, or read, one of the term's places, or a place that nobody knows. */
static int add_chunks(const struct hf_find_ask *ask, unsigned term, enum hf_words_what what, struct hf_chunk_set *set)
{
	int err = 0;

	for (size_t i = 0; !err && i < ask->terms->place[term].count; i++) {
		const struct hf_find_range *range = &ask->terms->place[term].range[i];
		const struct hf_words_place place = {
			.first = range->first, .last = range->last, .low = ask->low, .high = ask->high, .anywhere = true};
		struct hf_chunk_set chunks;

		err = hf_words_find_in(ask->summary, ask->hart, what, &place, &chunks, NULL);
		/* The trace tells of no access at all. */
		if (err == HF_ERR_UNSUPPORTED)
			return 0;
		if (err)
			return err;
		join(set, &chunks);
		hf_chunk_set_free(&chunks);
	}
	return err;
}

static int add_term(const struct hf_find_ask *ask, unsigned term, struct hf_chunk_set *set)
{
	const enum hf_question_kind kind = ask->terms->question->term[term].kind;
	int err = 0;

	if (kind != HF_ASK_READ)
		err = add_chunks(ask, term, HF_WORDS_WRITES, set);
	if (!err && kind != HF_ASK_WRITE)
		err = add_chunks(ask, term, HF_WORDS_READS, set);
	return err;
}

/* All terms must hold of one instruction, so each has to be possible in its chunk. Of how many is not known. */
static int count(const struct hf_find_ask *ask, uint64_t *counts, bool *exact)
{
	const uint64_t n = ask->high - ask->low;
	int err = 0;

	*exact = false;
	for (uint64_t i = 0; i < n; i++)
		counts[i] = UINT64_MAX;
	for (uint32_t left = serves(ask->terms); left && !err; left &= left - 1) {
		struct hf_chunk_set set;

		err = hf_chunk_set_init(&set, ask->high);
		if (!err)
			err = add_term(ask, (unsigned)__builtin_ctz(left), &set);
		for (uint64_t i = 0; !err && i < n; i++)
			if (!hf_chunk_set_has(&set, ask->low + i))
				counts[i] = 0;
		hf_chunk_set_free(&set);
	}
	return err;
}

const struct hf_find_list hf_find_list_words = {.name = "accesses", .serves = serves, .count = count};
