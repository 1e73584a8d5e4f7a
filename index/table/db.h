/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite as this folder uses it: databases on file descriptors (vfs.c), validated before anything is believed, and
 * small helpers that turn its results into our errors. Internal to index/.
 */
#ifndef HF_INDEX_DB_H
#define HF_INDEX_DB_H

#include "codecs/base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Changes with schema.sql, page layout and the meaning of columns. */
#define HF_SCHEMA_VERSION 14

enum hf_db_kind {
	HF_DB_INDEX,
	HF_DB_VIEW,
	HF_DB_SUMMARY,
	HF_DB_CATALOGUE,
	HF_DB_PACK,
};

/* The statements of schema.sql, each ending with NULL. */
extern const char *const hf_schema_index[];
extern const char *const hf_schema_view[];
extern const char *const hf_schema_times[]; /* of a view table, if it needs them */
extern const char *const hf_schema_summary[];
extern const char *const hf_schema_catalogue[];
extern const char *const hf_schema_pack[];

/* What the first page says, without SQLite. */
enum hf_db_look {
	HF_LOOK_UNREADABLE, /* reading failed, which says nothing about the file: hf_fault_last */
	HF_LOOK_EMPTY,	    /* no byte at all */
	HF_LOOK_FOREIGN,    /* not ours: hands off */
	HF_LOOK_OLD,	    /* ours, but of another version or damaged: of no use */
	HF_LOOK_OURS,
};
enum hf_db_look hf_db_look(int fd, enum hf_db_kind kind);

/* Whether it is of a later version of the schema: of use to somebody else. */
bool hf_db_is_newer(int fd);

/*
 * Opens a database read-only and takes it for immutable. HF_ERR_STATE if it is not one of this kind and version,
 * whole, with exactly our schema.
 */
int hf_db_open(int fd, enum hf_db_kind kind, sqlite3 **ret_db);

/* Opens the private file fd for writing, with the tables made if it is empty. HF_ERR_STATE as above. A transaction is
 * open from here on; hf_db_commit ends it and opens the next. fd < 0 there: the file is in memory, and not to survive.
 */
int hf_db_open_part(int fd, int dirfd, const char *name, enum hf_db_kind kind, sqlite3 **ret_db);
int hf_db_commit(sqlite3 *db, int fd);
/* Ends the last transaction: the file is complete but for fsync. */
int hf_db_finish(sqlite3 *db);
void hf_db_close(sqlite3 *db);

/* Whether a view table has the tables of hf_schema_times; and makes them. */
int hf_db_has_times(sqlite3 *db, bool *ret_has);
int hf_db_add_times(sqlite3 *db);
/* Bytes of memory that the connection holds: pages, schema, statements. Not while another thread uses it. */
uint64_t hf_db_memory(sqlite3 *db);

int hf_db_run(sqlite3 *db, const char *sql);
int hf_db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret_stmt);
/* Steps once: 0 for a row, HF_NOTE_END for none, or an error. */
int hf_db_step(sqlite3_stmt *stmt);
/* Steps a statement that gives no row, and makes it ready for the next time. */
int hf_db_exec(sqlite3_stmt *stmt);
/* Binds the values u64 from parameter 1 on. */
void hf_db_bind(sqlite3_stmt *stmt, size_t n, const uint64_t *values);
/* The number in the first column of the first row; NULL and no row are HF_NOTE_END. */
int hf_db_number(sqlite3 *db, const char *sql, uint64_t *ret_value);

/* A column that must be a number not above max; any 64 bits with max UINT64_MAX. */
int hf_col_u64(sqlite3_stmt *stmt, int i, uint64_t max, uint64_t *ret_value);
/* A column that must be a blob of at most cap bytes. */
int hf_col_blob(sqlite3_stmt *stmt, int i, void *buf, size_t cap, uint32_t *ret_size);
/* A column that is text of fewer than cap bytes without zero bytes, or NULL (then ""). */
int hf_col_text(sqlite3_stmt *stmt, int i, char *buf, size_t cap);

#endif
