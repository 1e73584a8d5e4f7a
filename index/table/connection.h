/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to a database of an index, with its tables. Internal to index/. */
#ifndef HF_INDEX_CONNECTION_H
#define HF_INDEX_CONNECTION_H

#include "index/table/db_table.h"
#include "index/table/row_page.h"

struct hf_connection {
	sqlite3 *db;				     /* NULL: there is none */
	struct hf_row_scratch scratch;		     /* of a pack, with its contexts */
	struct hf_db_table table[2][HF_TABLES_MOST]; /* those of view tables, and others */
};

/* The table with the rows of a file of that kind. part: of a pack; 0: the database is of one file. */
struct hf_db_table *hf_connection_table(struct hf_connection *c, enum hf_db_kind kind, const struct hf_table *table,
					uint64_t part);
/* The database is a pack. */
void hf_connection_share(struct hf_connection *c);
void hf_connection_close(struct hf_connection *c);

#endif
