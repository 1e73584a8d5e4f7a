/* SPDX-License-Identifier: Apache-2.0 */
/* What all tables and functions of a connection share. */
#ifndef HF_SQL_CLIENT_H
#define HF_SQL_CLIENT_H

#include "mountd/sql/child.h"
#include "mountd/sql/sqlite.h"

struct hf_client {
	sqlite3 *db;
	struct hf_child child;
	bool alone;	    /* what was opened is a capture */
	bool registered;    /* the tables are there */
	unsigned refs;	    /* of functions and tables that SQLite has */
};

/* Nobody has it yet; NULL: no memory. */
struct hf_client *hf_client_new(sqlite3 *db);
/* One that had the client aux has it no longer; the last call ends the child. */
void hf_client_put(void *aux);

/* Makes tables of the schema. */
int hf_tables_register(struct hf_client *client);
/* Puts them into the main database too, for a shell's .tables and .schema. */
int hf_tables_show(struct hf_client *client);

#endif
