/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/pack_format.h"

#include "codecs/base/bytes.h"
#include "index/table/db.h"

#include <xxhash.h>

void hf_pack_head_put(const struct hf_pack_head *head, uint8_t *to)
{
	memcpy(to, HF_PACK_MAGIC, 8);
	hf_put32(to + 8, head->version);
	hf_put32(to + 12, head->count);
	hf_put64(to + 16, head->sequence);
	hf_put64(to + 24, head->size);
	hf_put32(to + 32, head->samples_packed);
	hf_put32(to + 36, 0);
	hf_put32(to + 40, head->sample_size[0]);
	hf_put32(to + 44, head->sample_size[1]);
	hf_put64(to + 48, head->samples_sum);
	hf_put64(to + 56, head->entries_sum);
	hf_put64(to + 64, XXH3_64bits(to, 64));
}

bool hf_pack_head_get(const uint8_t *from, struct hf_pack_head *ret_head)
{
	if (memcmp(from, HF_PACK_MAGIC, 8) != 0 || hf_get64(from + 64) != XXH3_64bits(from, 64))
		return false;
	*ret_head = (struct hf_pack_head){
		.version = hf_get32(from + 8),
		.count = hf_get32(from + 12),
		.sequence = hf_get64(from + 16),
		.size = hf_get64(from + 24),
		.samples_packed = hf_get32(from + 32),
		.sample_size = {hf_get32(from + 40), hf_get32(from + 44)},
		.samples_sum = hf_get64(from + 48),
		.entries_sum = hf_get64(from + 56),
	};
	return true;
}

void hf_pack_entry_put(const struct hf_pack_entry *entry, uint8_t *to)
{
	memcpy(to, entry->key.bytes, HF_PACK_KEY_SIZE);
	to += HF_PACK_KEY_SIZE;
	hf_put32(to, entry->packed);
	hf_put32(to + 4, entry->size | (entry->index ? HF_PACK_IS_INDEX : 0));
	hf_put64(to + 8, entry->offset);
	hf_put64(to + 16, entry->sum);
}

void hf_pack_entry_get(const uint8_t *from, struct hf_pack_entry *ret_entry)
{
	*ret_entry = (struct hf_pack_entry){0};
	memcpy(ret_entry->key.bytes, from, HF_PACK_KEY_SIZE);
	from += HF_PACK_KEY_SIZE;
	ret_entry->packed = hf_get32(from);
	ret_entry->size = hf_get32(from + 4) & ~HF_PACK_IS_INDEX;
	ret_entry->index = hf_get32(from + 4) & HF_PACK_IS_INDEX;
	ret_entry->offset = hf_get64(from + 8);
	ret_entry->sum = hf_get64(from + 16);
}

void hf_pack_differ(uint8_t *bytes, const struct hf_pack_entry *entry, const uint8_t *samples,
		    const uint32_t sample_size[2])
{
	const uint8_t *sample = entry->index ? samples : samples + sample_size[0];
	const uint32_t most = sample_size[entry->index ? 0 : 1], n = entry->size < most ? entry->size : most;
	uint32_t i = 0;

	for (; n - i >= 8; i += 8)
		hf_put64(bytes + i, hf_get64(bytes + i) ^ hf_get64(sample + i));
	for (; i < n; i++)
		bytes[i] ^= sample[i];
}
