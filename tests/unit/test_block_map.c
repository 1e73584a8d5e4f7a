/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of memory whose blocks become larger: nothing that was put is lost, whatever the order and the addresses. */
#include "fs/profile/block_map.h"
#include "codecs/base/err.h"
#include "tests/lib/check.h"

enum { COLUMNS = 3 };

static uint64_t address_of(unsigned i, unsigned spread)
{
	const uint64_t n = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return i == 7 ? UINT64_MAX : i == 9 ? 0 : n >> spread;
}

static float sum_of(const struct hf_block_map *map)
{
	float sum = 0;

	for (uint32_t i = 0; i < map->count; i++)
		for (uint32_t c = 0; c < COLUMNS; c++)
			sum += map->row[i].cell[c];
	return sum;
}

static void fill(struct hf_block_map *map, unsigned n, unsigned spread, bool backwards)
{
	CHECK_EQ(hf_block_map_init(map, COLUMNS, true), 0);
	for (unsigned k = 0; k < n; k++) {
		const unsigned i = backwards ? n - 1 - k : k;
		const uint64_t address = address_of(i, spread);

		CHECK_EQ(hf_block_map_reach(map, address, address), 0);
		hf_block_map_row(map, address >> map->shift)->cell[i % COLUMNS] += 1;
		CHECK(map->count <= HF_BLOCK_ROWS);
	}
	hf_block_map_sort(map);
}

/* The same whatever came first. */
static void check_spread(unsigned n, unsigned spread)
{
	struct hf_block_map a, b;

	fill(&a, n, spread, false);
	fill(&b, n, spread, true);
	CHECK_EQ(a.shift, b.shift);
	CHECK_EQ(a.count, b.count);
	CHECK(sum_of(&a) == (float)n && sum_of(&b) == (float)n);
	for (uint32_t i = 0; i < a.count; i++) {
		CHECK_EQ(a.row[i].block, b.row[i].block);
		CHECK(!i || a.row[i].block > a.row[i - 1].block);
		for (uint32_t c = 0; c < COLUMNS; c++)
			CHECK(a.row[i].cell[c] == b.row[i].cell[c]);
	}
	hf_block_map_free(&a);
	hf_block_map_free(&b);
}

/* A range as large as memory, and sets. */
static void check_all(void)
{
	struct hf_block_map map;

	CHECK_EQ(hf_block_map_init(&map, COLUMNS, false), 0);
	CHECK_EQ(hf_block_map_reach(&map, 0x1000, 0x1000), 0);
	hf_block_map_row(&map, 0x1000 >> map.shift)->cell[0] = 1;
	CHECK_EQ(hf_block_map_reach(&map, 0x1040, 0x1040), 0);
	hf_block_map_row(&map, 0x1040 >> map.shift)->cell[0] = 2;
	CHECK_EQ(map.count, 2);
	CHECK_EQ(hf_block_map_reach(&map, 0, UINT64_MAX), 0);
	CHECK_EQ(map.count, UINT64_C(1) << (64 - map.shift));
	CHECK(hf_block_map_row(&map, 0)->cell[0] == 3);
	hf_block_map_free(&map);
}

int main(void)
{
	for (unsigned n = 1; n <= 10000; n *= 10)
		for (unsigned spread = 0; spread < 64; spread += 9)
			check_spread(n, spread);
	check_all();
	return 0;
}
