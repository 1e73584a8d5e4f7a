/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: a table of columns for each table of schema.sql says which member of a struct holds which column. Reading, with
 * the check of every value (the file may be anybody's), and writing follow from it. Internal to index/.
 *
 * The first column of every table is its key; it is not among the columns here.
 */
#ifndef HF_INDEX_ROW_H
#define HF_INDEX_ROW_H

#include "index/db.h"
#include "index/index.h"

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
	HF_COLUMN_CODE,	  /* int: 0 or an error of errors.def */
	HF_COLUMN_WORDS,  /* uint64_t[]: a blob of as many bytes, little-endian */
	HF_COLUMN_BLOB,	  /* uint8_t[], with its size, a uint32_t, at max */
	HF_COLUMN_TEXT,	  /* char[] */
	HF_COLUMN_NAME,	  /* char[]: "" is NULL */
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

struct hf_table {
	const char *name;
	const struct hf_column *column;
	int count;
};

#define HF_TABLE(name, columns)                                           \
	{                                                                 \
		name, columns, (int)(sizeof(columns) / sizeof *(columns)) \
	}

/* The row that a statement SELECT * stands at: HF_ERR_STATE if a value cannot be. ret_key may be NULL. */
int hf_row_read(sqlite3_stmt *stmt, const struct hf_table *table, uint64_t *ret_key, void *row);
/* The first row of the table that the rest of the query with these parameters gives: HF_NOTE_END if there is none. */
int hf_row_get(sqlite3 *db, const struct hf_table *table, const char *rest, size_t n, const uint64_t *values,
	       uint64_t *ret_key, void *row);
/* All rows in the order of their keys, of so many bytes each, for free() whatever is returned. One whose row begins
 * with a uint64_t slot has its key there: keyed. HF_ERR_STATE: they are more than max. */
int hf_row_list(sqlite3 *db, const struct hf_table *table, size_t size, bool keyed, uint64_t max, void *ret_rows,
		size_t *ret_count);
/* A statement for hf_row_put, which takes the place of the row with that key, if replace says so. */
int hf_row_prepare(sqlite3 *db, const struct hf_table *table, bool replace, sqlite3_stmt **ret_insert);
int hf_row_put(sqlite3_stmt *insert, const struct hf_table *table, uint64_t key, const void *row);
/* Both at once. */
int hf_row_replace(sqlite3 *db, const struct hf_table *table, uint64_t key, const void *row);

/* Table meta of a decode index. */
struct hf_index_meta {
	bool complete;
	struct hf_identity identity;
	char box[32], codec[32]; /* "" for NULL */
	uint32_t codec_version;
	struct hf_chunk_limits limits;
	uint64_t stream_size;
	struct hf_diag damage;
	uint64_t problems;
	uint64_t holes; /* points with HF_POINT_DAMAGED */
};

/* Table meta of a view table. */
#define HF_PARAMS_MAX 4096
struct hf_view_meta {
	bool complete;
	struct hf_identity identity;
	char view[96];
	uint32_t version;
	char params[HF_PARAMS_MAX];
	struct hf_chunk_limits limits;
};

/* Table hart of a view table. */
struct hf_view_hart {
	uint64_t slot, size, chunks;
	uint32_t id;
};

/* Of the decode index: rows are struct hf_index_meta, hf_index_hart, hf_chunk, hf_point and hf_index_problem. */
extern const struct hf_table hf_table_index_meta, hf_table_hart, hf_table_chunk, hf_table_point, hf_table_problem;
/* Of view tables: struct hf_view_meta, hf_view_hart and hf_view_chunk. */
extern const struct hf_table hf_table_view_meta, hf_table_view_hart, hf_table_view_chunk;

/* The one row of table meta. HF_ERR_STATE: it is not there. */
int hf_meta_read(sqlite3 *db, const struct hf_table *table, void *ret_meta);
int hf_meta_write(sqlite3 *db, const struct hf_table *table, const void *meta);
/* Whether it is of the table of that capture and key. */
bool hf_view_meta_fits(const struct hf_view_meta *meta, const struct hf_identity *identity,
		       const struct hf_view_key *key);

bool hf_identity_equal(const struct hf_identity *a, const struct hf_identity *b);
bool hf_chunk_limits_equal(const struct hf_chunk_limits *a, const struct hf_chunk_limits *b);

#endif
