/* SPDX-License-Identifier: Apache-2.0 */
#include "index/catalogue/catalogue_file.h"
#include "index/table/row.h"

#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* The row of a catalogue about itself. */
struct meta {
	bool complete;
	uint64_t ino;
	int64_t btime_ns;
	const char *path, *views;
};

static const struct hf_column columns[] = {
	HF_COLUMN(NUMBER, meta, complete, 1),
	HF_COLUMN(LENT, meta, path, HF_CATALOGUE_PATH_LIMIT),
	HF_COLUMN_ANY(meta, ino),
	HF_COLUMN_ANY(meta, btime_ns),
	HF_COLUMN(LENT, meta, views, HF_CATALOGUE_LINES_LIMIT),
};
static const struct hf_table meta_table = HF_TABLE("meta", HF_TABLE_META, columns, struct meta);

/* Whether the file is the catalogue of this place. */
static int check_meta(const struct hf_catalogue_place *place, sqlite3 *db)
{
	sqlite3_stmt *stmt;
	struct meta meta;
	int err = hf_db_prepare(db, "SELECT * FROM meta", &stmt);

	if (err)
		return err;
	err = hf_db_step(stmt);
	if (!err)
		err = hf_row_read(stmt, &meta_table, NULL, &meta);
	if (!err && (!meta.complete || !meta.path || !meta.views || strcmp(meta.path, place->path) != 0 ||
		     meta.ino != place->ino || meta.btime_ns != place->btime_ns || strcmp(meta.views, place->views) != 0))
		err = HF_ERR_STATE;
	sqlite3_finalize(stmt);
	return err > 0 ? HF_ERR_STATE : err;
}

static int write_meta(const struct hf_catalogue_place *place, sqlite3 *db)
{
	const struct meta meta = {true, place->ino, place->btime_ns, place->path, place->views};
	sqlite3_stmt *stmt;
	int err = hf_row_prepare(db, &meta_table, NULL, &stmt);

	if (!err)
		err = hf_row_put(stmt, &meta_table, 1, &meta);
	sqlite3_finalize(stmt);
	return err;
}

void hf_catalogue_file_close(struct hf_catalogue_file *file)
{
	sqlite3_finalize(file->find);
	if (file->db)
		hf_db_close(file->db);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct hf_catalogue_file){.fd = -1};
}

/* Pages that stay in memory: a thousandth of a large catalogue; the kernel caches the file, too. */
#define FILE_CACHE "PRAGMA cache_size = 64"

int hf_catalogue_file_open(const struct hf_catalogue_place *place, struct hf_catalogue_file *ret_file)
{
	int err;

	*ret_file = (struct hf_catalogue_file){.fd = -1};
	err = hf_index_file_open(place->dir, place->name, &ret_file->fd);
	if (!err)
		err = hf_db_open(ret_file->fd, HF_DB_CATALOGUE, &ret_file->db);
	if (!err)
		err = hf_db_run(ret_file->db, FILE_CACHE);
	if (!err)
		err = check_meta(place, ret_file->db);
	if (!err)
		err = hf_db_prepare(ret_file->db, "SELECT * FROM file WHERE id = ?", &ret_file->find);
	if (err)
		hf_catalogue_file_close(ret_file);
	return err;
}

int hf_catalogue_file_find(struct hf_catalogue_file *file, const struct hf_catalogue_views *views, const char *path,
			   const struct hf_catalogue_stamp *stamp, struct hf_catalogue_entry *entry)
{
	const uint64_t id = (uint64_t)hf_catalogue_row_id(path);
	struct hf_catalogue_row row;
	int err;

	if (!file->db)
		return HF_ERR_NOT_FOUND;
	hf_db_bind(file->find, 1, &id);
	err = hf_db_step(file->find);
	if (!err)
		err = hf_catalogue_row_read(file->find, &row);
	if (!err)
		err = hf_catalogue_row_is_of(&row, path, stamp) ? hf_catalogue_row_take(views, &row, entry)
								: HF_NOTE_END;
	sqlite3_reset(file->find);
	return err && err != HF_ERR_NOMEM ? HF_ERR_NOT_FOUND : err;
}

/* ---- a new file from the old one and waiting rows ---- */

struct merge {
	const struct hf_catalogue_place *place;
	struct hf_catalogue_file old;
	sqlite3 *db;
	sqlite3_stmt *add;
	const struct hf_catalogue_row *const *rows; /* by id */
	size_t count, next;
	/* exists is asked for so many entries from some id on, another one each time. */
	int64_t ask_from;
	unsigned asks;
};

