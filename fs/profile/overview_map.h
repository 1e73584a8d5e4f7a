/* SPDX-License-Identifier: Apache-2.0 */
/* A map of memory as it is drawn: rows of points, with gaps where addresses jump. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_OVERVIEW_MAP_H
#define HF_FS_PROFILE_OVERVIEW_MAP_H

#include "fs/profile/block_map.h"
#include "fs/profile/svg.h"

/* Rows that lie near each other. */
struct hf_map_group {
	uint32_t first, end;  /* numbers of rows */
	uint32_t top, bottom; /* pixels */
	bool named;	      /* there is room for a line of text above it */
};

struct hf_map_drawing {
	const struct hf_block_map *map;
	uint32_t row_height, gap, height; /* pixels; gap: between groups that are not named */
	uint32_t *top;			  /* of each row */
	struct hf_map_group *group;
	uint32_t groups;
};

/* Pixels of a name above a group. */
#define HF_MAP_NAME 14u

/* HF_ERR_NOMEM; to be freed in any case. */
int hf_map_lay_out(const struct hf_block_map *map, struct hf_map_drawing *ret_drawing);
void hf_map_free(struct hf_map_drawing *drawing);
/* Its points, into the element that is open: sums as steps of a scale, sets by colour. */
int hf_map_put(const struct hf_map_drawing *drawing, struct hf_svg *svg);
/* The greatest sum. */
float hf_map_most(const struct hf_block_map *map);

/* Colours: steps of the scale from 1 on; of a set read, written, both. */
#define HF_MAP_STEPS 15u
extern const uint32_t hf_map_scale[HF_MAP_STEPS + 1], hf_map_sets[4];

#endif
