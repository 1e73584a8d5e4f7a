/* SPDX-License-Identifier: Apache-2.0 */
/* What a table is, and what its rows are made of. Internal to fs/rows/. */
#ifndef HF_ROWS_TABLE_H
#define HF_ROWS_TABLE_H

#include "fs/rows/hart.h"
#include "fs/rows/rows.h"

struct hf_table {
	const char *name;
	unsigned flags; /* enum hf_table_flags */
	const struct hf_column *columns;
	size_t column_count;
	/* Of a hart, or of a capture, or of the archive: begins, makes the next row, ends. rows->own is theirs. A row that
	 * does not meet the conditions is left out by the caller. */
	int (*open)(struct hf_rows *rows);
	int (*next)(struct hf_rows *rows, struct hf_row *row);
	void (*close)(struct hf_rows *rows);
	const void *how; /* theirs */
};

/* The first two columns of tables of harts. */
enum { HF_AT_CAPTURE, HF_AT_HART, HF_AT_FIRST };
#define HF_HART_COLUMNS                                                                                                \
	{"capture", HF_COLUMN_TEXT | HF_COLUMN_HIDDEN | HF_COLUMN_ASKED | HF_COLUMN_NEEDED},                                              \
	{                                                                                                              \
		"hart", HF_COLUMN_HIDDEN | HF_COLUMN_ASKED                                                             \
	}

struct hf_rows {
	struct hf_rows_session *session;
	const struct hf_rows_ask *ask;
	const struct hf_table *table;
	uint32_t conditions; /* columns that have any */
	uint32_t wanted;     /* those that are needed: also those of conditions */
	char *why;
	size_t why_size;
	/* The captures that are gone through: the one that was asked for, or all. */
	struct hf_rows_paths {
		char **path; /* owned */
		size_t count, room;
		int err; /* why there are no more */
	} captures;
	size_t next_capture;
	const char *path;	    /* of the one at hand */
	struct hf_capture *capture; /* the same */
	struct hf_rows_hart *hart;  /* one reference; NULL: none is at hand */
	size_t next_hart;
	uint64_t given;	   /* rows */
	unsigned left_out; /* rows that did not meet the conditions */
	bool entered; /* there was a hart */
	bool opened; /* table->open was called, and close was not */
	void *own;
};

static inline bool hf_row_wants(const struct hf_rows *rows, unsigned column)
{
	return rows->wanted >> column & 1;
}

static inline void hf_row_number(const struct hf_rows *rows, struct hf_row *row, unsigned column, uint64_t number)
{
	if (hf_row_wants(rows, column))
		row->value[column] = (struct hf_value){.type = HF_VALUE_NUMBER, .number = (int64_t)number};
}

/* Text that stays until the next row. */
void hf_row_text(const struct hf_rows *rows, struct hf_row *row, unsigned column, const char *text, size_t size);
void hf_row_word(const struct hf_rows *rows, struct hf_row *row, unsigned column, const char *word);
/* A mode or an instruction set, with the name that listings have for it; NULL if that is "?". */
void hf_row_mode(const struct hf_rows *rows, struct hf_row *row, unsigned column, unsigned mode);
void hf_row_isa(const struct hf_rows *rows, struct hf_row *row, unsigned column, unsigned isa);
/* Text that is copied. */
void hf_row_copy(const struct hf_rows *rows, struct hf_row *row, unsigned column, const char *text, size_t size);

/* Whether the row, as far as it is made, meets the conditions: it is worth going on. */
bool hf_row_is_asked(const struct hf_rows *rows, const struct hf_row *row, unsigned column);

/* The place of a pc: its symbol, the offset in it, source file and line, in four columns from that one on. */
void hf_row_place(const struct hf_rows *rows, struct hf_row *row, unsigned column, uint64_t pc);
/* Mnemonic and text of an instruction, in two columns from that one on. */
void hf_row_code(const struct hf_rows *rows, struct hf_row *row, unsigned column, uint32_t opcode, unsigned size,
		 unsigned isa);
/* The row's id, of a hart. HF_ERR_LIMIT: number is too large. */
int hf_row_id(const struct hf_rows *rows, struct hf_row *row, uint64_t number);

/* Condition on a number: the whole range if there is none. */
static inline void hf_rows_range(const struct hf_rows *rows, unsigned column, int64_t *ret_first, int64_t *ret_last)
{
	const bool ranged = rows->ask->ranged >> column & 1;

	*ret_first = ranged ? rows->ask->range[column].first : INT64_MIN;
	*ret_last = ranged ? rows->ask->range[column].last : INT64_MAX;
}

/* Whether who asked wants no more. */
bool hf_rows_are_stopped(const struct hf_rows *rows);
/* Indexes the capture at hand if need be. */
int hf_rows_index(struct hf_rows *rows);
/* Returns err. */
__attribute__((format(printf, 3, 4))) int hf_rows_fail(struct hf_rows *rows, int err, const char *format, ...);

#endif
