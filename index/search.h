/* SPDX-License-Identifier: Apache-2.0 */
/* Which chunk holds a place: a search over keys (ordinals, offsets) that grow with the chunk's number. Internal. */
#ifndef HF_INDEX_SEARCH_H
#define HF_INDEX_SEARCH_H

#include <stdint.h>

/* The key of chunk number. */
typedef int (*hf_key_fn)(void *ctx, uint64_t number, uint64_t *ret_key);

/*
 * The last of count chunks whose key is not above target; keys begin with 0 and end below total > target. HF_ERR_STATE
 * if they are met out of order.
 */
int hf_search(hf_key_fn key, void *ctx, uint64_t count, uint64_t total, uint64_t target, uint64_t *ret_number);

#endif
