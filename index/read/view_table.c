/* SPDX-License-Identifier: Apache-2.0 */
/* A published view table: where each chunk of a view is. */
#include "index/read/view_table.h"
#include "index/base/lock.h"
#include "index/read/decode_index.h"
#include "index/read/merge.h"
#include "index/store/published.h"
#include "index/table/index_tables.h"

#include <stdlib.h>

/* A chunk that was served, with the checksum of its bytes. */
struct served {
	uint64_t number, sum;
	uint32_t hart;
	bool used;
};

/* So many slots for served chunks; a later one with the same slot replaces an earlier one. */
#define SERVED_MAX 1024u

struct hf_view_table {
	struct hf_published file;
	struct served *served; /* SERVED_MAX; NULL until one is */
	struct hf_chunk_limits limits;
	size_t hart_count;
	struct hf_view_hart *harts;
	uint64_t merged;	     /* hf_view_table_merged */
	bool joins;		     /* a row may be several chunks */
	struct hf_view_chunk behind; /* under file's lock */
};

/* The number of the chunk behind a row. */
static int find_end(struct hf_view_table *t, const struct hf_view_hart *hart, uint64_t number, uint64_t *ret_chunk)
{
	int err = 0;

	*ret_chunk = hart->chunks;
	if (number + 1 < hart->rows) {
		err = hf_store_find(t->file.store, &hf_table_view_chunk, HF_SEEK_AT, hf_row_id(hart->slot, number + 1),
				    NULL, &t->behind);
		*ret_chunk = t->behind.chunk;
	}
	return err > 0 ? HF_ERR_STATE : err;
}

static bool is_sound(const struct hf_view_table *t, const struct hf_view_hart *hart, const struct hf_view_chunk *c,
		     uint64_t end)
{
	const bool last = c->number == hart->rows - 1;

	if (c->chunk >= end || end > hart->chunks || c->size > HF_VIEW_CHUNK_MAX)
		return false;
	if ((c->number == 0 && c->chunk) || (!t->joins && c->chunk != c->number))
		return false;
	return end - c->chunk == 1 || (t->joins && !last && hf_view_chunk_is_whole(c));
}

static int fetch_chunk(struct hf_view_table *t, const struct hf_view_hart *hart, uint64_t number,
		       struct hf_view_chunk *c)
{
	uint64_t end, chunk;
	int err = hf_published_chunk(&t->file, &hf_table_view_chunk, hart->slot, number, hart->rows, hart->size, c,
				     &end);

	if (!err)
		err = find_end(t, hart, number, &chunk);
	if (err)
		return err;
	c->number = number;
	c->chunks = chunk - c->chunk;
	c->size = end - c->offset;
	return is_sound(t, hart, c, chunk) ? 0 : HF_ERR_STATE;
}

/* The numbers of each hart must be plausible, and its last row must be there. */
static int check_harts(struct hf_view_table *t)
{
	struct hf_view_chunk *chunk = malloc(sizeof *chunk);
	int err = chunk ? 0 : HF_ERR_NOMEM;

	for (size_t i = 0; !err && i < t->hart_count; i++) {
		const struct hf_view_hart *hart = &t->harts[i];

		if (!hart->rows || hart->rows > hart->chunks || hart->slot > HF_SLOT_RECORDS ||
		    (i && hart->slot <= hart[-1].slot) || hart->size / HF_VIEW_CHUNK_MAX > hart->rows)
			err = HF_ERR_STATE;
		else
			err = fetch_chunk(t, hart, hart->rows - 1, chunk);
	}
	free(chunk);
	return err;
}

static int load_meta(struct hf_view_table *t, const struct hf_identity *identity, const struct hf_view_key *key)
{
	struct hf_view_meta *meta = calloc(1, sizeof *meta);
	int err = meta ? hf_store_meta(t->file.store, &hf_table_view_meta, meta) : HF_ERR_NOMEM;

	if (!err && (!meta->complete || !hf_view_meta_fits(meta, identity, key)))
		err = HF_ERR_STATE;
	if (!err)
		t->limits = meta->limits;
	free(meta);
	return err;
}

int hf_view_table_open(int dirfd, const struct hf_identity *identity, const struct hf_view_key *key,
		       struct hf_view_table **ret_table)
{
	struct hf_view_table *t = calloc(1, sizeof *t);
	int err;

	*ret_table = NULL;
	if (!t)
		return HF_ERR_NOMEM;
	t->joins = !(key->ops->flags & HF_ENC_COUNTS);
	err = hf_index_file_name_view(identity, key, t->file.name);
	if (err) {
		free(t);
		return err;
	}
	if (!(err = hf_published_open(&t->file, dirfd, HF_DB_VIEW)) && !(err = load_meta(t, identity, key)) &&
	    !(err = hf_store_list(t->file.store, &hf_table_view_hart, true, HF_SLOT_RECORDS + 1, &t->harts,
				&t->hart_count)) &&
	    !(err = check_harts(t)))
		err = hf_merge_size(t->file.store, &t->merged);
	if (err)
		hf_view_table_close(t);
	else
		*ret_table = t;
	return err == HF_ERR_STATE ? HF_ERR_NOT_FOUND : err;
}