enum { ASKS = 512 };

static int64_t some_id(void)
{
	struct timespec now;
	int64_t id;

	clock_gettime(CLOCK_REALTIME, &now);
	id = (int64_t)XXH3_64bits(&now, sizeof now);
	/* The first ids are rarely reached from a smaller one: one time in four it begins with them. */
	return id % 4 ? id : INT64_MIN;
}

static int put(struct merge *m, const struct hf_catalogue_row *row)
{
	return hf_row_put(m->add, &hf_table_catalogue_file, (uint64_t)row->id, row);
}

/* Writes the waiting rows before id (NULL: all). */
static int write_waiting(struct merge *m, const int64_t *id)
{
	int err = 0;

	while (!err && m->next < m->count && (!id || m->rows[m->next]->id < *id)) {
		const struct hf_catalogue_row *row = m->rows[m->next++];

		if (row->entry.kind != HF_CATALOGUE_GONE)
			err = put(m, row);
	}
	return err;
}

static bool is_kept(struct merge *m, const struct hf_catalogue_row *row)
{
	if (m->next < m->count && m->rows[m->next]->id == row->id)
		return false;
	if (!m->place->exists || !m->asks || row->id < m->ask_from)
		return true;
	m->asks--;
	return m->place->exists(m->place->ctx, row->text[HF_CATALOGUE_PATH]);
}

/* Writes old and new rows in order. Old rows that make no sense, and all behind a damaged page, are left out: these
 * files are probed again. */
static int merge_rows(struct merge *m)
{
	sqlite3_stmt *stmt;
	struct hf_catalogue_row row;
	int err = 0;

	if (!m->old.db)
		return write_waiting(m, NULL);
	err = hf_db_prepare(m->old.db, "SELECT * FROM file ORDER BY id", &stmt);
	if (err)
		return err;
	while (!err && hf_db_step(stmt) == 0) {
		if (hf_catalogue_row_read(stmt, &row))
			continue;
		err = write_waiting(m, &row.id);
		if (!err && is_kept(m, &row))
			err = put(m, &row);
	}
	sqlite3_finalize(stmt);
	return err ? err : write_waiting(m, NULL);
}

static int write_file(struct merge *m, struct hf_part *part)
{
	int err = 0;

	/* A file that a killed process left is of no use. */
	if (hf_db_look(part->fd, HF_DB_CATALOGUE) != HF_LOOK_EMPTY)
		err = hf_part_reset(part);
	if (!err)
		err = hf_db_open_part(part->fd, part->dirfd, part->part, HF_DB_CATALOGUE, &m->db);
	/* It is never resumed: pages may be written in any order. */
	if (!err)
		err = hf_db_run(m->db, "PRAGMA cache_size = 256; PRAGMA cache_spill = ON");
	if (!err)
		err = write_meta(m->place, m->db);
	if (!err)
		err = hf_row_prepare(m->db, &hf_table_catalogue_file, NULL, &m->add);
	if (!err)
		err = merge_rows(m);
	sqlite3_finalize(m->add);
	if (!err)
		err = hf_db_finish(m->db);
	if (m->db)
		hf_db_close(m->db);
	return err;
}

/* With the lock on the private file, so that no other process publishes meanwhile. */
int hf_catalogue_file_write(const struct hf_catalogue_place *place, const struct hf_catalogue_row *const *rows,
			    size_t count, struct hf_catalogue_file *ret_file)
{
	struct merge m = {
		.place = place, .old.fd = -1, .rows = rows, .count = count, .ask_from = some_id(), .asks = ASKS};
	struct hf_part part;
	int err = hf_part_open(place->dir, place->name, &part);

	*ret_file = (struct hf_catalogue_file){.fd = -1};
	if (err)
		return err;
	part.replaces = true;
	/* A damaged old file counts as none. */
	if (hf_catalogue_file_open(place, &m.old) == HF_ERR_NOMEM)
		err = HF_ERR_NOMEM;
	if (!err)
		err = write_file(&m, &part);
	hf_catalogue_file_close(&m.old);
	if (!err)
		err = hf_part_publish(&part);
	if (err)
		hf_part_remove(&part);
	hf_part_close(&part);
	return err ? err : hf_catalogue_file_open(place, ret_file);
}
