/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/hash_map.h"
#include "codecs/base/array.h"

enum { FIRST_SLOTS = 64 };

static void put(struct hf_hash_map_slot *slots, uint32_t mask, struct hf_hash_map_slot slot)
{
	uint32_t at = slot.hash;

	while (slots[at & mask].number)
		at++;
	slots[at & mask] = slot;
}

static int grow(struct hf_hash_map *map)
{
	const uint32_t mask = map->slot ? 2 * map->mask + 1 : FIRST_SLOTS - 1;
	struct hf_hash_map_slot *slots = calloc((size_t)mask + 1, sizeof *slots);

	if (!slots)
		return HF_ERR_NOMEM;
	for (uint32_t i = 0; map->count && i <= map->mask; i++)
		if (map->slot[i].number)
			put(slots, mask, map->slot[i]);
	free(map->slot);
	map->slot = slots;
	map->mask = mask;
	return 0;
}

int hf_hash_map_add(struct hf_hash_map *map, uint32_t hash, uint32_t number)
{
	const bool full = !map->slot || map->count > map->mask / 3 * 2;
	int err = full ? grow(map) : 0;

	if (err)
		return err;
	put(map->slot, map->mask, (struct hf_hash_map_slot){hash, number + 1});
	map->count++;
	return 0;
}

int hf_hash_map_add_row(struct hf_hash_map *map, uint32_t hash, void *rows, size_t size)
{
	int err = hf_array_room(rows, map->count, size);

	return err ? err : hf_hash_map_add(map, hash, map->count);
}

void hf_hash_map_free(struct hf_hash_map *map)
{
	free(map->slot);
	*map = (struct hf_hash_map){0};
}
