/* SPDX-License-Identifier: Apache-2.0 */
/* The order of keys of an inverted index: by a, then b, then level. Internal to index/. */
#ifndef HF_INDEX_SUMMARY_INVERSE_ORDER_H
#define HF_INDEX_SUMMARY_INVERSE_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct hf_inverse_key {
	uint64_t a, b;
	uint8_t level; /* how coarse: 0 is exact, others are what the part says */
};

/* Below, at and above 0 as x is before, the same as and behind y. */
int hf_inverse_compare(const struct hf_inverse_key *x, const struct hf_inverse_key *y);

/* The numbers of n keys, in their order; keys that are the same come as they stand. The first key is that of number 0,
 * the next one stride bytes behind it. *ret_order: for free(). HF_ERR_NOMEM. */
int hf_inverse_order(const struct hf_inverse_key *keys, size_t stride, uint32_t n, uint32_t **ret_order);

#endif
