/* SPDX-License-Identifier: Apache-2.0 */
#include "index/search.h"

#include "codecs/base/err.h"

/* Chunks are nearly even in most traces, so that the first guess hits; bisection bounds the cost in the others. */
#define GUESSES 4

int hf_search(hf_key_fn key, void *ctx, uint64_t count, uint64_t total, uint64_t target, uint64_t *ret_number)
{
	uint64_t low = 0, high = count, low_key = 0, high_key = total;

	if (!count || target >= total)
		return HF_ERR_NOT_FOUND;
	for (unsigned round = 0; high - low > 1; round++) {
		uint64_t at = low + (high - low) / 2, at_key;
		int err;

		if (round < GUESSES) {
			double share = (double)(target - low_key) / (double)(high_key - low_key);

			at = low + (uint64_t)(share * (double)(high - low));
			if (at <= low)
				at = low + 1;
			if (at >= high)
				at = high - 1;
		}
		err = key(ctx, at, &at_key);
		if (err)
			return err;
		if (at_key < low_key || at_key > high_key)
			return HF_ERR_STATE;
		if (at_key <= target) {
			low = at;
			low_key = at_key;
		} else {
			high = at;
			high_key = at_key;
		}
	}
	*ret_number = low;
	return 0;
}
