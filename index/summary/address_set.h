/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of units of memory (words, lines, pages...) that were touched since it was emptied, and their ranges.
 * Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_ADDRESS_SET_H
#define HF_INDEX_SUMMARY_ADDRESS_SET_H

#include "index/summary/keep.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer ranges are kept as ranges. */
#define HF_ADDRESS_SET_LONG 512u

/* Units, inclusive. */
struct hf_range {
	uint64_t first, last;
};

struct hf_address_set_block {
	uint64_t number, bits; /* of units number * 64 + bit */
	uint32_t slot;
};

struct hf_address_set {
	struct hf_address_set_block *blocks, *spare;
	uint16_t *slots;	       /* hash table: number of a block, or 0 */
	struct hf_address_set_block *last; /* the one that was hit last */
	struct hf_range *longs, *ranges;
	uint32_t count, long_count;
	uint32_t room; /* for ranges */
};

/* t is zeroed, and to be finished also after HF_ERR_NOMEM. */
int hf_address_set_init(struct hf_address_set *t);
void hf_address_set_fini(struct hf_address_set *t);
bool hf_address_set_add_slowly(struct hf_address_set *t, uint64_t first, uint64_t last);
/* Empties it: its ranges in ascending order, with something untouched between each two, valid until the next call.
 * HF_ERR_NOMEM: it is unchanged. */
int hf_address_set_take(struct hf_address_set *t, const struct hf_range **ret_ranges, size_t *ret_n);

/* To a file and back, into an empty one. */
void hf_address_set_keep(struct hf_address_set *t, struct hf_keep *keep);

/* Adds units first to last. False: it is full, and must be taken first; some of them may have been added. */
static inline bool hf_address_set_add(struct hf_address_set *t, uint64_t first, uint64_t last)
{
	const uint64_t number = first / 64;

	if (t->last->number != number || last / 64 != number)
		return hf_address_set_add_slowly(t, first, last);
	t->last->bits |= (UINT64_MAX >> (63 - (last - first))) << first % 64;
	return true;
}

#endif
