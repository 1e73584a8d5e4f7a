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

#include "index/index.h"
#include "index/summary/call.h"

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
	HF_TABLE_LIST,
	HF_TABLE_CALLS,
	HF_TABLE_NODE,
	HF_TABLE_STACK,
	HF_TABLE_INVERSE,
	HF_TABLE_INVERSE_SPAN,
	HF_TABLE_INVERSE_PAGE,
	HF_TABLE_INVERSE_LIST,
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
	uint64_t rows; /* of table chunk */
	uint32_t id;
};

/* Table time: lines of times of one chunk (index/times.h), of which there may be several rows. */
#define HF_TIMES_BYTES ((size_t)32 << 10)
#define HF_TIMES_ROWS_BITS 6
struct hf_view_times {
	uint64_t offset; /* of the first line, in the view */
	uint64_t before; /* the greatest time before it, */
	bool known;	 /*   if there is one */
	bool behind;	 /* the times went back, and did not come up to that again */
	uint32_t n;
	uint8_t data[HF_TIMES_BYTES];
};

/* Table merge: where all harts stand at an offset of the merged view (index/merge.h). The last row has its size, and
 * nothing else. */
struct hf_view_merge {
	uint64_t last; /* 0, or 1 + which of the harts was the last one */
	uint32_t n;
	uint8_t data[HF_MERGED_HARTS * 12];
};

/* Table window: the bytes before a block, compressed, which makes them hardly larger at worst. */
struct hf_packed_window {
	uint32_t size;
	uint8_t data[HF_WINDOW_MAX + 1024];
};

/* Table image. A row of a megabyte is SQLite's limit in these files. */
#define HF_IMAGE_PIECE ((size_t)256 << 10)
/* No image saves as more: HF_IMAGE_PAGES_MAX pages, at worst with a number or two for every few bytes. */
#define HF_IMAGE_SAVED_MAX ((uint64_t)HF_IMAGE_PAGES_MAX * HF_IMAGE_PAGE * 4)
struct hf_image_piece {
	uint64_t events, size;
	uint32_t n;
	uint8_t data[HF_IMAGE_PIECE];
};

/* Table meta of a summary. */
struct hf_summary_meta {
	bool complete;
	struct hf_identity identity;
	uint32_t version; /* HF_SUMMARY_VERSION */
	struct hf_chunk_limits limits;
};

/* Table hart of a summary. */
struct hf_summary_hart {
	uint64_t slot, insns, chunks, spans, contexts;
	uint32_t id;
};

/* Table span: what was executed from one place of the hart to the next. */
struct hf_summary_span {
	uint64_t chunk, end; /* in these chunks, [chunk, end) */
	uint64_t insns, runs;
	uint64_t page, pages; /* its first page, and how many there are */
	uint64_t list, lists; /* the same of the pieces of its lists */
};

/* Table context: struct hf_run_context. */
struct hf_summary_context {
	uint32_t fields, hw, pid, tid, asid, vmid, state;
};

/* Table page: runs in the order of their keys (summary/page.h), compressed. */
#define HF_SUMMARY_PAGE_MAX ((size_t)52 << 10)
struct hf_summary_page {
	uint64_t first, end;
	uint64_t runs, list;
	uint32_t size; /* not compressed */
	uint32_t n;
	uint8_t data[HF_SUMMARY_PAGE_MAX];
};

/* Table list: a piece of the lists. */
#define HF_SUMMARY_PIECE ((size_t)32 << 10)
struct hf_summary_piece {
	uint32_t n;
	uint8_t data[HF_SUMMARY_PIECE];
};

/* Table calls: of each hart, and how many nodes and pages there are. */
struct hf_summary_calls {
	uint64_t nodes, node_pages, stack_pages;
	struct hf_call_facts facts;
};

/* Tables node and stack: pages of summary/call_page.h, compressed. */
struct hf_summary_call_page {
	uint64_t first, count; /* number of the first node or chunk, and how many there are */
	uint32_t size;	       /* not compressed */
	uint32_t n;
	uint8_t data[HF_SUMMARY_PAGE_MAX];
};

/* Table inverse: a part of a hart's summary that says where something happened (summary/inverse.h). */
struct hf_inverse_head {
	bool known;	       /* the source tells of such things: without, a part that has nothing says nothing */
	uint64_t spans, total; /* total: sum of all counts */
};

/* Table inverse_span. */
struct hf_inverse_span {
	uint64_t first, end; /* all places at level 0 are in [first, end) */
	uint64_t insns, keys;
	uint64_t page, pages; /* its first page, and how many there are */
	uint64_t list, lists; /* the same of the pieces of its lists */
};

/* Table inverse_page: keys in their order, with what is known of each (summary/inverse_page.h), compressed. */
#define HF_INVERSE_PAGE_MAX ((size_t)36 << 10)
struct hf_inverse_page {
	uint64_t first, last; /* what is asked for lies in [first, last], or not in this page */
	uint64_t keys, list;
	uint32_t size; /* not compressed */
	uint32_t n;
	uint8_t data[HF_INVERSE_PAGE_MAX];
};

/* Of the decode index: rows are struct hf_index_meta, hf_index_hart, hf_chunk, hf_point, hf_packed_window,
 * hf_image_piece and hf_index_problem. */
extern const struct hf_table hf_table_index_meta, hf_table_hart, hf_table_chunk, hf_table_point, hf_table_window,
	hf_table_image, hf_table_problem;
/* Table chunk of both as a database has it: struct hf_packed_page. */
extern const struct hf_table hf_table_page;
/* Of view tables: struct hf_view_meta, hf_view_hart, hf_view_chunk, hf_view_times and hf_view_merge. */
extern const struct hf_table hf_table_view_meta, hf_table_view_hart, hf_table_view_chunk, hf_table_view_time,
	hf_table_view_merge;
/* Of summaries: the structs of these names. */
extern const struct hf_table hf_table_summary_meta, hf_table_summary_hart, hf_table_summary_span,
	hf_table_summary_context, hf_table_summary_page, hf_table_summary_piece;
/* struct hf_summary_calls; struct hf_summary_call_page of both others. */
extern const struct hf_table hf_table_summary_calls, hf_table_summary_node, hf_table_summary_stack;
/* Of summaries too: struct hf_inverse_head, hf_inverse_span, hf_inverse_page, hf_summary_piece. */
extern const struct hf_table hf_table_inverse, hf_table_inverse_span, hf_table_inverse_page, hf_table_inverse_list;

/* Whether it is that of the table of that capture and key. */
bool hf_view_meta_fits(const struct hf_view_meta *meta, const struct hf_identity *identity,
		       const struct hf_view_key *key);

bool hf_identity_equal(const struct hf_identity *a, const struct hf_identity *b);
bool hf_chunk_limits_equal(const struct hf_chunk_limits *a, const struct hf_chunk_limits *b);

#endif
