/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/store.h"

#include "codecs/base/array.h"
#include "index/base/fault.h"
#include "index/base/lock.h"
#include "index/table/row_pages.h"
#include "index/table/vfs.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* The key of the row of table meta. */
enum { META_KEY = 1 };

struct hf_store {
	struct hf_part *part; /* NULL: it is published */
	enum hf_db_kind kind;
	struct hf_packed packed;	 /* where it is in a pack */
	int fd;				 /* of a published database */
	uint64_t size;			 /* of its file */
	pthread_mutex_t own_lock, *lock; /* of the connection: others have that of a pack, too */
	struct hf_connection own, *connection;
	struct hf_row_pages pages; /* of its table chunk */
};

/* ---- opening and closing ---- */

static int new_store(struct hf_part *part, enum hf_db_kind kind, struct hf_store **ret_store)
{
	struct hf_store *store = calloc(1, sizeof *store);

	*ret_store = store;
	if (!store)
		return HF_ERR_NOMEM;
	store->part = part;
	store->kind = kind;
	store->fd = -1;
	pthread_mutex_init(&store->own_lock, NULL);
	store->lock = &store->own_lock;
	store->connection = &store->own;
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

static int open_file(struct hf_store *store)
{
	struct stat st;

	if (fstat(store->fd, &st) < 0)
		return hf_fault_set_fd("reading", store->fd, errno);
	store->size = (uint64_t)st.st_size;
	return hf_db_open(store->fd, store->kind, &store->own.db);
}

static void be_packed(struct hf_store *store, const struct hf_packed *file)
{
	store->packed = *file;
	store->connection = &file->pack->connection;
	store->lock = &file->pack->lock;
}

int hf_store_open_packed(const struct hf_packed *file, enum hf_db_kind kind, struct hf_store **ret_store)
{
	int err = new_store(NULL, kind, ret_store);

	if (err) {
		hf_pack_close(file->pack);
		return err;
	}
	be_packed(*ret_store, file);
	pthread_mutex_lock(&file->pack->lock);
	err = hf_pack_connect(file->pack);
	pthread_mutex_unlock(&file->pack->lock);
	return checked(ret_store, err);
}

int hf_store_open(const struct hf_store_dir *dir, const char *name, enum hf_db_kind kind, struct hf_store **ret_store)
{
	struct hf_packed file;
	int fd, err = hf_index_file_open(dir, name, &fd);

	*ret_store = NULL;
	if (err == HF_ERR_NOT_FOUND) {
		err = hf_index_file_find(dir, name, &file);
		return err ? err : hf_store_open_packed(&file, kind, ret_store);
	}
	if (err)
		return err;
	err = new_store(NULL, kind, ret_store);
	if (err) {
		close(fd);
		return err;
	}
	(*ret_store)->fd = fd;
	return checked(ret_store, open_file(*ret_store));
}

int hf_store_open_part(struct hf_part *part, enum hf_db_kind kind, struct hf_store **ret_store)
{
	int err = new_store(part, kind, ret_store);

	if (err || !part->packs)
		return err ? err
			   : checked(ret_store,
				     hf_db_open_part(part->fd, part->dirfd, part->part, kind, &(*ret_store)->own.db));
	hf_pack_ref(part->packed.pack);
	be_packed(*ret_store, &part->packed);
	return 0;
}

void hf_store_close(struct hf_store *store)
{
	if (!store)
		return;
	hf_row_pages_close(&store->pages);
	hf_connection_close(&store->own);
	hf_pack_close(store->packed.pack);
	pthread_mutex_destroy(&store->own_lock);
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
	return store->packed.pack ? store->packed.bytes : store->size;
}

uint64_t hf_store_memory(const struct hf_store *store)
{
	return sizeof *store + hf_row_pages_memory(&store->pages) + (store->own.db ? hf_db_memory(store->own.db) : 0);
}

/* ---- rows ---- */

static struct hf_db_table *table_of(struct hf_store *store, const struct hf_table *table)
{
	return hf_connection_table(store->connection, store->kind, table, store->packed.part);
}

static struct hf_row_pages *pages_of(struct hf_store *store, const struct hf_table *table)
{
	store->pages.table = table;
	store->pages.rows = table_of(store, &hf_table_page);
	store->pages.scratch = store->packed.pack ? &store->connection->scratch : &store->pages.own;
	return &store->pages;
}

int hf_store_find(struct hf_store *store, const struct hf_table *table, enum hf_seek seek, uint64_t key,
		  uint64_t *ret_key, void *ret_row)
{
	HF_LOCKED(store->lock);
	return table->paged ? hf_row_pages_find(pages_of(store, table), seek, key, ret_key, ret_row)
			    : hf_db_table_find(table_of(store, table), seek, key, ret_key, ret_row);
}

int hf_store_number(struct hf_store *store, const struct hf_table *table, uint64_t key, uint64_t *ret_number)
{
	HF_LOCKED(store->lock);
	return table->paged ? hf_row_pages_number(pages_of(store, table), key, ret_number)
			    : hf_db_table_number(table_of(store, table), key, ret_number);
}

int hf_store_number_near(struct hf_store *store, const struct hf_table *table, uint64_t key, uint64_t *ret_key,
			 uint64_t *ret_number)
{
	HF_LOCKED(store->lock);
	*ret_key = key;
	return table->paged ? hf_row_pages_number_near(pages_of(store, table), key, ret_key, ret_number)
			    : hf_db_table_number(table_of(store, table), key, ret_number);
}

int hf_store_list(struct hf_store *store, const struct hf_table *table, bool keyed, uint64_t max, void *ret_rows,
		  size_t *ret_count)
{
	uint8_t **rows = ret_rows;
	uint64_t key = 0;
	int err = 0;

	*rows = NULL;
	for (*ret_count = 0; !err; key++) {
		uint8_t *row;

		err = hf_array_room(rows, *ret_count, table->row_size);
		if (err)
			break;
		row = *rows + *ret_count * table->row_size;
		err = hf_store_find(store, table, HF_SEEK_FROM, key, &key, row);
		if (!err && *ret_count == max)
			err = HF_ERR_STATE;
		if (!err && keyed)
			memcpy(row, &key, sizeof key);
		*ret_count += !err;
	}
	return err < 0 ? err : 0;
}

/* Of one in a pack: whoever builds one that has grown too large for that goes elsewhere. */
static int count_row(struct hf_store *store, const struct hf_table *table, const void *row)
{
	if (!store->packed.pack)
		return 0;
	store->part->packed.bytes += (uint32_t)hf_row_size(table, row);
	return store->part->packed.bytes > HF_PACK_FILE_MAX ? hf_fault_set("keeping in memory", NULL, E2BIG) : 0;
}

int hf_store_put(struct hf_store *store, const struct hf_table *table, uint64_t key, const void *row)
{
	int err = count_row(store, table, row);

	HF_LOCKED(store->lock);
	if (err)
		return err;
	return table->paged ? hf_row_pages_put(pages_of(store, table), key, row)
			    : hf_db_table_put(table_of(store, table), key, row);
}

int hf_store_cut(struct hf_store *store, const struct hf_table *table, uint64_t first, uint64_t last)
{
	HF_LOCKED(store->lock);
	return table->paged ? hf_row_pages_cut(pages_of(store, table), first, last)
			    : hf_db_table_cut(table_of(store, table), first, last);
}

static int write_pages(struct hf_store *store)
{
	HF_LOCKED(store->lock);
	return store->pages.table ? hf_row_pages_write(pages_of(store, store->pages.table)) : 0;
}

int hf_store_commit(struct hf_store *store)
{
	int err = write_pages(store);

	if (err || store->packed.pack)
		return err;
	err = hf_db_commit(store->own.db, hf_part_journaled(store->part));
	return err ? err : hf_part_count(store->part);
}

int hf_store_finish(struct hf_store *store)
{
	int err = write_pages(store);

	if (err || store->packed.pack)
		return err;
	err = hf_db_finish(store->own.db);
	return err || hf_part_journaled(store->part) < 0 ? err : hf_vfs_settle(hf_part_journaled(store->part));
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
