/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store.h"

#include "index/array.h"
#include "index/fault.h"
#include "index/pack.h"
#include "index/row_db.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The key of the row of table meta. */
enum { META_KEY = 1 };

/* What is asked of a table, prepared when it is first asked: HF_SEEK_... and these. */
enum { PUT = HF_SEEK_BACK + 1, CUT, STATEMENTS };

struct hf_store {
	struct hf_part *part;	/* NULL: it is published */
	struct hf_sheet *sheet; /* NULL: it is a database */
	int fd;			/* of a published database */
	uint64_t size;		/* of its file */
	sqlite3 *db;
	sqlite3_stmt *stmt[HF_TABLES_MOST][STATEMENTS];
};

/* ---- opening and closing ---- */

static int new_store(struct hf_part *part, struct hf_store **ret_store)
{
	*ret_store = calloc(1, sizeof **ret_store);
	if (!*ret_store)
		return HF_ERR_NOMEM;
	(*ret_store)->part = part;
	(*ret_store)->fd = -1;
	return 0;
}

/* What goes wrong leaves none. */
static int checked(struct hf_store **store, int err)
{
	if (!err)
		return 0;
	hf_store_close(*store);
	*store = NULL;
	return err;
}

int hf_store_open_bytes(uint8_t *bytes, size_t size, enum hf_db_kind kind, struct hf_store **ret_store)
{
	int err = new_store(NULL, ret_store);

	if (err) {
		free(bytes);
		return err;
	}
	return checked(ret_store, hf_sheet_load(bytes, size, kind, &(*ret_store)->sheet));
}

static int open_file(struct hf_store *store, enum hf_db_kind kind)
{
	struct stat st;

	if (fstat(store->fd, &st) < 0)
		return hf_fault_set_fd("reading", store->fd, errno);
	store->size = (uint64_t)st.st_size;
	return hf_db_open(store->fd, kind, &store->db);
}

int hf_store_open(int dirfd, const char *name, enum hf_db_kind kind, struct hf_store **ret_store)
{
	uint8_t *bytes;
	size_t size;
	int fd, err = hf_index_file_open(dirfd, name, &fd);

	*ret_store = NULL;
	if (err == HF_ERR_NOT_FOUND) {
		err = hf_index_file_read(dirfd, name, &bytes, &size);
		return err ? err : hf_store_open_bytes(bytes, size, kind, ret_store);
	}
	if (err)
		return err;
	err = new_store(NULL, ret_store);
	if (err) {
		close(fd);
		return err;
	}
	(*ret_store)->fd = fd;
	return checked(ret_store, open_file(*ret_store, kind));
}

int hf_store_open_part(struct hf_part *part, enum hf_db_kind kind, struct hf_store **ret_store)
{
	int err = new_store(part, ret_store);

	if (err)
		return err;
	err = part->packs ? hf_sheet_new(kind, &(*ret_store)->sheet)
			  : hf_db_open_part(part->fd, part->dirfd, part->part, kind, &(*ret_store)->db);
	return checked(ret_store, err);
}

void hf_store_close(struct hf_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < HF_TABLES_MOST; i++)
		for (size_t j = 0; j < STATEMENTS; j++)
			sqlite3_finalize(store->stmt[i][j]);
	hf_db_close(store->db);
	hf_sheet_free(store->sheet);
	if (store->fd >= 0)
		close(store->fd);
	free(store);
}

int hf_store_fd(const struct hf_store *store)
{
	return store->fd;
}

uint64_t hf_store_file_size(const struct hf_store *store)
{
	return store->sheet ? hf_sheet_size(store->sheet) : store->size;
}

uint64_t hf_store_memory(const struct hf_store *store)
{
	return sizeof *store + (store->sheet ? hf_sheet_size(store->sheet) : hf_db_memory(store->db));
}

/* ---- statements ---- */

/* Every table has its key as its rowid. */
static int statement(struct hf_store *store, const struct hf_table *table, int kind, sqlite3_stmt **ret_stmt)
{
	static const char *const forms[] = {
		[HF_SEEK_AT] = "SELECT * FROM %s WHERE rowid = ?",
		[HF_SEEK_FROM] = "SELECT * FROM %s WHERE rowid >= ? ORDER BY rowid LIMIT 1",
		[HF_SEEK_BACK] = "SELECT * FROM %s WHERE rowid <= ? ORDER BY rowid DESC LIMIT 1",
		[CUT] = "DELETE FROM %s WHERE rowid >= ? AND rowid <= ?",
	};
	sqlite3_stmt **stmt = &store->stmt[table->id][kind];
	char sql[80];
	int err = 0;

	if (!*stmt && kind == PUT) {
		err = hf_row_prepare(store->db, table, stmt);
	} else if (!*stmt) {
		snprintf(sql, sizeof sql, forms[kind], table->name);
		err = hf_db_prepare(store->db, sql, stmt);
	}
	*ret_stmt = *stmt;
	return err;
}

