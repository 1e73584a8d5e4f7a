/* SPDX-License-Identifier: Apache-2.0 */
/* Two harts side by side. Internal to fs/diff/. */
#ifndef HF_DIFF_PAIR_H
#define HF_DIFF_PAIR_H

#include "fs/diff/diff.h"
#include "fs/diff/side.h"

struct hf_diff_pair {
	const struct hf_diff *diff;
	struct hf_diff_side side[2];
	bool values;	  /* of accesses are compared too */
	uint64_t digests; /* see hf_diff_told */
	unsigned which;	  /* of an error: the side */
	uint64_t looked;  /* instructions of the windows in which it was looked for a place to meet */
};

/* search.c: from the instructions at[0] and at[1] on, how many are equal. */
int hf_diff_search(struct hf_diff_pair *pair, const uint64_t at[2], uint64_t *ret_insns);

/* realign.c: from two different instructions on, how many of each side have to be passed over to get where both are equal
 * again; what ret_kind says of it. */
int hf_diff_realign(struct hf_diff_pair *pair, const uint64_t at[2], uint64_t ret_pass[2], enum hf_diff_kind *ret_kind);

/* The windows of both begin at these instructions; each has at least count of them, or all up to the end of the hart. */
static inline int hf_diff_pair_move(struct hf_diff_pair *pair, const uint64_t at[2])
{
	int err = 0;

	for (unsigned i = 0; !err && i < 2; i++) {
		pair->which = i;
		err = hf_diff_side_move(&pair->side[i], at[i]);
	}
	return err;
}

static inline int hf_diff_pair_fill(struct hf_diff_pair *pair, uint64_t count)
{
	int err = 0;

	for (unsigned i = 0; !err && i < 2; i++) {
		pair->which = i;
		err = hf_diff_side_fill(&pair->side[i], count);
	}
	return err;
}

static inline bool hf_diff_same(const struct hf_diff_pair *pair, const struct hf_diff_item *a,
				const struct hf_diff_item *b)
{
	return hf_diff_same_code(a, b) && a->access == b->access && (!pair->values || a->value == b->value);
}

#endif
