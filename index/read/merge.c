/* SPDX-License-Identifier: Apache-2.0 */
#include "index/read/merge.h"

#include "codecs/base/bytes.h"
#include "index/read/times.h"
#include "index/store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A place to resume at every so many bytes and runs, with up to PLACE_HARTS harts; with more harts rarer. */
#define PLACE_BYTES (UINT64_C(1) << 20)
#define PLACE_RUNS UINT64_C(4096)
#define PLACE_HARTS 64u

enum stand {
	AT_START, /* none of its runs was returned */
	AT_LINE,  /* its next run begins with line */
	AT_END,
};

/* The position in one hart. */
struct cursor {
	uint64_t slot, size;
	uint32_t id;
	enum stand stand;
	struct hf_time_line line;
	uint64_t key, index; /* of the row that has line, and line's number there */
	struct hf_times_reader reader;
	uint8_t *data; /* the bytes of the row */
};

struct hf_merge {
	struct hf_store *store;
	pthread_mutex_t *lock;
	size_t count;
	size_t first;	 /* no hart before it is AT_START */
	size_t last;	 /* the hart of the last run, plus 1, or 0 */
	uint64_t offset; /* behind the last run */
	bool sorted;	 /* heap has all harts that are AT_LINE */
	size_t heap_count;
	uint32_t *heap;
	union {
		struct hf_view_times times;
		struct hf_view_merge place;
	} row;
	struct cursor cursor[];
};

/* ---- one hart ---- */

static int find_row(struct hf_merge *m, const struct hf_table *table, enum hf_seek seek, uint64_t key, uint64_t *ret_key)
{
	int err;

	if (m->lock)
		pthread_mutex_lock(m->lock);
	err = hf_store_find(m->store, table, seek, key, ret_key, &m->row);
	if (m->lock)
		pthread_mutex_unlock(m->lock);
	return err;
}

/* The row of the hart with that key, or the first one behind it. HF_NOTE_END: there is none. */
static int load_row(struct hf_merge *m, struct cursor *c, enum hf_seek seek, uint64_t key)
{
	const struct hf_view_times *row = &m->row.times;
	uint64_t found;
	uint8_t *data;
	int err = find_row(m, &hf_table_view_time, seek, key, &found);

	if (err)
		return err;
	if (found >> HF_TIMES_KEY_BITS != c->slot)
		return HF_NOTE_END;
	data = realloc(c->data, row->n + (size_t)1);
	if (!data)
		return HF_ERR_NOMEM;
	c->data = data;
	memcpy(data, row->data, row->n);
	c->key = found;
	c->index = 0;
	hf_times_begin(&c->reader, row, data, row->n);
	return row->n ? 0 : HF_ERR_STATE;
}

static int take_line(struct cursor *c)
{
	const uint64_t before = c->stand == AT_LINE ? c->line.offset + 1 : 0;
	int err = hf_times_next(&c->reader, &c->line);

	if (!err && (c->line.offset < before || c->line.offset >= c->size))
		err = HF_ERR_STATE;
	if (!err)
		c->stand = AT_LINE;
	return err;
}

/* Goes to the next line. */
static int advance(struct hf_merge *m, struct cursor *c)
{
	int err = HF_NOTE_END;

	if (c->stand == AT_LINE) {
		err = take_line(c);
		c->index++;
	}
	if (err == HF_NOTE_END) {
		const uint64_t key = c->stand == AT_LINE ? c->key + 1 : hf_times_key(hf_row_id(c->slot, 0), 0);

		err = load_row(m, c, HF_SEEK_FROM, key);
		if (!err)
			err = take_line(c);
	}
	if (err == HF_NOTE_END) {
		c->stand = AT_END;
		err = 0;
	}
	return err;
}

/* ---- all harts ---- */

static bool is_before(const struct hf_merge *m, uint32_t a, uint32_t b)
{
	const uint64_t x = m->cursor[a].line.time, y = m->cursor[b].line.time;

	return x != y ? x < y : a < b;
}

static void sift_down(struct hf_merge *m, size_t at)
{
	for (;;) {
		size_t least = at;
		uint32_t other;

		for (size_t below = 2 * at + 1; below < m->heap_count && below <= 2 * at + 2; below++)
			if (is_before(m, m->heap[below], m->heap[least]))
				least = below;
		if (least == at)
			return;
		other = m->heap[at];
		m->heap[at] = m->heap[least];
		m->heap[least] = other;
		at = least;
	}
}

static void sort(struct hf_merge *m)
{
	m->heap_count = 0;
	for (size_t i = 0; i < m->count; i++)
		if (m->cursor[i].stand == AT_LINE)
			m->heap[m->heap_count++] = (uint32_t)i;
	for (size_t i = m->heap_count / 2; i--;)
		sift_down(m, i);
	m->sorted = true;
}

