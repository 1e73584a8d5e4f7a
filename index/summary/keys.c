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
	int err = 0;

	*p = hf_get_varint(*p, end, &count);
	if (!*p || count > (size_t)(end - *p))
		return HF_ERR_STATE;
	for (; count && !err; count--) {
		for (unsigned i = 0; i < 5 && *p; i++)
			*p = hf_get_varint(*p, end, &n[i]);
		if (!*p || n[2] > INT64_MAX || n[3] > INT64_MAX || n[4] > INT64_MAX)
			return HF_ERR_STATE;
		err = hf_array_room(&k->key, k->count, sizeof *k->key);
		if (!err)
			k->key[k->count++] = (struct hf_key){.a = n[0] >> 1,
							     .maybe = n[0] & 1,
							     .b = n[1],
							     .total = n[2],
							     .first = n[3],
							     .last = n[3] + n[4]};
	}
	return err;
}

void hf_keys_keep(struct hf_keys *k, struct hf_keep *keep)
{
	uint32_t count = k->count;

	HF_KEEP(keep, count, UINT32_MAX / 2);
	for (uint32_t i = 0; i < count && !keep->err; i++) {
		struct hf_key key = keep->load ? (struct hf_key){0} : k->key[i];
		uint32_t number = i;

		HF_KEEP(keep, key.a, UINT64_MAX);
		HF_KEEP(keep, key.b, UINT64_MAX);
		HF_KEEP(keep, key.maybe, 1);
		HF_KEEP(keep, key.total, INT64_MAX);
		HF_KEEP(keep, key.first, INT64_MAX);
		HF_KEEP(keep, key.last, INT64_MAX);
		if (!keep->load || keep->err)
			continue;
		hf_keep_fail(keep, hf_keys_find(k, key.a, key.b, key.maybe, &number));
		hf_keep_check(keep, number == i);
		if (!keep->err)
			k->key[i] = key;
	}
}
