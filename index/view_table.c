/* SPDX-License-Identifier: Apache-2.0 */
/* A published view table: where each chunk lies in a view. */
#include "index/fault.h"
#include "index/file.h"
#include "index/index_content.h"
#include "index/row.h"
#include "index/search.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct view_hart {
	uint64_t slot, size, chunks;
	uint32_t id;
};

struct hf_view_table {
	int dirfd, fd;
	char name[HF_FILE_NAME_SIZE];
	atomic_bool damaged;
	sqlite3 *db;
	pthread_mutex_t lock; /* of the statements */
	sqlite3_stmt *chunk, *offset;
	struct hf_chunk_limits limits;
	size_t hart_count;
	struct view_hart *harts;
	uint64_t file_size;
};

static int read_hart(sqlite3_stmt *stmt, struct view_hart *hart)
{
	uint64_t id;
	int err;

	if ((err = hf_col_u64(stmt, 0, HF_SLOT_RECORDS, &hart->slot)) || (err = hf_col_u64(stmt, 1, UINT32_MAX, &id)) ||
	    (err = hf_col_u64(stmt, 2, HF_COUNT_MAX, &hart->size)) ||
	    (err = hf_col_u64(stmt, 3, HF_NUMBER_MAX, &hart->chunks)))
		return err;
	hart->id = (uint32_t)id;
	return hart->chunks ? 0 : HF_ERR_STATE;
}

static int load_harts(struct hf_view_table *t)
{
	sqlite3_stmt *stmt;
	size_t cap = 0;
	int err = hf_db_prepare(t->db, "SELECT slot, id, size, chunks FROM hart ORDER BY slot", &stmt);

	if (err)
		return err;
	while (!(err = hf_db_step(stmt))) {
		size_t n = t->hart_count;

		if (n == cap) {
			struct view_hart *bigger = realloc(t->harts, (cap = cap ? 2 * cap : 8) * sizeof *bigger);

			if (!bigger) {
				err = HF_ERR_NOMEM;
				break;
			}
			t->harts = bigger;
		}
		err = read_hart(stmt, &t->harts[n]);
		if (!err && n && t->harts[n].slot <= t->harts[n - 1].slot)
			err = HF_ERR_STATE;
		if (err)
			break;
		t->hart_count++;
	}
	sqlite3_finalize(stmt);
	return err < 0 ? err : 0;
}

static int fetch_chunk(struct hf_view_table *t, const struct view_hart *hart, uint64_t number, struct hf_view_chunk *c);

/* A size stands for bytes that chunks have: as many as the table says, the last one of which must be there. */
static int check_ends(struct hf_view_table *t)
{
	struct hf_view_chunk *chunk = malloc(sizeof *chunk);
	int err = chunk ? 0 : HF_ERR_NOMEM;

	for (size_t i = 0; !err && i < t->hart_count; i++) {
		const struct view_hart *hart = &t->harts[i];

		err = hart->size / HF_VIEW_CHUNK_MAX > hart->chunks ? HF_ERR_STATE
								     : fetch_chunk(t, hart, hart->chunks - 1, chunk);
	}
	free(chunk);
	return err;
}

static int load(struct hf_view_table *t, const struct hf_identity *identity, const struct hf_view_key *key)
{
	struct hf_view_meta *meta;
	struct stat st;
	int err;

	if (fstat(t->fd, &st) < 0)
		return hf_fault_set_fd("reading", t->fd, errno);
	t->file_size = (uint64_t)st.st_size;
	err = hf_db_open(t->fd, HF_DB_VIEW, &t->db);
	if (err)
		return err;
	meta = calloc(1, sizeof *meta);
	if (!meta)
		return HF_ERR_NOMEM;
	err = hf_view_meta_read(t->db, meta);
	if (!err && (!meta->complete || !hf_view_meta_fits(meta, identity, key)))
		err = HF_ERR_STATE;
	t->limits = meta->limits;
	free(meta);
	if (err || (err = load_harts(t)) ||
	    (err = hf_db_prepare(t->db,
				 "SELECT id, offset, checksum, entry FROM chunk WHERE id BETWEEN ?1 AND ?1 + 1"
				 " ORDER BY id",
				 &t->chunk)) ||
	    (err = hf_db_prepare(t->db, "SELECT offset FROM chunk WHERE id = ?", &t->offset)))
		return err;
	return check_ends(t);
}

int hf_view_table_open(int dirfd, const struct hf_identity *identity, const struct hf_view_key *key,
		       struct hf_view_table **ret_table)
{
	struct hf_view_table *t = calloc(1, sizeof *t);
	int err;

	*ret_table = NULL;
	if (!t)
		return HF_ERR_NOMEM;
	err = hf_index_file_name_view(identity, key, t->name);
	if (!err)
		err = hf_index_file_open(dirfd, t->name, &t->fd);
	if (err) {
		free(t);
		return err;
	}
	t->dirfd = dirfd;
	pthread_mutex_init(&t->lock, NULL);
	err = load(t, identity, key);
	if (err) {
		hf_view_table_close(t);
		return err == HF_ERR_STATE ? HF_ERR_NOT_FOUND : err;
	}
	*ret_table = t;
	return 0;
}

void hf_view_table_close(struct hf_view_table *table)
{
	if (!table)
		return;
	sqlite3_finalize(table->chunk);
	sqlite3_finalize(table->offset);
	hf_db_close(table->db);
	close(table->fd);
	pthread_mutex_destroy(&table->lock);
	free(table->harts);
	free(table);
}

/* The result of a look-up, of which damage is noted. */
static int noted(struct hf_view_table *t, int err)
{
	if (err == HF_ERR_STATE)
		t->damaged = true;
	return err;
}

