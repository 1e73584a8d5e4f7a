/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/keys.h"

#include "codecs/base/bytes.h"
#include "codecs/base/array.h"

static bool is_key(const struct hf_key *key, uint64_t a, uint64_t b, bool maybe)
{
	return key->a == a && key->b == b && key->maybe == maybe;
}

int hf_keys_find(struct hf_keys *k, uint64_t a, uint64_t b, bool maybe, uint32_t *ret_number)
{
	const uint32_t hash = hf_hash_of(a << 1 | maybe, b);
	int err;

	*ret_number = k->recent;
	if (k->recent < k->count && is_key(&k->key[k->recent], a, b, maybe))
		return 0;
	HF_HASH_EACH(&k->map, hash, i)
		if (is_key(&k->key[i], a, b, maybe)) {
			*ret_number = k->recent = i;
			return 0;
		}
	err = hf_hash_map_add_row(&k->map, hash, &k->key, sizeof *k->key);
	if (err)
		return err;
	*ret_number = k->recent = k->count;
	k->key[k->count++] = (struct hf_key){.a = a, .b = b, .maybe = maybe};
	return 0;
}

void hf_keys_note(struct hf_keys *k, uint32_t number, uint64_t group, uint64_t count)
{
	struct hf_key *key = &k->key[number];

	if (!key->total)
		key->first = group;
	key->last = group;
	key->total += count;
}

void hf_keys_free(struct hf_keys *k)
{
	free(k->key);
	hf_hash_map_free(&k->map);
	*k = (struct hf_keys){0};
}

/* ---- as bytes ---- */

void hf_keys_code(const struct hf_keys *k, struct hf_raw *raw)
{
	hf_raw_number(raw, k->count);
	for (uint32_t i = 0; i < k->count; i++) {
		hf_raw_number(raw, k->key[i].a << 1 | k->key[i].maybe);
		hf_raw_number(raw, k->key[i].b);
		hf_raw_number(raw, k->key[i].total);
		hf_raw_number(raw, k->key[i].first);
		hf_raw_number(raw, k->key[i].last - k->key[i].first);
	}
}

int hf_keys_read(struct hf_keys *k, const uint8_t **p, const uint8_t *end)
{
	uint64_t count, n[5];
	uint32_t number;
	int err;

	*p = hf_get_varint(*p, end, &count);
	if (!*p || count > (size_t)(end - *p))
		return HF_ERR_STATE;
	for (uint32_t at = 0; at < count; at++) {
		for (unsigned i = 0; i < 5 && *p; i++)
			*p = hf_get_varint(*p, end, &n[i]);
		if (!*p || n[2] > INT64_MAX || n[3] > INT64_MAX || n[4] > INT64_MAX)
			return HF_ERR_STATE;
		err = hf_keys_find(k, n[0] >> 1, n[1], n[0] & 1, &number);
		if (err || number != at)
			return err ? err : HF_ERR_STATE;
		k->key[at].total = n[2];
		k->key[at].first = n[3];
		k->key[at].last = n[3] + n[4];
	}
	return 0;
}
