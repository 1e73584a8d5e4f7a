/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/store.h"

#include "codecs/base/array.h"
#include "index/base/fault.h"
#include "index/store/pack.h"
#include "index/table/row_pages.h"
#include "index/table/vfs.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* The key of the row of table meta. */
enum { META_KEY = 1 };

struct hf_store {
	struct hf_part *part;	/* NULL: it is published */
	struct hf_sheet *sheet; /* NULL: it is a database */
	int fd;			/* of a published database */
	uint64_t size;		/* of its file */
	sqlite3 *db;
	struct hf_db_table table[HF_TABLES_MOST]; /* of the database */
	struct hf_row_pages pages;		  /* of its table chunk */
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
		hf_db_table_close(&store->table[i]);
	hf_row_pages_close(&store->pages);
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
	return sizeof *store + (store->sheet ? hf_sheet_size(store->sheet)
					     : hf_db_memory(store->db) + hf_row_pages_memory(&store->pages));
}

/* ---- rows ---- */

static struct hf_db_table *table_of(struct hf_store *store, const struct hf_table *table)
{
	struct hf_db_table *t = &store->table[table->id];

	t->db = store->db;
	t->table = table;
	return t;
}

static struct hf_row_pages *pages_of(struct hf_store *store, const struct hf_table *table)
{
	store->pages.table = table;
	store->pages.rows.db = store->db;
	store->pages.rows.table = &hf_table_page;
	return &store->pages;
}

int hf_store_find(struct hf_store *store, const struct hf_table *table, enum hf_seek seek, uint64_t key,
		  uint64_t *ret_key, void *ret_row)
{
	if (store->sheet)
		return hf_sheet_find(store->sheet, table, seek, key, ret_key, ret_row);
	return table->paged ? hf_row_pages_find(pages_of(store, table), seek, key, ret_key, ret_row)
			    : hf_db_table_find(table_of(store, table), seek, key, ret_key, ret_row);
}

int hf_store_number(struct hf_store *store, const struct hf_table *table, uint64_t key, uint64_t *ret_number)
{
	if (store->sheet)
		return hf_sheet_number(store->sheet, table, key, ret_number);
	return table->paged ? hf_row_pages_number(pages_of(store, table), key, ret_number)
			    : hf_db_table_number(table_of(store, table), key, ret_number);
}

int hf_store_number_near(struct hf_store *store, const struct hf_table *table, uint64_t key, uint64_t *ret_key,
			 uint64_t *ret_number)
{
	*ret_key = key;
	return !store->sheet && table->paged ? hf_row_pages_number_near(pages_of(store, table), key, ret_key, ret_number)
					     : hf_store_number(store, table, key, ret_number);
}

static int list_rows(struct hf_store *store, const struct hf_table *table, bool keyed, uint64_t max, uint8_t **rows,
		     size_t *count)
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
		err = hf_store_find(store, table, HF_SEEK_FROM, key, &key, row);
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
	return store->sheet || table->paged ? list_rows(store, table, keyed, max, ret_rows, ret_count)
					    : hf_row_list(store->db, table, keyed, max, ret_rows, ret_count);
}

/* A sheet that has grown too large for a pack: whoever builds goes elsewhere. */
static int check_size(const struct hf_store *store)
{
	return hf_sheet_size(store->sheet) > HF_PACK_FILE_MAX ? hf_fault_set("keeping in memory", NULL, E2BIG) : 0;
}

int hf_store_put(struct hf_store *store, const struct hf_table *table, uint64_t key, const void *row)
{
	int err;

	if (store->sheet) {
		err = hf_sheet_put(store->sheet, table, key, row);
		return err ? err : check_size(store);
	}
	return table->paged ? hf_row_pages_put(pages_of(store, table), key, row)
			    : hf_db_table_put(table_of(store, table), key, row);
}

int hf_store_cut(struct hf_store *store, const struct hf_table *table, uint64_t first, uint64_t last)
{
	if (store->sheet) {
		hf_sheet_cut(store->sheet, table, first, last);
		return 0;
	}
	return table->paged ? hf_row_pages_cut(pages_of(store, table), first, last)
			    : hf_db_table_cut(table_of(store, table), first, last);
}

int hf_store_commit(struct hf_store *store)
{
	int err;

	if (store->sheet)
		return 0;
	err = hf_row_pages_write(&store->pages);
	if (!err)
		err = hf_db_commit(store->db, hf_part_journaled(store->part));
	return err ? err : hf_part_count(store->part);
}

int hf_store_finish(struct hf_store *store)
{
	uint8_t *bytes;
	size_t size;
	int err;

	if (!store->sheet) {
		err = hf_row_pages_write(&store->pages);
		if (!err)
			err = hf_db_finish(store->db);
		return err || hf_part_journaled(store->part) < 0 ? err : hf_vfs_settle(hf_part_journaled(store->part));
	}
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
