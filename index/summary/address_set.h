/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which units of memory (words, lines, pages...) were touched since it was emptied, and the ranges that they make up.
 * Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_ADDRESS_SET_H
#define HF_INDEX_SUMMARY_ADDRESS_SET_H

#include "index/summary/keep.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is longer is kept as it is. */
#define HF_ADDRESS_SET_LONG 512u

/* Units, both belong to it. */
struct hf_range {
	uint64_t first, last;
};

struct hf_address_set_block {
	uint64_t number, bits; /* of units number * 64 + bit */
	uint32_t slot;
};

struct hf_address_set {
	struct hf_address_set_block *blocks, *spare;
	uint16_t *slots;	       /* number of a block, or 0, which is none */
	struct hf_address_set_block *last; /* the one that was hit last */
	struct hf_range *longs, *ranges;
	uint32_t count, long_count;
	uint32_t room; /* of ranges */
};

/* Into a zeroed one, to be finished in any case. HF_ERR_NOMEM. */
int hf_address_set_init(struct hf_address_set *t);
void hf_address_set_fini(struct hf_address_set *t);
bool hf_address_set_add_slowly(struct hf_address_set *t, uint64_t first, uint64_t last);
/* Takes all of it: the ranges in their order, valid until it is asked again, with something untouched between each two.
 * HF_ERR_NOMEM: nothing was taken. */
int hf_address_set_take(struct hf_address_set *t, const struct hf_range **ret_ranges, size_t *ret_n);

/* To a file and back, into an empty one. */
void hf_address_set_keep(struct hf_address_set *t, struct hf_keep *keep);

/* Units first to last. False: it is full, and to be taken before more can be added; part of it may have been. */
static inline bool hf_address_set_add(struct hf_address_set *t, uint64_t first, uint64_t last)
{
	const uint64_t number = first / 64;

	if (t->last->number != number || last / 64 != number)
		return hf_address_set_add_slowly(t, first, last);
	t->last->bits |= (UINT64_MAX >> (63 - (last - first))) << first % 64;
	return true;
}

#endif
