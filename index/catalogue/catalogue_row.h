/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row of the table file of a catalogue, published or waiting: an entry as numbers and texts. Internal to index/.
 */
#ifndef HF_INDEX_CATALOGUE_ROW_H
#define HF_INDEX_CATALOGUE_ROW_H

#include "index/catalogue/catalogue_entry.h"
#include "index/table/row_db.h"

/* Most bytes of a text with its NUL: paths, names, and the lines of a capture with thousands of harts. */
#define HF_CATALOGUE_PATH_LIMIT 4096
#define HF_CATALOGUE_NAME_LIMIT 128
#define HF_CATALOGUE_LINES_LIMIT (256 << 10)

/* Members of an entry that are pointers or lists. */
enum hf_catalogue_text {
	HF_CATALOGUE_PATH,
	HF_CATALOGUE_BOX,
	HF_CATALOGUE_CODEC,
	HF_CATALOGUE_STREAM,
	HF_CATALOGUE_ORIGINAL,
	HF_CATALOGUE_HARTS,
	HF_CATALOGUE_TEXTS
};

struct hf_catalogue_row {
	int64_t id; /* a hash of the path */
	struct hf_catalogue_entry entry;
	const char *text[HF_CATALOGUE_TEXTS]; /* borrowed; NULL, but for the path: none */
};
extern const struct hf_table hf_table_catalogue_file;

/* The views whose sizes are kept, in the order of an entry. */
struct hf_catalogue_views {
	char (*name)[HF_CATALOGUE_NAME_LIMIT];
	size_t count;
};

int64_t hf_catalogue_row_id(const char *path);
/* Whether it is of the file with that stamp, and not HF_CATALOGUE_GONE. */
bool hf_catalogue_row_is_of(const struct hf_catalogue_row *row, const char *path,
			    const struct hf_catalogue_stamp *stamp);
/* Reads a row of SELECT *: texts stay valid until the next step. HF_ERR_STATE: it makes no sense. HF_ERR_NOMEM. */
int hf_catalogue_row_read(sqlite3_stmt *stmt, struct hf_catalogue_row *ret_row);

/* Makes an entry of it, to be cleared unless there is an error. HF_ERR_STATE: the row makes no sense. HF_ERR_NOMEM. */
int hf_catalogue_row_take(const struct hf_catalogue_views *views, const struct hf_catalogue_row *row,
			  struct hf_catalogue_entry *ret_entry);
/* Makes a row of an entry, to be freed with free(). HF_ERR_LIMIT: a text is too long. HF_ERR_NOMEM. */
int hf_catalogue_row_new(const struct hf_catalogue_views *views, const char *path,
			 const struct hf_catalogue_entry *entry, struct hf_catalogue_row **ret_row);

#endif
