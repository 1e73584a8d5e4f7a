/* SPDX-License-Identifier: Apache-2.0 */
/* A stable radix sort by 64-bit keys, over the bytes in which they differ. */
#ifndef HF_INDEX_SUMMARY_ORDER_H
#define HF_INDEX_SUMMARY_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hf_order_key(const uint8_t *item)
{
	uint64_t key;

	memcpy(&key, item, sizeof key);
	return key;
}

/* n items of size bytes, each beginning with its key, a uint64_t. spare: room for as many. */
static inline __attribute__((always_inline)) void hf_order(void *items, void *spare, size_t n, const size_t size)
{
	uint8_t *from = items, *to = spare;
	uint64_t differ = 0;

	for (size_t i = 1; i < n; i++)
		differ |= hf_order_key(from + i * size) ^ hf_order_key(from);
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t at[256] = {0}, before = 0;
		uint8_t *const sorted = to;

		if (!(differ >> shift & 255))
			continue;
		for (size_t i = 0; i < n; i++)
			at[hf_order_key(from + i * size) >> shift & 255]++;
		for (unsigned i = 0; i < 256; i++) {
			const size_t count = at[i];

			at[i] = before;
			before += count;
		}
		for (size_t i = 0; i < n; i++)
			memcpy(to + at[hf_order_key(from + i * size) >> shift & 255]++ * size, from + i * size, size);
		to = from;
		from = sorted;
	}
	if (from != (uint8_t *)items)
		memcpy(items, from, n * size);
}

#endif
