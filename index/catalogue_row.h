/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row of table file of a catalogue, as the file has it and as waiting ones are kept: what an entry says, in numbers
 * and texts. Internal to index/.
 */
#ifndef HF_INDEX_CATALOGUE_ROW_H
#define HF_INDEX_CATALOGUE_ROW_H

#include "index/catalogue_entry.h"
#include "index/db.h"

enum { HF_CATALOGUE_NUMBERS = 22, HF_CATALOGUE_TEXTS = 7 };

/* No text is longer, with its end: paths, names, and the lines of a capture with some thousand harts. Bytes. */
#define HF_CATALOGUE_PATH_LIMIT 4096
#define HF_CATALOGUE_NAME_LIMIT 128
#define HF_CATALOGUE_LINES_LIMIT (256 << 10)

/* Columns in their order: id, numbers, texts. */
struct hf_catalogue_row {
	int64_t id; /* a hash of the path */
	uint64_t number[HF_CATALOGUE_NUMBERS];
	const char *text[HF_CATALOGUE_TEXTS]; /* borrowed; NULL, but for the path: none */
};

/* The views whose sizes are kept, in the order that an entry has them in. */
struct hf_catalogue_views {
	char (*name)[HF_CATALOGUE_NAME_LIMIT];
	size_t count;
};

int64_t hf_catalogue_row_id(const char *path);
const char *hf_catalogue_row_path(const struct hf_catalogue_row *row);
/* Whether it only says that nothing is known. */
bool hf_catalogue_row_is_gone(const struct hf_catalogue_row *row);
/* Whether it is of the file with that stamp. */
bool hf_catalogue_row_is_of(const struct hf_catalogue_row *row, const char *path,
			    const struct hf_catalogue_stamp *stamp);

/* From SELECT *: texts stay valid until the statement moves. HF_ERR_STATE if it makes no sense, HF_ERR_NOMEM. */
int hf_catalogue_row_read(sqlite3_stmt *stmt, struct hf_catalogue_row *ret_row);
/* Column i of any statement likewise, NULL or shorter than max bytes. */
int hf_catalogue_row_text(sqlite3_stmt *stmt, int i, size_t max, const char **ret_text);
/* The statement that hf_catalogue_row_write runs, for the caller to finalize. */
int hf_catalogue_row_prepare(sqlite3 *db, sqlite3_stmt **ret_insert);
int hf_catalogue_row_write(sqlite3_stmt *insert, const struct hf_catalogue_row *row);

/* Into an entry of which all but the stamp is zero, which is to be cleared. HF_ERR_STATE if the row makes no sense,
 * HF_ERR_NOMEM: then there is nothing to clear. */
int hf_catalogue_row_take(const struct hf_catalogue_views *views, const struct hf_catalogue_row *row,
			  struct hf_catalogue_entry *entry);
/* From an entry, with its texts in one piece for free(). HF_ERR_LIMIT if one is too long, HF_ERR_NOMEM. */
int hf_catalogue_row_new(const struct hf_catalogue_views *views, const char *path,
			 const struct hf_catalogue_entry *entry, struct hf_catalogue_row **ret_row);

#endif
