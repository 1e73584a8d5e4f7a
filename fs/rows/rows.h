/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures as tables: rows of captures, harts, instructions, accesses, functions..., made on demand, for whoever asks in
 * columns and conditions (hartfs serve). Rows that come are those that meet all conditions. Numbers are 64 bits, and
 * compared as signed ones, as SQLite has them.
 */
#ifndef HF_ROWS_ROWS_H
#define HF_ROWS_ROWS_H

#include "codecs/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_fs;

/* Of a table, at most. */
#define HF_ROWS_COLUMNS 31
/* Bytes of the texts of a row, at most; a longer one is cut, and ends with "...". */
#define HF_ROWS_TEXT 4096
/* Row numbers: so many harts of all captures that were asked in one session, instructions of a hart, and events between
 * two of them. What is beyond is an error. */
#define HF_ROWS_HARTS (1u << 13)
#define HF_ROWS_ORDINALS (UINT64_C(1) << 38)
#define HF_ROWS_EVENTS (1u << 12)
/* Events of one chunk that are in memory at a time, at most; 32 bytes each. */
#define HF_ROWS_CHUNK_EVENTS (1u << 19)

enum hf_column_flags {
	HF_COLUMN_TEXT = 1,    /* else a number */
	HF_COLUMN_HIDDEN = 2,  /* "*" leaves it out */
	HF_COLUMN_ANY = 4,     /* a number, or a text where it has too many bits */
	HF_COLUMN_ASKED = 8,   /* conditions on it save work */
	HF_COLUMN_LISTED = 16, /* a list of the summary knows where equal ones and ranges are */
	HF_COLUMN_ORDER = 32,  /* rows of one hart come in its order */
	HF_COLUMN_NEEDED = 64, /* it must be one number, or text */
	HF_COLUMN_AMONG = 128, /* a condition that it is one of several numbers saves work */
};

struct hf_column {
	const char *name;
	unsigned flags; /* enum hf_column_flags */
};

enum hf_table_flags {
	HF_TABLE_HART = 1,     /* rows are those of harts: the first two columns are capture and hart */
	HF_TABLE_ORDERED = 2,  /* by hart, and then by its column with HF_COLUMN_ORDER, both ways */
	HF_TABLE_SUMMED = 4,   /* made of the summary alone, if there is one */
	HF_TABLE_RARE = 8,     /* a list of the summary knows where its rows are */
};

/* The tables, by number; NULL behind the last one. */
struct hf_table;
const struct hf_table *hf_table_at(size_t number);
const char *hf_table_name(const struct hf_table *table);
unsigned hf_table_flags(const struct hf_table *table);
const struct hf_column *hf_table_columns(const struct hf_table *table, size_t *ret_count);

struct hf_value {
	enum { HF_VALUE_NULL, HF_VALUE_NUMBER, HF_VALUE_TEXT } type;
	int64_t number;
	const char *text; /* not terminated */
	uint32_t size;
};

/* What is asked. All is borrowed as long as the rows are open. */
struct hf_rows_ask {
	const struct hf_table *table;
	uint32_t columns; /* bits: those that are wanted; the others are NULL */
	bool reverse;
	bool one_hart; /* rows of a second one are an error */
	uint32_t ranged;  /* bits: numbers in [first, last] are wanted, */
	struct {
		int64_t first, last;
	} range[HF_ROWS_COLUMNS];
	const char *equal[HF_ROWS_COLUMNS]; /* and texts that are this; NULL: any */
	/* And numbers that are one of these, which ascend; NULL: any. */
	struct hf_rows_among {
		const int64_t *number;
		size_t count;
	} among[HF_ROWS_COLUMNS];
	/* Asked now and again on the calling thread: true ends it with HF_ERR_CANCELLED. May be NULL. */
	bool (*stop)(void *ctx);
	void *ctx;
};

struct hf_row {
	int64_t id; /* its own in the table, as long as the session lasts */
	struct hf_value value[HF_ROWS_COLUMNS];
	size_t used; /* of text */
	char text[HF_ROWS_TEXT];
};

/* What is kept from one question to the next. For one thread. */
struct hf_rows_session;
int hf_rows_session_new(struct hf_fs *fs, struct hf_rows_session **ret_session);
/* All rows must have been closed. */
void hf_rows_session_free(struct hf_rows_session *session);

/* Errors, here and below, come with why[size] in words; it is empty with those that have no better words than their own. */
struct hf_rows;
int hf_rows_open(struct hf_rows_session *session, const struct hf_rows_ask *ask, struct hf_rows **ret_rows, char *why,
		 size_t size);
/* The next row, valid until the next call. HF_NOTE_END: there is none. HF_NOTE_MORE: not yet: call again. */
#define HF_NOTE_MORE 2
int hf_rows_next(struct hf_rows *rows, struct hf_row *ret_row);
void hf_rows_close(struct hf_rows *rows);

#endif
