/* SPDX-License-Identifier: Apache-2.0 */
#include "index/catalogue/catalogue_file.h"
#include "index/table/row.h"

#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* Whether the file says that it is the catalogue it should be. */
static int check_meta(const struct hf_catalogue_place *place, sqlite3 *db)
{
	const char *path, *views;
	uint64_t complete, ino, btime;
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(db, "SELECT complete, path, inode, btime_ns, views FROM meta", &stmt);

	if (err)
		return err;
	err = hf_db_step(stmt);
	if (!err && ((err = hf_col_u64(stmt, 0, 1, &complete)) ||
		     (err = hf_catalogue_row_text(stmt, 1, HF_CATALOGUE_PATH_LIMIT, &path)) ||
		     (err = hf_col_u64(stmt, 2, UINT64_MAX, &ino)) || (err = hf_col_u64(stmt, 3, UINT64_MAX, &btime)) ||
		     (err = hf_catalogue_row_text(stmt, 4, HF_CATALOGUE_LINES_LIMIT, &views))))
		;
	else if (!err && (!complete || !path || !views || strcmp(path, place->path) != 0 || ino != place->ino ||
			  (int64_t)btime != place->btime_ns || strcmp(views, place->views) != 0))
		err = HF_ERR_STATE;
	sqlite3_finalize(stmt);
	return err > 0 ? HF_ERR_STATE : err;
}

static int write_meta(const struct hf_catalogue_place *place, sqlite3 *db)
{
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(db, "INSERT INTO meta VALUES (1, 1, ?, ?, ?, ?)", &stmt);

	if (err)
		return err;
	sqlite3_bind_text(stmt, 1, place->path, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)place->ino);
	sqlite3_bind_int64(stmt, 3, place->btime_ns);
	sqlite3_bind_text(stmt, 4, place->views, -1, SQLITE_STATIC);
	err = hf_db_exec(stmt);
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

/* Pages that a lookup may find in memory: a thousandth of what a large catalogue has, which the kernel caches too. */
#define FILE_CACHE "PRAGMA cache_size = 64"

int hf_catalogue_file_open(const struct hf_catalogue_place *place, struct hf_catalogue_file *ret_file)
{
	int err;

	*ret_file = (struct hf_catalogue_file){.fd = -1};
	err = hf_index_file_open(place->dirfd, place->name, &ret_file->fd);
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

/* ---- a new file of the old one and of what waits ---- */

struct merge {
	const struct hf_catalogue_place *place;
	struct hf_catalogue_file old;
	sqlite3 *db;
	sqlite3_stmt *add;
	const struct hf_catalogue_row *const *rows; /* by id */
	size_t count, next;
	/* Entries that are asked after: so many from some id on, which is another one each time. */
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
	/* The first ids of all have few before them from which they could be reached. */
	return id % 4 ? id : INT64_MIN;
}

/* Those that come before id, or all. */
static int write_waiting(struct merge *m, const int64_t *id)
{
	int err = 0;

	while (!err && m->next < m->count && (!id || m->rows[m->next]->id < *id)) {
		const struct hf_catalogue_row *row = m->rows[m->next++];

		if (!hf_catalogue_row_is_gone(row))
			err = hf_catalogue_row_write(m->add, row);
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
	return m->place->exists(m->place->ctx, hf_catalogue_row_path(row));
}

/* The old rows in their order with the new ones between. A row that makes no sense is left out, behind a damaged page
 * all are: they will be found out again. */
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
			err = hf_catalogue_row_write(m->add, &row);
	}
	sqlite3_finalize(stmt);
	return err ? err : write_waiting(m, NULL);
}

static int write_file(struct merge *m, struct hf_part *part)
{
	int err = 0;

	/* A file left over by someone who was killed is of no use. */
	if (hf_db_look(part->fd, HF_DB_CATALOGUE) != HF_LOOK_EMPTY)
		err = hf_part_reset(part);
	if (!err)
		err = hf_db_open_part(part->fd, part->dirfd, part->part, HF_DB_CATALOGUE, &m->db);
	/* Nobody will ever resume it: pages may go to the file as they come. */
	if (!err)
		err = hf_db_run(m->db, "PRAGMA cache_size = 256; PRAGMA cache_spill = ON");
	if (!err)
		err = write_meta(m->place, m->db);
	if (!err)
		err = hf_catalogue_row_prepare(m->db, &m->add);
	if (!err)
		err = merge_rows(m);
	sqlite3_finalize(m->add);
	if (!err)
		err = hf_db_finish(m->db);
	if (m->db)
		hf_db_close(m->db);
	return err;
}

/* With the lock on the private file, so that nobody publishes what this one does not see. */
int hf_catalogue_file_write(const struct hf_catalogue_place *place, const struct hf_catalogue_row *const *rows,
			    size_t count, struct hf_catalogue_file *ret_file)
{
	struct merge m = {
		.place = place, .old.fd = -1, .rows = rows, .count = count, .ask_from = some_id(), .asks = ASKS};
	struct hf_part part;
	int err = hf_part_open(place->dirfd, place->name, &part);

	*ret_file = (struct hf_catalogue_file){.fd = -1};
	if (err)
		return err;
	/* Another one's of no use is the same as none. */
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