/* ---- rows ---- */

int hf_store_find(struct hf_store *store, const struct hf_table *table, enum hf_seek seek, uint64_t key,
		  uint64_t *ret_key, void *ret_row)
{
	sqlite3_stmt *stmt;
	int err;

	if (store->sheet)
		return hf_sheet_find(store->sheet, table, seek, key, ret_key, ret_row);
	err = statement(store, table, seek, &stmt);
	if (err)
		return err;
	hf_db_bind(stmt, 1, &key);
	err = hf_db_step(stmt);
	if (!err)
		err = hf_row_read(stmt, table, ret_key, ret_row);
	sqlite3_reset(stmt);
	return err;
}

int hf_store_number(struct hf_store *store, const struct hf_table *table, uint64_t key, uint64_t *ret_number)
{
	sqlite3_stmt *stmt;
	int err;

	if (store->sheet)
		return hf_sheet_number(store->sheet, table, key, ret_number);
	err = statement(store, table, HF_SEEK_AT, &stmt);
	if (err)
		return err;
	hf_db_bind(stmt, 1, &key);
	err = hf_db_step(stmt);
	if (!err)
		err = hf_col_u64(stmt, 1, table->column->max, ret_number);
	sqlite3_reset(stmt);
	return err;
}

static int list_sheet(const struct hf_sheet *sheet, const struct hf_table *table, bool keyed, uint64_t max,
		      uint8_t **rows, size_t *count)
{
	uint64_t key = 0;
	int err = 0;

	*rows = NULL;
	for (*count = 0; !err; key++) {
		uint8_t *row;

		err = hf_array_room(rows, *count, table->row_size);
		if (err)
			break;
		row = *rows + *count * table->row_size;
		err = hf_sheet_find(sheet, table, HF_SEEK_FROM, key, &key, row);
		if (!err && *count == max)
			err = HF_ERR_STATE;
		if (!err && keyed)
			memcpy(row, &key, sizeof key);
		*count += !err;
	}
	return err < 0 ? err : 0;
}

int hf_store_list(struct hf_store *store, const struct hf_table *table, bool keyed, uint64_t max, void *ret_rows,
		  size_t *ret_count)
{
	return store->sheet ? list_sheet(store->sheet, table, keyed, max, ret_rows, ret_count)
			    : hf_row_list(store->db, table, keyed, max, ret_rows, ret_count);
}

/* A sheet that has grown too large for a pack: whoever builds goes elsewhere. */
static int check_size(const struct hf_store *store)
{
	return hf_sheet_size(store->sheet) > HF_PACK_FILE_MAX ? hf_fault_set("keeping in memory", NULL, E2BIG) : 0;
}

int hf_store_put(struct hf_store *store, const struct hf_table *table, uint64_t key, const void *row)
{
	sqlite3_stmt *stmt;
	int err;

	if (store->sheet) {
		err = hf_sheet_put(store->sheet, table, key, row);
		return err ? err : check_size(store);
	}
	err = statement(store, table, PUT, &stmt);
	return err ? err : hf_row_put(stmt, table, key, row);
}

int hf_store_cut(struct hf_store *store, const struct hf_table *table, uint64_t first, uint64_t last)
{
	const uint64_t range[2] = {first, last};
	sqlite3_stmt *stmt;
	int err;

	if (store->sheet) {
		hf_sheet_cut(store->sheet, table, first, last);
		return 0;
	}
	err = statement(store, table, CUT, &stmt);
	if (err)
		return err;
	hf_db_bind(stmt, 2, range);
	return hf_db_exec(stmt);
}

int hf_store_commit(struct hf_store *store)
{
	int err;

	if (store->sheet)
		return 0;
	err = hf_db_commit(store->db, hf_part_journaled(store->part));
	return err ? err : hf_part_count(store->part);
}

int hf_store_finish(struct hf_store *store)
{
	uint8_t *bytes;
	size_t size;
	int err;

	if (!store->sheet)
		return hf_db_finish(store->db);
	err = hf_sheet_save(store->sheet, &bytes, &size);
	if (!err)
		hf_part_fill(store->part, bytes, size);
	return err;
}

/* ---- table meta ---- */

int hf_store_meta(struct hf_store *store, const struct hf_table *table, void *ret_meta)
{
	int err = hf_store_find(store, table, HF_SEEK_AT, META_KEY, NULL, ret_meta);

	return err > 0 ? HF_ERR_STATE : err;
}

int hf_store_set_meta(struct hf_store *store, const struct hf_table *table, const void *meta)
{
	return hf_store_put(store, table, META_KEY, meta);
}