bool hf_view_table_is_damaged(const struct hf_view_table *table)
{
	return table->damaged;
}

void hf_view_table_remove(const struct hf_view_table *table)
{
	hf_index_file_drop_open(table->dirfd, table->name, table->fd);
}

const char *hf_view_table_name(const struct hf_view_table *table)
{
	return table->name;
}

static const struct view_hart *find_hart(const struct hf_view_table *table, uint32_t id)
{
	for (size_t i = 0; i < table->hart_count; i++)
		if (table->harts[i].id == id)
			return &table->harts[i];
	return NULL;
}

uint64_t hf_view_table_size(const struct hf_view_table *table, uint32_t hart)
{
	const struct view_hart *h = find_hart(table, hart);

	return h ? h->size : 0;
}

uint64_t hf_view_table_memory(struct hf_view_table *table)
{
	uint64_t bytes = sizeof *table + table->hart_count * sizeof *table->harts;

	pthread_mutex_lock(&table->lock);
	bytes += hf_db_memory(table->db);
	pthread_mutex_unlock(&table->lock);
	return bytes;
}

uint64_t hf_view_table_file_size(const struct hf_view_table *table)
{
	return table->file_size;
}

bool hf_view_table_has_limits(const struct hf_view_table *table, const struct hf_chunk_limits *limits)
{
	return hf_chunk_limits_equal(&table->limits, limits);
}

bool hf_view_table_fits(const struct hf_view_table *table, const struct hf_index *index)
{
	const bool records = table->hart_count && table->harts[0].id == HF_HART_RECORDS;
	const struct hf_index_hart *hart;
	uint64_t slot;
	size_t n = 0;

	if (!hf_chunk_limits_equal(&table->limits, hf_index_limits(index)))
		return false;
	for (uint64_t from = 0; (hart = hf_index_next_slot(index, from, &slot)); from = slot + 1) {
		const struct view_hart *h = find_hart(table, hart->id);

		if ((hart->id == HF_HART_RECORDS) != records)
			continue;
		if (!h || h->slot != slot || h->chunks != hart->chunks)
			return false;
		n++;
	}
	return n == table->hart_count;
}

static int read_chunk(const struct hf_view_table *t, const struct view_hart *hart, struct hf_view_chunk *c)
{
	int err;

	if ((err = hf_col_u64(t->chunk, 1, hart->size, &c->offset)) ||
	    (err = hf_col_u64(t->chunk, 2, UINT64_MAX, &c->checksum)))
		return err;
	return hf_col_blob(t->chunk, 3, c->entry, sizeof c->entry, &c->entry_size);
}

static int fetch_chunk(struct hf_view_table *t, const struct view_hart *hart, uint64_t number, struct hf_view_chunk *c)
{
	uint64_t id = hf_row_id(hart->slot, number), got, end = hart->size;
	int err;

	hf_db_bind(t->chunk, 1, &id);
	err = hf_db_step(t->chunk);
	if (!err)
		err = hf_col_u64(t->chunk, 0, UINT64_MAX, &got);
	if (!err && got != id)
		err = HF_NOTE_END;
	if (!err)
		err = read_chunk(t, hart, c);
	if (!err && number + 1 < hart->chunks) {
		err = hf_db_step(t->chunk);
		if (!err)
			err = hf_col_u64(t->chunk, 1, hart->size, &end);
	}
	sqlite3_reset(t->chunk);
	if (err)
		return err > 0 ? HF_ERR_STATE : err;
	if (end < c->offset || end - c->offset > HF_VIEW_CHUNK_MAX || (number == 0 && c->offset != 0))
		return HF_ERR_STATE;
	c->number = number;
	c->size = end - c->offset;
	return 0;
}

int hf_view_table_chunk(struct hf_view_table *table, uint32_t hart, uint64_t number, struct hf_view_chunk *ret_chunk)
{
	const struct view_hart *h = find_hart(table, hart);
	int err;

	if (!h || number >= h->chunks)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&table->lock);
	err = fetch_chunk(table, h, number, ret_chunk);
	pthread_mutex_unlock(&table->lock);
	return noted(table, err);
}

struct offset_key {
	struct hf_view_table *table;
	uint64_t slot;
};

static int key_of(void *ctx, uint64_t number, uint64_t *ret_key)
{
	const struct offset_key *k = ctx;
	uint64_t id = hf_row_id(k->slot, number);
	int err;

	hf_db_bind(k->table->offset, 1, &id);
	err = hf_db_step(k->table->offset);
	if (!err)
		err = hf_col_u64(k->table->offset, 0, HF_COUNT_MAX, ret_key);
	sqlite3_reset(k->table->offset);
	return err > 0 ? HF_ERR_STATE : err;
}

int hf_view_table_chunk_of(struct hf_view_table *table, uint32_t hart, uint64_t offset,
			   struct hf_view_chunk *ret_chunk)
{
	const struct view_hart *h = find_hart(table, hart);
	struct offset_key k = {.table = table};
	uint64_t number;
	int err;

	if (!h)
		return HF_ERR_NOT_FOUND;
	k.slot = h->slot;
	pthread_mutex_lock(&table->lock);
	err = hf_search(key_of, &k, h->chunks, h->size, offset, &number);
	if (!err)
		err = fetch_chunk(table, h, number, ret_chunk);
	pthread_mutex_unlock(&table->lock);
	if (!err && (offset < ret_chunk->offset || offset - ret_chunk->offset >= ret_chunk->size))
		err = HF_ERR_STATE;
	return noted(table, err);
}