void hf_view_table_close(struct hf_view_table *table)
{
	if (!table)
		return;
	hf_published_close(&table->file);
	free(table->harts);
	free(table->served);
	free(table);
}

bool hf_view_table_is_damaged(const struct hf_view_table *table)
{
	return table->file.damaged;
}

void hf_view_table_remove(const struct hf_view_table *table)
{
	hf_published_remove(&table->file);
}

const char *hf_view_table_name(const struct hf_view_table *table)
{
	return table->file.name;
}

static const struct hf_view_hart *find_hart(const struct hf_view_table *table, uint32_t id)
{
	for (size_t i = 0; i < table->hart_count; i++)
		if (table->harts[i].id == id)
			return &table->harts[i];
	return NULL;
}

uint64_t hf_view_table_size(const struct hf_view_table *table, uint32_t hart)
{
	const struct hf_view_hart *h = find_hart(table, hart);

	return h ? h->size : 0;
}

uint64_t hf_view_table_rows(const struct hf_view_table *table, uint32_t hart)
{
	const struct hf_view_hart *h = find_hart(table, hart);

	return h ? h->rows : 0;
}

uint64_t hf_view_table_memory(struct hf_view_table *table)
{
	uint64_t served;

	pthread_mutex_lock(&table->file.lock);
	served = table->served ? SERVED_MAX * sizeof *table->served : 0;
	pthread_mutex_unlock(&table->file.lock);
	return sizeof *table + table->hart_count * sizeof *table->harts + served + hf_published_memory(&table->file);
}

uint64_t hf_view_table_file_size(const struct hf_view_table *table)
{
	return hf_store_file_size(table->file.store);
}

bool hf_view_table_has_limits(const struct hf_view_table *table, const struct hf_chunk_limits *limits)
{
	return hf_chunk_limits_equal(&table->limits, limits);
}

bool hf_view_table_fits(const struct hf_view_table *table, const struct hf_index *index)
{
	const bool records = table->hart_count && table->harts[0].id == HF_HART_RECORDS;
	const struct hf_index_hart *hart;
	size_t n = 0;

	if (!hf_chunk_limits_equal(&table->limits, hf_index_limits(index)))
		return false;
	for (uint64_t from = 0; (hart = hf_index_next_slot(index, from)); from = hart->slot + 1) {
		const struct hf_view_hart *h = find_hart(table, hart->id);

		if ((hart->id == HF_HART_RECORDS) != records)
			continue;
		if (!h || h->slot != hart->slot || h->chunks != hart->chunks)
			return false;
		n++;
	}
	return n == table->hart_count;
}

int hf_view_table_chunk(struct hf_view_table *table, uint32_t hart, uint64_t number, struct hf_view_chunk *ret_chunk)
{
	const struct hf_view_hart *h = find_hart(table, hart);
	int err;

	if (!h || number >= h->rows)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&table->file.lock);
	err = fetch_chunk(table, h, number, ret_chunk);
	pthread_mutex_unlock(&table->file.lock);
	return hf_published_noted(&table->file, err);
}

uint64_t hf_view_table_merged(const struct hf_view_table *table)
{
	return table->merged;
}

int hf_view_table_merge(struct hf_view_table *table, uint64_t offset, struct hf_merge **ret_merge)
{
	int err = hf_merge_new(table->file.store, &table->file.lock, table->harts, table->hart_count, ret_merge);

	if (!err)
		err = hf_merge_seek(*ret_merge, offset);
	if (err) {
		hf_merge_free(*ret_merge);
		*ret_merge = NULL;
	}
	return hf_published_noted(&table->file, err);
}

bool hf_view_table_serves(struct hf_view_table *table, uint32_t hart, uint64_t number, uint64_t sum)
{
	const size_t place = (size_t)((number ^ (uint64_t)hart << 5) % SERVED_MAX);
	bool same = true;

	HF_LOCKED(&table->file.lock);
	if (!table->served)
		table->served = calloc(SERVED_MAX, sizeof *table->served);
	/* If there is no memory, nothing is remembered. */
	if (table->served) {
		struct served *served = &table->served[place];

		if (served->used && served->number == number && served->hart == hart)
			same = served->sum == sum;
		else
			*served = (struct served){.number = number, .hart = hart, .sum = sum, .used = true};
	}
	return same;
}

int hf_view_table_chunk_of(struct hf_view_table *table, uint32_t hart, uint64_t offset, struct hf_view_chunk *ret_chunk)
{
	const struct hf_view_hart *h = find_hart(table, hart);
	uint64_t number;
	int err;

	if (!h)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&table->file.lock);
	err = hf_published_search(&table->file, &hf_table_view_chunk, h->slot, h->rows, h->size, offset, &number);
	if (!err)
		err = fetch_chunk(table, h, number, ret_chunk);
	pthread_mutex_unlock(&table->file.lock);
	if (!err && (offset < ret_chunk->offset || offset - ret_chunk->offset >= ret_chunk->size))
		err = HF_ERR_STATE;
	return hf_published_noted(&table->file, err);
}
