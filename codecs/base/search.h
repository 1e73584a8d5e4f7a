/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in rows that a 64-bit member puts into order. */
#ifndef HF_BASE_SEARCH_H
#define HF_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline size_t hf_count_up_to(const void *rows, size_t count, size_t size, size_t member, uint64_t key)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		uint64_t value;

		memcpy(&value, (const char *)rows + middle * size + member, sizeof value);
		if (value <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many of the first count rows have a member of at most key: the index of the first that has more. */
#define HF_COUNT_UP_TO(rows, count, member, key) \
	hf_count_up_to(rows, count, sizeof *(rows), offsetof(__typeof__(*(rows)), member), key)

/* The same of sorted numbers themselves. */
#define HF_NUMBERS_UP_TO(numbers, count, key) hf_count_up_to(numbers, count, sizeof(uint64_t), 0, key)

#endif
