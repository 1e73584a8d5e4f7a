/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/block_map.h"
#include "codecs/base/err.h"

#include <stdlib.h>
#include <string.h>

/* Blocks grow by this factor, as a power of two. */
enum { STEP = 2, SLOTS = 1024 };

int hf_block_map_init(struct hf_block_map *map, uint32_t columns, bool sums)
{
	*map = (struct hf_block_map){.sums = sums, .columns = columns, .shift = HF_BLOCK_SHIFT};
	map->row = calloc(HF_BLOCK_ROWS, sizeof *map->row);
	map->slot = calloc(SLOTS, sizeof *map->slot);
	return map->row && map->slot ? 0 : HF_ERR_NOMEM;
}

void hf_block_map_free(struct hf_block_map *map)
{
	for (uint32_t i = 0; i < map->count; i++)
		free(map->row[i].cell);
	free(map->row);
	free(map->slot);
	*map = (struct hf_block_map){0};
}

/* Where the block is, or is to be. */
static uint32_t *slot_of(const struct hf_block_map *map, uint64_t block)
{
	size_t at = block * UINT64_C(0x9e3779b97f4a7c15) >> 54;

	while (map->slot[at] && map->row[map->slot[at] - 1].block != block)
		at = (at + 1) % SLOTS;
	return &map->slot[at];
}

struct hf_block_row *hf_block_map_row(const struct hf_block_map *map, uint64_t block)
{
	uint32_t number;

	if (map->near && map->near->block == block)
		return map->near;
	number = *slot_of(map, block);
	return number ? &map->row[number - 1] : NULL;
}

static void merge(const struct hf_block_map *map, float *to, const float *from)
{
	for (uint32_t i = 0; i < map->columns; i++)
		to[i] = map->sums ? to[i] + from[i] : (float)((unsigned)to[i] | (unsigned)from[i]);
}

/* Larger blocks: those that become one are put together. */
static void coarsen(struct hf_block_map *map)
{
	uint32_t kept = 0;

	memset(map->slot, 0, SLOTS * sizeof *map->slot);
	map->shift += STEP;
	map->near = NULL;
	for (uint32_t i = 0; i < map->count; i++) {
		struct hf_block_row row = {.block = map->row[i].block >> STEP, .cell = map->row[i].cell};
		uint32_t *slot = slot_of(map, row.block);

		if (*slot) {
			merge(map, map->row[*slot - 1].cell, row.cell);
			free(row.cell);
		} else {
			map->row[kept] = row;
			*slot = ++kept;
		}
	}
	map->count = kept;
}

static int add(struct hf_block_map *map, uint64_t block)
{
	uint32_t *slot = slot_of(map, block);
	float *cell;

	if (*slot)
		return 0;
	cell = calloc(map->columns, sizeof *cell);
	if (!cell)
		return HF_ERR_NOMEM;
	map->row[map->count] = (struct hf_block_row){.block = block, .cell = cell};
	*slot = ++map->count;
	return 0;
}

/* How many blocks of the addresses have no row yet, or one more than fit. */
static uint32_t missing(const struct hf_block_map *map, uint64_t first, uint64_t last)
{
	uint32_t n = 0;

	if ((last >> map->shift) - (first >> map->shift) >= HF_BLOCK_ROWS)
		return HF_BLOCK_ROWS + 1;
	for (uint64_t block = first >> map->shift;; block++) {
		n += !*slot_of(map, block);
		if (block == last >> map->shift)
			return n;
	}
}

int hf_block_map_reach(struct hf_block_map *map, uint64_t first, uint64_t last)
{
	int err = 0;

	/* Mostly it is where it was before. */
	if (map->near && map->near->block == first >> map->shift && map->near->block == last >> map->shift)
		return 0;
	while (map->count + missing(map, first, last) > HF_BLOCK_ROWS)
		coarsen(map);
	for (uint64_t block = first >> map->shift; !err; block++) {
		err = add(map, block);
		if (block == last >> map->shift)
			break;
	}
	if (!err)
		map->near = &map->row[*slot_of(map, first >> map->shift) - 1];
	return err;
}

static int by_block(const void *a, const void *b)
{
	const struct hf_block_row *x = a, *y = b;

	return x->block < y->block ? -1 : x->block > y->block;
}

void hf_block_map_sort(struct hf_block_map *map)
{
	map->near = NULL;
	if (map->count)
		qsort(map->row, map->count, sizeof *map->row, by_block);
}
