/* SPDX-License-Identifier: Apache-2.0 */
/* A table of a database: its rows by key, with statements that are prepared when they are first needed. In a pack only
 * the rows of one part count. Internal to index/. */
#ifndef HF_INDEX_DB_TABLE_H
#define HF_INDEX_DB_TABLE_H

#include "index/table/row_db.h"

enum { HF_DB_TABLE_STATEMENTS = 5 };

struct hf_db_table {
	sqlite3 *db; /* borrowed */
	const struct hf_table *table;
	sqlite3_stmt *stmt[HF_DB_TABLE_STATEMENTS];
	bool present;	     /* known to be there, if it need not be */
	const char *in_pack; /* what its name begins with in a pack; NULL: it is in none */
	uint64_t part;	     /* of a pack; it may be another one each time */
};

void hf_db_table_close(struct hf_db_table *t);
/* HF_NOTE_END: there is none. ret_key may be NULL. */
int hf_db_table_find(struct hf_db_table *t, enum hf_seek seek, uint64_t key, uint64_t *ret_key, void *ret_row);
/* The same, for columns to be looked at where they are: *ret_stmt is to be reset, if it is not NULL. */
int hf_db_table_stand(struct hf_db_table *t, enum hf_seek seek, uint64_t key, sqlite3_stmt **ret_stmt);
/* Of the row with that key the number in its first column. */
int hf_db_table_number(struct hf_db_table *t, uint64_t key, uint64_t *ret_number);
/* In the place of the row with that key. */
int hf_db_table_put(struct hf_db_table *t, uint64_t key, const void *row);
/* Removes the rows with these keys. */
int hf_db_table_cut(struct hf_db_table *t, uint64_t first, uint64_t last);

#endif
