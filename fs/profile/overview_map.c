/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/overview_map.h"

#include <stdlib.h>
#include <string.h>

/* Pixels: of a map without names, unless it has more rows; of a row; of a gap. NEAR: blocks that are missing in a group.
 * NAMES: so many groups have names; of more only those that have at least this part of all rows. */
enum { HEIGHT = 340, ROW_MAX = 7, GAP = 5, NEAR = 16, NAMES = 20 };

/* Viridis from light to dark, so that on white more is darker. The picture inverts it where the background is dark. */
const uint32_t hf_map_scale[HF_MAP_STEPS + 1] = {0,	   0xd2e21b, 0xa5db36, 0x7ad151, 0x54c568, 0x35b779,
						 0x22a884, 0x1f988b, 0x23888e, 0x2a788e, 0x31688e, 0x39568c,
						 0x414487, 0x472f7d, 0x481a6c, 0x440154};
/* Of Okabe and Ito's colours, with a darker one where both are: they differ in lightness too. */
const uint32_t hf_map_sets[4] = {0, 0x56b4e9, 0xd55e00, 0x3b1f4d};

/* Blocks without a row before that row. */
static uint64_t missing_before(const struct hf_block_map *map, uint32_t row)
{
	return row ? map->row[row].block - map->row[row - 1].block - 1 : UINT64_MAX;
}

static uint32_t gap_before(const struct hf_map_drawing *d, uint32_t row)
{
	const uint64_t missing = missing_before(d->map, row);

	return !row || !missing ? 0 : missing <= NEAR ? 1 : d->gap;
}

static uint32_t height_of(const struct hf_map_drawing *d)
{
	uint32_t height = d->map->count * d->row_height;

	for (uint32_t i = 0; i < d->map->count; i++)
		height += gap_before(d, i);
	return height;
}

/* The largest rows and gaps with which all of it has room. */
static void choose_heights(struct hf_map_drawing *d)
{
	d->row_height = ROW_MAX;
	d->gap = GAP;
	while (d->row_height > 1 && height_of(d) > HEIGHT)
		d->row_height--;
	while (d->gap > 2 && height_of(d) > HEIGHT)
		d->gap--;
}

static void find_groups(struct hf_map_drawing *d)
{
	for (uint32_t i = 0; i < d->map->count; i++) {
		if (missing_before(d->map, i) > NEAR)
			d->group[d->groups++].first = i;
		d->group[d->groups - 1].end = i + 1;
	}
	for (uint32_t g = 0; g < d->groups; g++)
		d->group[g].named = d->groups <= NAMES || (d->group[g].end - d->group[g].first) * NAMES >= d->map->count;
}

static void place_group(struct hf_map_drawing *d, struct hf_map_group *group)
{
	group->top = d->height + (group->named ? HF_MAP_NAME : gap_before(d, group->first));
	d->height = group->top;
	for (uint32_t i = group->first; i < group->end; i++) {
		d->top[i] = d->height + (i == group->first ? 0 : gap_before(d, i));
		d->height = d->top[i] + d->row_height;
	}
	group->bottom = d->height;
}

int hf_map_lay_out(const struct hf_block_map *map, struct hf_map_drawing *ret_drawing)
{
	struct hf_map_drawing *d = ret_drawing;

	*d = (struct hf_map_drawing){.map = map};
	d->group = calloc(map->count + 1, sizeof *d->group);
	d->top = calloc(map->count + 1, sizeof *d->top);
	if (!d->group || !d->top)
		return HF_ERR_NOMEM;
	choose_heights(d);
	find_groups(d);
	for (uint32_t g = 0; g < d->groups; g++)
		place_group(d, &d->group[g]);
	return 0;
}

void hf_map_free(struct hf_map_drawing *drawing)
{
	free(drawing->group);
	free(drawing->top);
	*drawing = (struct hf_map_drawing){0};
}

float hf_map_most(const struct hf_block_map *map)
{
	float most = 0;

	for (uint32_t i = 0; i < map->count; i++)
		for (uint32_t c = 0; c < map->columns; c++)
			most = map->row[i].cell[c] > most ? map->row[i].cell[c] : most;
	return most;
}

/* The logarithm to base 2, of 1 and more; between powers of two on a straight line. */
static float log2_of(float n)
{
	uint32_t bits;

	memcpy(&bits, &n, sizeof bits);
	return (float)bits / (1u << 23) - 127;
}

/* range: of the logarithm of the greatest cell. */
static uint8_t colour_of(const struct hf_block_map *map, float cell, float range)
{
	unsigned step;

	if (!map->sums || cell <= 0)
		return cell > 0 ? (uint8_t)cell : 0;
	step = 1 + (unsigned)(log2_of(1 + cell) / range * (HF_MAP_STEPS - 1));
	return (uint8_t)(step < HF_MAP_STEPS ? step : HF_MAP_STEPS);
}

static void fill_row(const struct hf_map_drawing *d, uint32_t row, float range, uint8_t *point)
{
	const size_t width = d->map->columns;

	for (uint32_t c = 0; c < width; c++)
		point[c] = colour_of(d->map, d->map->row[row].cell[c], range);
	for (uint32_t y = 1; y < d->row_height; y++)
		memcpy(point + y * width, point, width);
}

int hf_map_put(const struct hf_map_drawing *drawing, struct hf_svg *svg)
{
	const struct hf_block_map *map = drawing->map;
	const float range = log2_of(1 + hf_map_most(map));
	uint8_t *point = calloc((size_t)drawing->height + 1, map->columns);
	const struct hf_points points = {.width = map->columns,
					 .height = drawing->height,
					 .point = point,
					 .palette = map->sums ? hf_map_scale : hf_map_sets,
					 .colours = map->sums ? HF_MAP_STEPS + 1 : 4};
	int err = point ? 0 : HF_ERR_NOMEM;

	for (uint32_t i = 0; !err && i < map->count; i++)
		fill_row(drawing, i, range, point + (size_t)drawing->top[i] * map->columns);
	if (!err && drawing->height)
		err = hf_svg_put_points(svg, &points, map->columns < 800 ? "ov-heat ov-coarse" : "ov-heat");
	free(point);
	return err;
}
