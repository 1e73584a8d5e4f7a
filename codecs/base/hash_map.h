/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which row of an array has a key: numbers of rows by hash. Who has the array compares the keys:
 *
 *	HF_HASH_EACH(&map, hash, i)
 *		if (row[i].key == key)
 *			return i;
 */
#ifndef HF_BASE_HASH_MAP_H
#define HF_BASE_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A zeroed one is empty. At most two thirds of its slots are used, of 8 bytes each. */
struct hf_hash_map {
	struct hf_hash_map_slot {
		uint32_t hash, number; /* of a row, plus 1; 0: the slot is free */
	} *slot;
	uint32_t mask, count;
};

static inline uint32_t hf_hash_of(uint64_t a, uint64_t b)
{
	const uint64_t n = (a ^ (b << 32 | b >> 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(n >> 32 ^ n);
}

/* The next row with that hash. *at is the hash before the first one. */
static inline bool hf_hash_map_next(const struct hf_hash_map *map, uint32_t hash, uint32_t *at, uint32_t *ret_number)
{
	while (map->count && map->slot[*at & map->mask].number) {
		const struct hf_hash_map_slot *slot = &map->slot[(*at)++ & map->mask];

		*ret_number = slot->number - 1;
		if (slot->hash == hash)
			return true;
	}
	return false;
}

#define HF_HASH_EACH(map, hash, number) \
	for (uint32_t number##_at = (hash), number; hf_hash_map_next((map), (hash), &number##_at, &number);)

/* number must not be there yet. HF_ERR_NOMEM changes nothing. */
int hf_hash_map_add(struct hf_hash_map *map, uint32_t hash, uint32_t number);
/* The same of the row behind all others, for which it makes room: rows is as for hf_array_room, and has map->count rows. */
int hf_hash_map_add_row(struct hf_hash_map *map, uint32_t hash, void *rows, size_t size);
void hf_hash_map_free(struct hf_hash_map *map);

#endif
