/* SPDX-License-Identifier: Apache-2.0 */
#include "index/pass/view_join.h"

#include "codecs/base/array.h"

#include <string.h>

void hf_view_join_fini(struct hf_view_join *join)
{
	free(join->waiting);
	join->waiting = NULL;
	hf_view_join_clear(join);
}

void hf_view_join_clear(struct hf_view_join *join)
{
	join->waiting_count = 0;
	join->has_open = join->has_last = join->stored = join->has_end = false;
}

static uint64_t id_of(const struct hf_view_join *join, const struct hf_view_chunk *row)
{
	return hf_row_id(join->slot, row->number);
}

static int put(const struct hf_view_join *join, struct hf_store *store, const struct hf_view_chunk *row)
{
	return hf_store_put(store, &hf_table_view_chunk, id_of(join, row), row);
}

/* Takes back rows that a commit has stored, for they may still change. */
static int take_back(struct hf_view_join *join, struct hf_store *store)
{
	const struct hf_view_chunk *first = join->has_open ? &join->open : &join->last;

	if (!join->stored)
		return 0;
	join->stored = false;
	return hf_store_cut(store, &hf_table_view_chunk, id_of(join, first), HF_COUNT_MAX);
}

static bool fits(const struct hf_view_join *join)
{
	const struct hf_view_chunk *open = &join->open;

	return join->joins && join->has_open && open->size < HF_JOIN_BYTES && open->chunks < HF_JOIN_CHUNKS;
}

/* Another chunk comes: the last one goes into the open row, or begins the next row. */
static int advance(struct hf_view_join *join, struct hf_store *store)
{
	struct hf_view_chunk *open = &join->open, *last = &join->last;
	int err = 0;

	if (!join->has_last)
		return 0;
	if (fits(join)) {
		open->checksum = hf_view_sum_join(open->checksum, last->checksum);
		open->checked += last->checked;
		open->size += last->size;
		open->chunks++;
	} else {
		err = join->has_open ? put(join, store, open) : 0;
		*open = *last;
		join->has_open = true;
	}
	join->has_last = false;
	return err;
}

static int take(struct hf_view_join *join, struct hf_store *store, const struct hf_view_chunk *chunk)
{
	int err = take_back(join, store);

	if (!err)
		err = advance(join, store);
	join->last = *chunk;
	join->last.number = join->has_open ? join->open.number + 1 : 0;
	join->has_last = true;
	return err;
}

int hf_view_join_add(struct hf_view_join *join, uint64_t id, const struct hf_view_chunk *chunk)
{
	struct hf_view_chunk *row;
	int err = hf_array_room(&join->waiting, join->waiting_count, sizeof *join->waiting);

	if (err)
		return err;
	join->slot = id >> HF_NUMBER_BITS;
	row = &join->waiting[join->waiting_count++];
	*row = *chunk;
	row->chunk = id & HF_NUMBER_MAX;
	row->chunks = 1;
	return 0;
}

void hf_view_join_end(struct hf_view_join *join, const struct hf_view_hart *hart)
{
	join->end = *hart;
	join->has_end = true;
}

static int finish(struct hf_view_join *join, struct hf_store *store)
{
	int err = hf_view_join_write(join, store);

	join->end.rows = join->has_last ? join->last.number + 1 : 0;
	hf_view_join_clear(join);
	return err ? err : hf_store_put(store, &hf_table_view_hart, join->end.slot, &join->end);
}

int hf_view_join_settle(struct hf_view_join *join, struct hf_store *store, uint64_t id)
{
	size_t n = 0;
	int err = 0;

	while (!err && n < join->waiting_count && join->waiting[n].chunk <= (id & HF_NUMBER_MAX))
		err = take(join, store, &join->waiting[n++]);
	join->waiting_count -= n;
	if (n && join->waiting_count)
		memmove(join->waiting, join->waiting + n, join->waiting_count * sizeof *join->waiting);
	return err || !join->has_end || join->waiting_count ? err : finish(join, store);
}

int hf_view_join_write(struct hf_view_join *join, struct hf_store *store)
{
	int err = 0;

	if (join->stored)
		return 0;
	if (join->has_open)
		err = put(join, store, &join->open);
	if (!err && join->has_last)
		err = put(join, store, &join->last);
	join->stored = join->has_open || join->has_last;
	return err;
}

/* The last row that begins at or before chunk id in the same hart: mostly the last row of all. */
static int find_row(struct hf_store *store, uint64_t id, uint64_t *ret_key, struct hf_view_chunk *ret_row)
{
	uint64_t key = hf_row_id((id >> HF_NUMBER_BITS) + 1, 0);
	int err;

	do
		err = hf_store_find(store, &hf_table_view_chunk, HF_SEEK_BACK, key - 1, &key, ret_row);
	while (!err && key && key >> HF_NUMBER_BITS == id >> HF_NUMBER_BITS && ret_row->chunk > (id & HF_NUMBER_MAX));
	if (err)
		return err;
	*ret_key = key;
	return key >> HF_NUMBER_BITS == id >> HF_NUMBER_BITS && ret_row->chunk <= (id & HF_NUMBER_MAX)
		       ? 0
		       : (int)HF_NOTE_END;
}

int hf_view_join_start(struct hf_store *store, uint64_t id, uint64_t *ret_id)
{
	struct hf_view_chunk row;
	uint64_t key;
	int err = find_row(store, id, &key, &row);

	if (err)
		return err;
	*ret_id = hf_row_id(id >> HF_NUMBER_BITS, row.chunk);
	/* The last row may have up to HF_JOIN_CHUNKS chunks. */
	return id - *ret_id < HF_JOIN_CHUNKS ? 0 : (int)HF_NOTE_END;
}

int hf_view_join_cut(struct hf_view_join *join, struct hf_store *store, uint64_t id, struct hf_view_chunk *ret_row)
{
	struct hf_view_chunk *open = &join->open;
	uint64_t key;
	int err = find_row(store, id, &key, ret_row);

	hf_view_join_clear(join);
	if (!err && ret_row->chunk != (id & HF_NUMBER_MAX))
		err = HF_NOTE_END;
	if (err)
		return err;
	join->slot = key >> HF_NUMBER_BITS;
	ret_row->number = key & HF_NUMBER_MAX;
	err = hf_store_cut(store, &hf_table_view_chunk, key, HF_COUNT_MAX);
	if (err || !ret_row->number)
		return err;
	err = hf_store_find(store, &hf_table_view_chunk, HF_SEEK_AT, key - 1, NULL, open);
	if (!err && (open->chunk >= ret_row->chunk || open->offset > ret_row->offset))
		err = HF_ERR_STATE;
	open->number = ret_row->number - 1;
	open->chunks = ret_row->chunk - open->chunk;
	open->size = ret_row->offset - open->offset;
	join->has_open = join->stored = !err;
	return err > 0 ? HF_ERR_STATE : err;
}