/* The hart with the next run; m->count: none is left. */
static size_t turn(struct hf_merge *m)
{
	while (m->first < m->count && m->cursor[m->first].stand != AT_START)
		m->first++;
	if (m->first < m->count)
		return m->first;
	if (!m->sorted)
		sort(m);
	return m->heap_count ? m->heap[0] : m->count;
}

static void settle(struct hf_merge *m)
{
	if (m->cursor[m->heap[0]].stand != AT_LINE)
		m->heap[0] = m->heap[--m->heap_count];
	if (m->heap_count)
		sift_down(m, 0);
}

static size_t put_head(const struct hf_merge *m, size_t turn, struct hf_merge_run *run)
{
	static const char *const notes[] = {
		[HF_MERGE_UNKNOWN] = " time unknown", [HF_MERGE_TIMED] = "", [HF_MERGE_BACK] = " time goes back"};

	if (run->kind == HF_MERGE_TIMED && m->last == turn + 1)
		return 0;
	return (size_t)snprintf(run->head, sizeof run->head, "# hart %" PRIu32 "%s\n", run->hart, notes[run->kind]);
}

int hf_merge_next(struct hf_merge *m, struct hf_merge_run *run)
{
	do {
		const size_t which = turn(m);
		struct cursor *c = &m->cursor[which];
		int err;

		if (which == m->count)
			return HF_NOTE_END;
		*run = (struct hf_merge_run){.offset = m->offset, .hart = c->id};
		if (c->stand == AT_LINE) {
			run->from = c->line.offset;
			run->time = c->line.time;
			run->kind = c->line.back ? HF_MERGE_BACK : HF_MERGE_TIMED;
		}
		err = advance(m, c);
		if (err)
			return err;
		run->to = c->stand == AT_LINE ? c->line.offset : c->size;
		if (m->sorted)
			settle(m);
		/* A listing may begin with a time. */
		if (run->to == run->from)
			continue;
		run->head_size = put_head(m, which, run);
		m->last = which + 1;
	} while (run->to == run->from);
	if (run->to - run->from > HF_COUNT_MAX - m->offset - run->head_size)
		return HF_ERR_STATE;
	m->offset += run->head_size + (run->to - run->from);
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const uint32_t x = ((const struct cursor *)a)->id, y = ((const struct cursor *)b)->id;

	return (x > y) - (x < y);
}

int hf_merge_new(struct hf_store *store, pthread_mutex_t *lock, const struct hf_view_hart *harts, size_t count,
		 struct hf_merge **ret_merge)
{
	struct hf_merge *m = calloc(1, sizeof *m + count * sizeof *m->cursor);

	*ret_merge = m;
	if (!m)
		return HF_ERR_NOMEM;
	m->heap = malloc((count + 1) * sizeof *m->heap);
	if (!m->heap) {
		free(m);
		*ret_merge = NULL;
		return HF_ERR_NOMEM;
	}
	m->store = store;
	m->lock = lock;
	m->count = count;
	for (size_t i = 0; i < count; i++)
		m->cursor[i] = (struct cursor){.slot = harts[i].slot, .id = harts[i].id, .size = harts[i].size};
	qsort(m->cursor, count, sizeof *m->cursor, compare_ids);
	return 0;
}

void hf_merge_free(struct hf_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++)
		free(m->cursor[i].data);
	free(m->heap);
	free(m);
}

/* ---- places to resume at ---- */

/* For each hart a u8, enum stand; for AT_LINE also two varints: the row's key within the hart, the line's number. */
static void save(const struct hf_merge *m, struct hf_view_merge *place)
{
	uint8_t *p = place->data;

	for (size_t i = 0; i < m->count; i++) {
		const struct cursor *c = &m->cursor[i];

		*p++ = (uint8_t)c->stand;
		if (c->stand != AT_LINE)
			continue;
		p = hf_put_varint(p, c->key & ((UINT64_C(1) << HF_TIMES_KEY_BITS) - 1));
		p = hf_put_varint(p, c->index);
	}
	place->last = m->last;
	place->n = (uint32_t)(p - place->data);
}

/* 46 bits and 15 bits. */
static_assert(sizeof((struct hf_view_merge *)0)->data >= HF_MERGED_HARTS * (1 + 7 + 3), "a place has room for all harts");

