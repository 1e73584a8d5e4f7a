/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/once.h"

#include <xxhash.h>

bool hf_once_note(struct hf_once *once, uint64_t owner, uint64_t number)
{
	const uint64_t words[2] = {owner, number};
	const uint64_t bit = XXH3_64bits(words, sizeof words) % HF_ONCE_BITS, mask = UINT64_C(1) << bit % 64;

	if (atomic_fetch_or_explicit(&once->bits[bit / 64], mask, memory_order_relaxed) & mask)
		return false;
	if (atomic_fetch_add(&once->count, 1) + 1 == HF_ONCE_BITS / 2) {
		for (size_t i = 0; i < HF_ONCE_BITS / 64; i++)
			atomic_store_explicit(&once->bits[i], 0, memory_order_relaxed);
		atomic_store(&once->count, 0);
	}
	return true;
}
