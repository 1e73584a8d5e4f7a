/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/array.h"
#include "codecs/source/source.h"

#include <stdlib.h>
#include <string.h>

/* How far back a reader may go behind the block it is in. Twice as much is held, so that old bytes move rarely. */
#define KEEP ((size_t)HF_BLOCK_AIM)

/* How far behind the block places are known: more than any decoder looks at before it has done with it. */
#define KEEP_POINTS (UINT64_C(16) << 20)

struct hf_growing {
	struct hf_src src;
	const struct hf_box *box;
	struct hf_scan *scan;
	hf_point_fn on_point;
	void *ctx;
	uint8_t *room; /* [2 * KEEP] */
	const uint8_t *old; /* the bytes right before the block: room, or in the block before, which the scan keeps */
	size_t old_len;
	const uint8_t *block; /* borrowed from the scan */
	size_t block_len;
	uint64_t block_start; /* stream offset */
	bool hole;	      /* the block is damaged: it has a size, but no bytes */
	struct hf_diag hole_diag;
	/* The blocks so far, but for those far behind: of a container that says something of where they end. */
	struct hf_point *points;
	size_t point_count, point_cap;
	int err;	      /* sticky: HF_NOTE_END or why nothing follows the block */
	struct hf_diag diag;
};

/* Leaves the last of the old bytes in the room, where n more have place behind them. */
static void keep_old(struct hf_growing *g, size_t n)
{
	const size_t left = g->old_len + n > 2 * KEEP ? KEEP - n : g->old_len;
	const uint8_t *const from = g->old + g->old_len - left;

	if (left && from != g->room)
		memmove(g->room, from, left);
	g->old = g->room;
	g->old_len = left;
}

/* Keeps the end of the block, which the scan is about to take back. */
static void keep_block(struct hf_growing *g)
{
	size_t n = g->block_len < KEEP ? g->block_len : KEEP;

	if (g->hole) {
		g->old_len = 0;
	} else if (n == KEEP && g->box->scan_keep && g->box->scan_keep(g->scan)) {
		g->old = g->block;
		g->old_len = g->block_len;
	} else {
		/* Behind a longer block what was kept before does not adjoin any more. */
		g->old_len = n < g->block_len ? 0 : g->old_len;
		keep_old(g, n);
		if (n)
			memcpy(g->room + g->old_len, g->block + g->block_len - n, n);
		g->old_len += n;
	}
	g->hole = false;
	g->block_start += g->block_len;
	g->block_len = 0;
}

static uint64_t end_of(const struct hf_point *point)
{
	return point->out_offset + point->out_size;
}

/* The first known block that ends behind offset. */
static size_t first_behind(const struct hf_growing *g, uint64_t offset)
{
	size_t low = 0, high = g->point_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (end_of(&g->points[mid]) <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int note_point(struct hf_growing *g, const struct hf_point *point)
{
	size_t old;
	int err = 0;

	if (g->point_count == g->point_cap) {
		old = point->out_offset < KEEP_POINTS ? 0 : first_behind(g, point->out_offset - KEEP_POINTS);
		/* As much is moved as is dropped, or there is room for as much again. */
		if (old && old >= g->point_count / 2) {
			g->point_count -= old;
			memmove(g->points, g->points + old, g->point_count * sizeof *g->points);
		} else {
			err = hf_array_reserve(&g->points, g->point_count + 1, &g->point_cap, sizeof *g->points);
		}
	}
	if (!err)
		g->points[g->point_count++] = *point;
	return err;
}

/* Makes the next block the current one, or sets g->err; either way the one before is now among the old bytes. */
static void advance(struct hf_growing *g)
{
	const uint8_t *window;
	struct hf_point point;
	int err;

	keep_block(g);
	err = g->box->scan_next(g->scan, &point, &g->block, &window, &g->diag);
	if (!err && g->on_point) {
		err = g->on_point(g->ctx, &point, window);
		if (err < 0)
			hf_diag_set(&g->diag, err, HF_SPACE_STREAM, point.out_offset, 0);
	}
	if (!err && g->box->sync_behind && note_point(g, &point))
		err = hf_diag_set(&g->diag, HF_ERR_NOMEM, HF_SPACE_STREAM, point.out_offset, 0);
	if (!err)
		g->block_len = (size_t)point.out_size;
	g->hole = !err && (point.bits & HF_POINT_DAMAGED);
	if (g->hole)
		g->box->read_block(g->box, g->box->scan_base(g->scan), &point, NULL, 0, NULL, 0, &g->hole_diag);
	if (err == HF_NOTE_END)
		g->src.size = g->block_start;
	g->err = err;
}

static bool in_hole(const struct hf_growing *g, uint64_t offset)
{
	return g->hole && offset >= g->block_start && offset - g->block_start < g->block_len;
}

/* Bytes at offset that are at hand: a pointer and how many, 0 if they lie ahead. */
static size_t at_hand(const struct hf_growing *g, uint64_t offset, const uint8_t **ret_p)
{
	size_t skip;

	if (offset < g->block_start) {
		skip = g->old_len - (size_t)(g->block_start - offset);
		*ret_p = g->old + skip;
		return g->old_len - skip;
	}
	if (g->hole || offset - g->block_start >= g->block_len)
		return 0;
	skip = (size_t)(offset - g->block_start);
	*ret_p = g->block + skip;
	return g->block_len - skip;
}

static int growing_read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n,
			   struct hf_diag *diag)
{
	struct hf_growing *g = (struct hf_growing *)src;
	uint8_t *to = buf;

	*ret_n = 0;
	if (offset < g->block_start - g->old_len)
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_STREAM, offset, 0);
	while (n) {
		const uint8_t *p;
		size_t have;

		if (in_hole(g, offset)) {
			if (!*ret_n && diag)
				*diag = g->hole_diag;
			return *ret_n ? 0 : g->hole_diag.code;
		}
		have = at_hand(g, offset, &p);
		if (!have && g->err)
			break;
		if (!have) {
			advance(g);
			continue;
		}
		if (have > n)
			have = n;
		memcpy(to, p, have);
		to += have;
		offset += have;
		n -= have;
		*ret_n += have;
	}
	if (n && !*ret_n && g->err < 0) {
		if (diag)
			*diag = g->diag;
		return g->err;
	}
	return 0;
}

