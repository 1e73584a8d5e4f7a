/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: a table of columns for each table of schema.sql says which member of a struct holds which column. Reading, with
 * the check of every value (the file may be anybody's), and writing follow from it: in a database (row_db.h), and as
 * bytes. Internal to index/.
 *
 * The first column of every table is its key; it is not among the columns here.
 */
#ifndef HF_INDEX_ROW_H
#define HF_INDEX_ROW_H

#include "codecs/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Chunk ids: slot << 40 | number. */
#define HF_NUMBER_BITS 40
#define HF_NUMBER_MAX ((UINT64_C(1) << HF_NUMBER_BITS) - 1)
#define HF_SLOT_MAX UINT64_C(65535)
#define HF_SLOT_RECORDS (HF_SLOT_MAX + 1) /* of hart HF_HART_RECORDS */
/* No chunk of a view has more bytes: twice what 131,072 events make of the longest lines. */
#define HF_VIEW_CHUNK_MAX (UINT64_C(256) << 20)
/* No counter, size or offset is larger. */
#define HF_COUNT_MAX ((uint64_t)INT64_MAX)

static inline uint64_t hf_row_id(uint64_t slot, uint64_t number)
{
	return slot << HF_NUMBER_BITS | number;
}

enum hf_column_type {
	HF_COLUMN_NUMBER, /* bool, enum, uint32_t, uint64_t or int64_t: at most max */
	HF_COLUMN_MAYBE,  /* uint64_t: HF_NOWHERE is NULL */
	HF_COLUMN_CODE,	  /* int: 0 or an error of err.h */
	HF_COLUMN_WORDS,  /* uint64_t[]: a blob of as many bytes, little-endian */
	HF_COLUMN_BLOB,	  /* uint8_t[], with its size, a uint32_t, at max */
	HF_COLUMN_TEXT,	  /* char[] */
	HF_COLUMN_NAME,	  /* char[]: "" is NULL */
	HF_COLUMN_LENT,	  /* const char *, or NULL: text of fewer than max bytes, as long as a statement stands there; only in
			   * databases */
};

struct hf_column {
	enum hf_column_type type;
	uint32_t offset, size; /* of the member */
	uint64_t max;
};

#define HF_COLUMN(type, s, member, max)                                                            \
	{                                                                                          \
		HF_COLUMN_##type, offsetof(struct s, member), sizeof(((struct s *)0)->member), max \
	}
#define HF_COLUMN_COUNT(s, member) HF_COLUMN(NUMBER, s, member, HF_COUNT_MAX)
#define HF_COLUMN_ANY(s, member) HF_COLUMN(NUMBER, s, member, UINT64_MAX)
#define HF_COLUMN_BYTES(s, member, size) HF_COLUMN(BLOB, s, member, offsetof(struct s, size))
#define HF_COLUMNS_DIAG(s, diag)                                                           \
	HF_COLUMN(CODE, s, diag.code, 0), HF_COLUMN(NUMBER, s, diag.space, HF_SPACE_FILE), \
		HF_COLUMN_ANY(s, diag.offset), HF_COLUMN_ANY(s, diag.detail)

/* The tables of a file: those of a view table are the first three, and two of their own. */
#define HF_COLUMNS_IDENTITY(s) \
	HF_COLUMN_COUNT(s, identity.size), HF_COLUMN_ANY(s, identity.mtime_ns), HF_COLUMN(WORDS, s, identity.print, 0)
#define HF_COLUMNS_LIMITS(s) \
	HF_COLUMN_ANY(s, limits.insns), HF_COLUMN_ANY(s, limits.events), HF_COLUMN_ANY(s, limits.bytes)

enum hf_table_id {
	HF_TABLE_META,
	HF_TABLE_HART,
	HF_TABLE_CHUNK,
	HF_TABLE_POINT,
	HF_TABLE_WINDOW,
	HF_TABLE_IMAGE,
	HF_TABLE_PROBLEM,
	HF_TABLES,
	/* those of a view table, besides the first three */
	HF_TABLE_TIME = HF_TABLE_POINT,
	HF_TABLE_MERGE,
	/* those of a summary, besides the first two */
	HF_TABLE_SPAN = HF_TABLE_CHUNK,
	HF_TABLE_CONTEXT,
	HF_TABLE_PAGE,
	HF_TABLE_SECTION,
	HF_TABLE_CALLS,
	HF_TABLE_NODE,
	HF_TABLE_STACK,
	HF_TABLES_MOST, /* of any file */
};

/* A column whose number mostly follows from others. */
struct hf_follow {
	uint32_t column;
	/* From the numbers of the row, as columns, and of those before and behind it, or NULL: of the row and the one
	 * behind only those in columns before this one. */
	uint64_t (*guess)(const uint64_t *before, const uint64_t *row, const uint64_t *behind);
};

struct hf_table {
	const char *name;
	enum hf_table_id id;
	const struct hf_column *column;
	int count;
	size_t row_size; /* bytes of the struct */
	bool paged;	 /* a database has its rows in pages (row_page.h); all columns are numbers, but the last one a blob */
	bool times;	 /* of hf_schema_times: a database has it from the first row on */
	const struct hf_follow *follow; /* in pages, or NULL */
};

#define HF_TABLE_OF(name, id, columns, s, paged, times, follow)                                                \
	{                                                                                                      \
		name, id, columns, (int)(sizeof(columns) / sizeof *(columns)), sizeof(s), paged, times, follow \
	}
#define HF_TABLE(name, id, columns, s) HF_TABLE_OF(name, id, columns, s, false, false, NULL)
#define HF_TABLE_PAGED(name, id, columns, s, follow) HF_TABLE_OF(name, id, columns, s, true, false, follow)
#define HF_TABLE_TIMES(name, id, columns, s) HF_TABLE_OF(name, id, columns, s, false, true, NULL)

/* Which row is looked for. */
enum hf_seek {
	HF_SEEK_AT,   /* the one with that key */
	HF_SEEK_FROM, /* the first one at or behind it */
	HF_SEEK_BACK, /* the last one at or before it */
};

/* The number that a column has in a row. */
uint64_t hf_column_number(const struct hf_column *column, const void *row);
/* Puts it there: HF_ERR_STATE if it cannot be. */
int hf_column_set_number(const struct hf_column *column, uint64_t number, void *row);

/* Bytes of a row in memory, as far as they are in use: blobs are at the end. */
size_t hf_row_used(const struct hf_table *table, const void *row);

/* A row as bytes: 8 for a number, little-endian; of blobs and text their size, 4 bytes, before them. */
size_t hf_row_size(const struct hf_table *table, const void *row);
void hf_row_save(const struct hf_table *table, const void *row, uint8_t *to);
/* HF_ERR_STATE: a value cannot be, or these are not n bytes of one row. */
int hf_row_load(const struct hf_table *table, const uint8_t *bytes, size_t n, void *ret_row);
/* Whether all columns are the same. */
bool hf_row_equal(const struct hf_table *table, const void *a, const void *b);

/*
 * Tables chunk in a database: a page has rows with keys side by side (row_page.h). It is closed when it takes half a page of
 * the database, so that nothing of that is left empty.
 */
#define HF_PAGE_ROWS 512u  /* at most */
#define HF_PAGE_BYTES ((size_t)128 << 10)
struct hf_packed_page {
	uint64_t first; /* what counts up from chunk to chunk, of the first one */
	uint64_t rows;
	uint32_t size; /* not compressed */
	uint32_t n;
	uint8_t data[HF_PAGE_BYTES + 1024]; /* compressed they are hardly larger at worst */
};

/* Table chunk of both as a database has it: struct hf_packed_page. */
extern const struct hf_table hf_table_page;

#endif
