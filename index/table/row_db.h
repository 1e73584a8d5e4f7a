/* SPDX-License-Identifier: Apache-2.0 */
/* Rows (row.h) in a database. Internal to index/. */
#ifndef HF_INDEX_ROW_DB_H
#define HF_INDEX_ROW_DB_H

#include "index/table/db.h"
#include "index/table/row.h"

/* The row that a statement SELECT * stands at: HF_ERR_STATE if a value cannot be. ret_key may be NULL. */
int hf_row_read(sqlite3_stmt *stmt, const struct hf_table *table, uint64_t *ret_key, void *row);
/* All rows in the order of their keys, for free() whatever is returned. One whose row begins with a uint64_t slot has
 * its key there: keyed. HF_ERR_STATE: they are more than max. */
int hf_row_list(sqlite3 *db, const struct hf_table *table, bool keyed, uint64_t max, void *ret_rows, size_t *ret_count);
/* A statement for hf_row_put, which takes the place of the row with that key. */
int hf_row_prepare(sqlite3 *db, const struct hf_table *table, sqlite3_stmt **ret_insert);
int hf_row_put(sqlite3_stmt *insert, const struct hf_table *table, uint64_t key, const void *row);

#endif