static int load_cursor(struct hf_merge *m, struct cursor *c, const uint8_t **p, const uint8_t *end)
{
	uint64_t key, index;
	int err = 0;

	if (*p == end || **p > AT_END)
		return HF_ERR_STATE;
	c->stand = (enum stand)*(*p)++;
	if (c->stand != AT_LINE)
		return 0;
	*p = hf_get_varint(*p, end, &key);
	if (*p)
		*p = hf_get_varint(*p, end, &index);
	if (!*p || key >> HF_TIMES_KEY_BITS || index >= HF_TIMES_BYTES)
		return HF_ERR_STATE;
	c->stand = AT_START;
	err = load_row(m, c, HF_SEEK_AT, c->slot << HF_TIMES_KEY_BITS | key);
	for (uint64_t i = 0; i <= index && !err; i++)
		err = take_line(c);
	c->index = index;
	return err == HF_NOTE_END ? HF_ERR_STATE : err;
}

int hf_merge_seek(struct hf_merge *m, uint64_t offset)
{
	const uint8_t *p, *end;
	uint8_t *data;
	int err = find_row(m, &hf_table_view_merge, HF_SEEK_BACK, offset, &m->offset);

	if (err)
		return err == HF_NOTE_END ? HF_ERR_STATE : err;
	m->first = m->heap_count = 0;
	m->sorted = false;
	m->last = (size_t)m->row.place.last;
	/* Rows of times are read into the same memory. */
	data = malloc(m->row.place.n + (size_t)1);
	if (!data)
		return HF_ERR_NOMEM;
	memcpy(data, m->row.place.data, m->row.place.n);
	p = data;
	end = data + m->row.place.n;
	for (size_t i = 0; i < m->count && !err; i++)
		err = load_cursor(m, &m->cursor[i], &p, end);
	if (!err && p != end)
		err = HF_ERR_STATE;
	free(data);
	return err;
}

static int write_places(struct hf_store *store, struct hf_merge *m, struct hf_view_merge *place)
{
	const uint64_t times = 1 + m->count / PLACE_HARTS;
	uint64_t written = 0, runs = 0;
	struct hf_merge_run run;
	int err = 0;

	while (!err) {
		if (!m->offset || m->offset - written >= PLACE_BYTES * times || runs >= PLACE_RUNS * times) {
			save(m, place);
			err = hf_store_put(store, &hf_table_view_merge, m->offset, place);
			written = m->offset;
			runs = 0;
		}
		if (!err)
			err = hf_merge_next(m, &run);
		runs++;
	}
	if (err != HF_NOTE_END)
		return err;
	*place = (struct hf_view_merge){0};
	return hf_store_put(store, &hf_table_view_merge, m->offset, place);
}

/* How many harts have times: 0, 1, or 2 for more. */
static int count_timed(struct hf_merge *m, size_t *ret_timed)
{
	uint64_t key;
	int err = 0;

	*ret_timed = 0;
	for (size_t i = 0; i < m->count && *ret_timed < 2 && !err; i++) {
		const uint64_t slot = m->cursor[i].slot;

		err = find_row(m, &hf_table_view_time, HF_SEEK_FROM, hf_times_key(hf_row_id(slot, 0), 0), &key);
		if (err == HF_NOTE_END)
			err = 0;
		else if (!err)
			*ret_timed += key >> HF_TIMES_KEY_BITS == slot;
	}
	return err;
}

int hf_merge_write(struct hf_store *store)
{
	struct hf_view_merge *place = malloc(sizeof *place);
	struct hf_view_hart *harts = NULL;
	struct hf_merge *m = NULL;
	size_t count = 0, timed = 0;
	int err = place ? 0 : HF_ERR_NOMEM;

	if (!err)
		err = hf_store_cut(store, &hf_table_view_merge, 0, HF_COUNT_MAX);
	if (!err)
		err = hf_store_list(store, &hf_table_view_hart, true, HF_SLOT_RECORDS + 1, &harts, &count);
	if (!err && count > 1 && count <= HF_MERGED_HARTS)
		err = hf_merge_new(store, NULL, harts, count, &m);
	if (!err && m)
		err = count_timed(m, &timed);
	if (!err)
		err = timed > 1 ? write_places(store, m, place) : hf_store_cut(store, &hf_table_view_time, 0, HF_COUNT_MAX);
	hf_merge_free(m);
	free(harts);
	free(place);
	return err;
}

int hf_merge_size(struct hf_store *store, uint64_t *ret_size)
{
	struct hf_view_merge *place = malloc(sizeof *place);
	int err = HF_ERR_NOMEM;

	*ret_size = HF_NOWHERE;
	if (place)
		err = hf_store_find(store, &hf_table_view_merge, HF_SEEK_BACK, HF_COUNT_MAX, ret_size, place);
	/* The last row has no place to resume at. */
	if (!err && place->n)
		err = HF_ERR_STATE;
	free(place);
	if (err == HF_NOTE_END)
		*ret_size = HF_NOWHERE;
	return err > 0 ? 0 : err;
}