/* Of one block, or of those before it. */
static size_t growing_lend(struct hf_src *src, uint64_t offset, const uint8_t **ret_bytes)
{
	struct hf_growing *g = (struct hf_growing *)src;

	for (;;) {
		size_t have;

		if (offset < g->block_start - g->old_len || in_hole(g, offset))
			return 0;
		have = at_hand(g, offset, ret_bytes);
		if (have || g->err)
			return have;
		advance(g);
	}
}

static void growing_free(struct hf_src *src)
{
	struct hf_growing *g = (struct hf_growing *)src;

	g->box->scan_free(g->scan);
	free(g->room);
	free(g->points);
	free(g);
}

static int growing_sync_after(struct hf_src *src, uint64_t offset, uint64_t limit, struct hf_sync *ret_sync,
			      struct hf_diag *diag)
{
	const struct hf_growing *g = (const struct hf_growing *)src;
	int err = HF_NOTE_END;

	for (size_t i = first_behind(g, offset); err > 0 && i < g->point_count && end_of(&g->points[i]) <= limit; i++)
		err = g->box->sync_behind(g->box->scan_base(g->scan), &g->points[i], ret_sync, diag);
	return err;
}

static int growing_extent_at(struct hf_src *src, uint64_t offset, struct hf_extent *ret_extent, struct hf_diag *diag)
{
	const struct hf_growing *g = (const struct hf_growing *)src;
	const size_t i = first_behind(g, offset);

	if (i == g->point_count || g->points[i].out_offset > offset)
		return HF_NOTE_END;
	return hf_box_extent(g->box, g->box->scan_base(g->scan), &g->points[i], ret_extent, diag);
}

static const struct hf_src_ops growing_ops = {.read_at = growing_read_at,
					      .free = growing_free,
					      .lend = growing_lend,
					      .sync_after = growing_sync_after,
					      .extent_at = growing_extent_at};

int hf_growing_new(const struct hf_box *box, struct hf_scan *scan, hf_point_fn on_point, void *ctx,
		   struct hf_src **ret_src)
{
	struct hf_growing *g = calloc(1, sizeof *g);

	*ret_src = NULL;
	if (g)
		g->old = g->room = malloc(2 * KEEP);
	if (!g || !g->room) {
		free(g);
		box->scan_free(scan);
		return HF_ERR_NOMEM;
	}
	g->src = (struct hf_src){.ops = &growing_ops, .size = HF_NOWHERE};
	g->box = box;
	g->scan = scan;
	g->on_point = on_point;
	g->ctx = ctx;
	*ret_src = &g->src;
	return 0;
}
