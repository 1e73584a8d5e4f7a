/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory against time: a row for each block of addresses that something happened in, a column for each piece of time.
 * Where there would be too many rows, blocks become larger. Internal to fs/profile/.
 */
#ifndef HF_FS_PROFILE_BLOCK_MAP_H
#define HF_FS_PROFILE_BLOCK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No map has more rows. */
#define HF_BLOCK_ROWS 160u
/* The smallest blocks: of 64 bytes, as a summary has them. */
#define HF_BLOCK_SHIFT 6u

/* What the memory of a block is used for, as far as it is known. */
enum { HF_BLOCK_STACK = 1, HF_BLOCK_HEAP = 2 };

struct hf_block_row {
	uint64_t block; /* its addresses less the low bits */
	float *cell;	/* for each column: a sum, or a set of bits */
	uint8_t holds;
};

struct hf_block_map {
	bool sums; /* cells add up; else they are sets */
	uint32_t columns;
	unsigned shift; /* 1 << shift bytes a block */
	struct hf_block_row *row;
	uint32_t count;
	uint32_t *slot;		   /* number of a row plus 1; 0: free */
	struct hf_block_row *near; /* the row that was reached last; NULL: none */
};

/* HF_ERR_NOMEM; to be freed in any case. */
int hf_block_map_init(struct hf_block_map *map, uint32_t columns, bool sums);
void hf_block_map_free(struct hf_block_map *map);
/* Rows for all blocks of the addresses. HF_ERR_NOMEM. */
int hf_block_map_reach(struct hf_block_map *map, uint64_t first, uint64_t last);
/* The row of a block that was reached. */
struct hf_block_row *hf_block_map_row(const struct hf_block_map *map, uint64_t block);
/* From the lowest block on; slots are of no use from here on. */
void hf_block_map_sort(struct hf_block_map *map);

#endif
