/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/list_sets.h"

uint32_t hf_find_predicates_listed(const struct hf_predicates *predicates, uint32_t bits)
{
	uint32_t listed = 0;

	for (uint32_t left = bits; left; left &= left - 1)
		if (predicates->question->term[__builtin_ctz(left)].kind != HF_ASK_VALUE)
			listed |= left & -left;
	return listed;
}

/* All terms must hold of one instruction, so each has to be possible in its chunk. Of how many is not known. */
int hf_find_count_sets(const struct hf_find_ask *ask, uint32_t terms, hf_find_term_fn *add, uint64_t *counts, bool *exact)
{
	const uint64_t n = ask->high - ask->low;
	int err = 0;

	*exact = false;
	for (uint64_t i = 0; i < n; i++)
		counts[i] = UINT64_MAX;
	for (uint32_t left = terms; left && !err; left &= left - 1) {
		struct hf_chunk_set set;

		err = hf_chunk_set_init(&set, ask->high);
		if (!err)
			err = add(ask, (unsigned)__builtin_ctz(left), &set);
		for (uint64_t i = 0; !err && i < n; i++)
			if (!hf_chunk_set_has(&set, ask->low + i))
				counts[i] = 0;
		hf_chunk_set_free(&set);
	}
	return err;
}
