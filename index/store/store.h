/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of one decode index, view table or summary, as whoever reads or writes them sees them: a database (db.h)
 * in a file of its own, or a part of one in a pack (pack.h). Not thread-safe. Internal to index/.
 */
#ifndef HF_INDEX_STORE_H
#define HF_INDEX_STORE_H

#include "index/store/file.h"
#include "index/table/connection.h"

struct hf_store;

/* A published file, read-only. HF_ERR_NOT_FOUND: there is none; HF_ERR_STATE: it is not of that kind, or damaged. */
int hf_store_open(const struct hf_store_dir *dir, const char *name, enum hf_db_kind kind, struct hf_store **ret_store);
/* The same of a file in a pack, whose reference is taken, whatever is returned. */
int hf_store_open_packed(const struct hf_packed *file, enum hf_db_kind kind, struct hf_store **ret_store);
/* A private file, borrowed, with what an earlier build left there. HF_ERR_STATE: that is of no use. */
int hf_store_open_part(struct hf_part *part, enum hf_db_kind kind, struct hf_store **ret_store);
void hf_store_close(struct hf_store *store);

/* Of a published one: -1 if it has no file of its own. */
int hf_store_fd(const struct hf_store *store);
/* Bytes of its file, or of its rows in a pack; and of memory that it holds alone. */
uint64_t hf_store_file_size(const struct hf_store *store);
uint64_t hf_store_memory(const struct hf_store *store);

/* A row: HF_NOTE_END if there is none, HF_ERR_STATE if it is damaged or a value cannot be. ret_key may be NULL. */
int hf_store_find(struct hf_store *store, const struct hf_table *table, enum hf_seek seek, uint64_t key,
		  uint64_t *ret_key, void *ret_row);
/* Of the row with that key the number in its first column. */
int hf_store_number(struct hf_store *store, const struct hf_table *table, uint64_t key, uint64_t *ret_number);
/* The same of a row at or before that key of which it is known without others. */
int hf_store_number_near(struct hf_store *store, const struct hf_table *table, uint64_t key, uint64_t *ret_key,
			 uint64_t *ret_number);
/* All rows in the order of their keys, for free() whatever is returned. One whose row begins with a uint64_t slot has
 * its key there: keyed. HF_ERR_STATE: they are more than max. */
int hf_store_list(struct hf_store *store, const struct hf_table *table, bool keyed, uint64_t max, void *ret_rows,
		  size_t *ret_count);

/* In the place of the row with that key. */
int hf_store_put(struct hf_store *store, const struct hf_table *table, uint64_t key, const void *row);
/* Removes the rows with these keys. HF_COUNT_MAX is the last one there can be. */
int hf_store_cut(struct hf_store *store, const struct hf_table *table, uint64_t first, uint64_t last);
/* Keeps what has been done so far, if the file is one to be resumed. */
int hf_store_commit(struct hf_store *store);
/* The file is complete but for publishing it. */
int hf_store_finish(struct hf_store *store);

/* The one row of table meta. HF_ERR_STATE: it is not there. */
int hf_store_meta(struct hf_store *store, const struct hf_table *table, void *ret_meta);
int hf_store_set_meta(struct hf_store *store, const struct hf_table *table, const void *meta);

#endif
