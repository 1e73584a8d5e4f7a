/* SPDX-License-Identifier: Apache-2.0 */
/* Rows (row.h) in a database. Internal to index/. */
#ifndef HF_INDEX_ROW_DB_H
#define HF_INDEX_ROW_DB_H

#include "index/table/db.h"
#include "index/table/row.h"

/* The row that a statement SELECT * stands at: HF_ERR_STATE if a value cannot be. ret_key may be NULL. */
int hf_row_read(sqlite3_stmt *stmt, const struct hf_table *table, uint64_t *ret_key, void *row);
/* A statement for hf_row_put, which takes the place of the row with that key. in_pack: as in struct hf_db_table; then
 * its last parameter is the part. */
int hf_row_prepare(sqlite3 *db, const struct hf_table *table, const char *in_pack, sqlite3_stmt **ret_insert);
int hf_row_put(sqlite3_stmt *insert, const struct hf_table *table, uint64_t key, const void *row);

#endif
