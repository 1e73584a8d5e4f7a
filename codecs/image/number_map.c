/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/number_map.h"

#include "codecs/base/err.h"

#include <stdlib.h>
#include <xxhash.h>

/* Where key is, or would be. */
static struct hf_number_map_slot *find(const struct hf_number_map *map, uint64_t key)
{
	size_t i = (size_t)XXH3_64bits(&key, sizeof key) & (map->cap - 1);

	while (map->slot[i].value && map->slot[i].key != key)
		i = (i + 1) & (map->cap - 1);
	return &map->slot[i];
}

uint32_t hf_number_map_get(const struct hf_number_map *map, uint64_t key)
{
	return map->cap ? find(map, key)->value : 0;
}

static int grow(struct hf_number_map *map)
{
	struct hf_number_map bigger = {.cap = map->cap ? map->cap * 2 : 64, .count = map->count};

	bigger.slot = calloc(bigger.cap, sizeof *bigger.slot);
	if (!bigger.slot)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < map->cap; i++)
		if (map->slot[i].value)
			*find(&bigger, map->slot[i].key) = map->slot[i];
	free(map->slot);
	*map = bigger;
	return 0;
}

int hf_number_map_add(struct hf_number_map *map, uint64_t key, uint32_t value)
{
	const int err = map->count * 2 >= map->cap ? grow(map) : 0;

	if (err)
		return err;
	*find(map, key) = (struct hf_number_map_slot){key, value};
	map->count++;
	return 0;
}

void hf_number_map_free(struct hf_number_map *map)
{
	free(map->slot);
	*map = (struct hf_number_map){.slot = NULL};
}
