/* SPDX-License-Identifier: Apache-2.0 */
/* Short sequences of instructions that are in both windows, the rarest of them. Internal to fs/diff/. */
#ifndef HF_DIFF_ANCHORS_H
#define HF_DIFF_ANCHORS_H

#include "fs/diff/side.h"

/* So many are given. */
#define HF_DIFF_ANCHORS 64

/* Where a sequence begins first, in either window, and how rare it is: in how many pairs of places, up to 255 * 255. */
struct hf_diff_anchor {
	uint32_t at[2];
	uint32_t pairs;
};

/*
 * Sequences of length instructions, which have the same hash at least: anchors[HF_DIFF_ANCHORS], the rarest first, of
 * equally rare ones that with the least sum of both places. Of windows of more than 2^14 instructions only each eighth
 * sequence is looked at, chosen by what it is. HF_ERR_NOMEM.
 */
int hf_diff_anchors(const struct hf_diff_item *a, size_t a_count, const struct hf_diff_item *b, size_t b_count,
		    unsigned length, struct hf_diff_anchor *ret_anchors, size_t *ret_count);

#endif
