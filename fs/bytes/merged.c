/* SPDX-License-Identifier: Apache-2.0 */
/* The views of all harts as one, merged by time: cut evenly, and put together of pieces of the harts' own. */
#include "fs/base/views.h"
#include "fs/bytes/bytes.h"
#include "fs/bytes/kinds.h"
#include "fs/capture/capture.h"
#include "fs/capture/facts.h"
#include "fs/capture/opened.h"
#include "index/read/merge.h"

#include <stdlib.h>
#include <string.h>

/* Pieces of harts that stay at hand: harts take turns. */
#define HELD 8u

struct held {
	uint32_t hart;
	struct hf_piece piece;
	struct hf_cache_block *block; /* pinned; or NULL, and */
	uint8_t *own;		      /*   these are its bytes; NULL: nothing is held */
};

struct merging {
	const struct hf_bytes *bytes;
	struct hf_open *open;
	struct hf_worker *worker;
	struct hf_cache *cache;
	uint64_t pos, end; /* what is wanted and not there yet */
	uint8_t *to;
	struct held held[HELD];
};

static void drop(const struct merging *m, struct held *held)
{
	if (held->block)
		hf_cache_unpin(m->cache, held->block);
	free(held->own);
	*held = (struct held){0};
}

/* ---- the harts' own pieces ---- */

/* The cache's are its own from now on. */
static int keep_copy(const struct merging *m, struct hf_cache_block *block, uint8_t *bytes, size_t size, struct held *held)
{
	held->own = malloc(size + 1);
	if (held->own)
		memcpy(held->own, bytes, size);
	hf_cache_fill(m->cache, block, bytes, size);
	return held->own ? 0 : HF_ERR_NOMEM;
}

static int make_piece(const struct merging *m, const struct hf_bytes *of, struct held *held)
{
	const struct hf_cache_key key = {of->owner, held->piece.number};
	struct hf_cache_block *block = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;
	int err;
	const enum hf_cache_answer answer = hf_cache_acquire(m->cache, key, NULL, &block, &err);

	if (answer == HF_CACHE_HIT)
		held->block = block;
	if (answer == HF_CACHE_HIT || answer == HF_CACHE_ERROR)
		return err;
	/* PENDING: who makes it may wait for this thread. */
	err = hf_bytes_make_piece(of, m->open, held->piece.number, m->worker, &bytes, &size);
	if (answer == HF_CACHE_PENDING)
		held->own = bytes;
	else if (err)
		hf_cache_fail(m->cache, block, err);
	else
		err = keep_copy(m, block, bytes, size, held);
	return err;
}

/* The piece of the hart's view in which that offset is. */
static int hold(struct merging *m, uint32_t hart, uint64_t offset, struct held **ret_held)
{
	struct held *held = &m->held[hart % HELD];
	struct hf_bytes of;
	int err;

	*ret_held = held;
	if ((held->block || held->own) && held->hart == hart && offset - held->piece.offset < held->piece.size)
		return 0;
	drop(m, held);
	err = hf_bytes_of_view(m->bytes->capture, m->open->facts, hart, m->bytes->view, &of);
	if (!err)
		err = of.ops->piece_at(&of, m->open, offset, &held->piece);
	if (err)
		return err > 0 || err == HF_ERR_NOT_FOUND ? HF_ERR_MISMATCH : err;
	held->hart = hart;
	return make_piece(m, &of, held);
}

/* Copies bytes of a hart's view from that offset on: as many as its piece has, size at most. */
static int copy_some(struct merging *m, uint32_t hart, uint64_t offset, size_t size, uint8_t *to, size_t *ret_size)
{
	struct held *held;
	int err = hold(m, hart, offset, &held);
	size_t at;

	if (err)
		return err;
	at = (size_t)(offset - held->piece.offset);
	*ret_size = held->piece.size - at < size ? (size_t)held->piece.size - at : size;
	memcpy(to, (held->block ? held->block->bytes : held->own) + at, *ret_size);
	return 0;
}

static int copy(struct merging *m, uint32_t hart, uint64_t offset, size_t size, uint8_t *to)
{
	int err = 0;

	for (size_t have = 0, n; have < size && !err; have += err ? 0 : n)
		err = copy_some(m, hart, offset + have, size - have, to + have, &n);
	return err;
}

/* ---- runs ---- */

/* Whether there is what the table says: the end of a line, and then one with a time. */
static int check_start(struct merging *m, const struct hf_merge_run *run)
{
	static const char text[] = "\n# time ";
	const size_t skip = run->from == 0, size = sizeof text - 1 - skip;
	uint8_t found[sizeof text];
	int err = 0;

	if (run->kind == HF_MERGE_UNKNOWN)
		return 0;
	if (run->to - run->from < size)
		return HF_ERR_MISMATCH;
	err = copy(m, run->hart, run->from - !skip, size, found);
	return !err && memcmp(found, text + skip, size) != 0 ? HF_ERR_MISMATCH : err;
}

static void put_head(struct merging *m, const struct hf_merge_run *run)
{
	while (m->pos < m->end && m->pos - run->offset < run->head_size)
		*m->to++ = (uint8_t)run->head[m->pos++ - run->offset];
}

static int put_lines(struct merging *m, const struct hf_merge_run *run)
{
	const uint64_t at = run->from + (m->pos - run->offset - run->head_size);
	const uint64_t want = m->end - m->pos, left = run->to - at;
	const size_t size = (size_t)(left < want ? left : want);
	int err = copy(m, run->hart, at, size, m->to);

	m->pos += size;
	m->to += size;
	return err;
}

static int put_runs(struct merging *m, struct hf_merge *merge)
{
	struct hf_merge_run run;
	int err = 0;

	while (m->pos < m->end && !err) {
		err = hf_merge_next(merge, &run);
		if (err)
			break;
		if (m->pos - run.offset >= run.head_size + (run.to - run.from))
			continue;
		err = check_start(m, &run);
		put_head(m, &run);
		if (!err && m->pos < m->end)
			err = put_lines(m, &run);
	}
	return err > 0 ? HF_ERR_MISMATCH : err;
}

static int fill(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_worker *worker, uint8_t *to)
{
	struct merging m = {.bytes = bytes,
			    .open = open,
			    .worker = worker,
			    .cache = bytes->capture->common->cache,
			    .pos = piece->offset,
			    .end = piece->offset + piece->size,
			    .to = to};
	struct hf_merge *merge;
	int err = hf_view_table_merge(open->table[bytes->view], piece->offset, &merge);

	if (!err)
		err = put_runs(&m, merge);
	hf_merge_free(merge);
	for (size_t i = 0; i < HELD; i++)
		drop(&m, &m.held[i]);
	return err;
}

static const struct hf_bytes_ops ops = {
	.piece_at = hf_bytes_even_at, .piece = hf_bytes_even, .fill = fill, .table = true};

int hf_bytes_of_merged(struct hf_capture *capture, const struct hf_facts *facts, struct hf_bytes *ret_bytes)
{
	*ret_bytes = (struct hf_bytes){.ops = &ops,
				       .capture = capture,
				       .version = facts->version,
				       .owner = facts->merged_owner,
				       .size = facts->known.merged_size,
				       .view = hf_views_merged()};
	return ret_bytes->size == HF_NOWHERE ? HF_ERR_NOT_FOUND : 0;
}
