/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/chunk_set.h"

#include "codecs/base/err.h"

#include <stdlib.h>

int hf_chunk_set_init(struct hf_chunk_set *set, uint64_t chunks)
{
	*set = (struct hf_chunk_set){.bits = calloc((size_t)(chunks / 64 + 1), sizeof *set->bits), .chunks = chunks};
	return set->bits ? 0 : HF_ERR_NOMEM;
}

void hf_chunk_set_free(struct hf_chunk_set *set)
{
	free(set->bits);
	set->bits = NULL;
}

bool hf_chunk_set_has(const struct hf_chunk_set *set, uint64_t chunk)
{
	return chunk < set->chunks && set->bits[chunk / 64] >> chunk % 64 & 1;
}

void hf_chunk_set_add(struct hf_chunk_set *set, uint64_t first, uint64_t n)
{
	for (uint64_t chunk = first; chunk < set->chunks && chunk - first < n; chunk++) {
		set->count += !hf_chunk_set_has(set, chunk);
		set->bits[chunk / 64] |= UINT64_C(1) << chunk % 64;
	}
}

void hf_chunk_set_join(struct hf_chunk_set *set, const struct hf_chunk_set *more)
{
	uint64_t chunk = 0;

	while (hf_chunk_set_next(more, chunk, &chunk))
		hf_chunk_set_add(set, chunk++, 1);
}

bool hf_chunk_set_next(const struct hf_chunk_set *set, uint64_t chunk, uint64_t *ret_chunk)
{
	uint64_t word;

	if (chunk >= set->chunks)
		return false;
	word = set->bits[chunk / 64] & UINT64_MAX << chunk % 64;
	for (chunk /= 64; !word; word = set->bits[chunk])
		if (++chunk > (set->chunks - 1) / 64)
			return false;
	*ret_chunk = chunk * 64 + (unsigned)__builtin_ctzll(word);
	return true;
}

bool hf_chunk_set_previous(const struct hf_chunk_set *set, uint64_t chunk, uint64_t *ret_chunk)
{
	uint64_t word;

	if (!set->chunks)
		return false;
	if (chunk >= set->chunks)
		chunk = set->chunks - 1;
	word = set->bits[chunk / 64] & UINT64_MAX >> (63 - chunk % 64);
	for (chunk /= 64; !word; word = set->bits[chunk])
		if (!chunk--)
			return false;
	*ret_chunk = chunk * 64 + 63 - (unsigned)__builtin_clzll(word);
	return true;
}
