/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page: rows of chunks with keys side by side, as one row of a database. Row by row they would take three times as
 * much: most of their numbers are nearly those of the row before. Internal to index/.
 *
 * Not compressed a page is:
 *   u8 what the blobs are: 1 numbers, as nearly all states of codecs (codecs/base/fields.h); 0 bytes
 *   of each row how many of these its blob has, as one column (columns.h)
 *   the other columns of the table, and behind them the numbers of the blobs
 *   the bytes of all blobs, if they are no numbers
 */
#ifndef HF_INDEX_ROW_PAGE_H
#define HF_INDEX_ROW_PAGE_H

#include "index/base/squeeze.h"
#include "index/table/row.h"

#include <stddef.h>

struct hf_row_page {
	const struct hf_table *table;
	uint64_t key; /* of the first row */
	uint32_t count;
	uint32_t end[HF_PAGE_ROWS]; /* of each row: where in bytes it ends */
	uint8_t *bytes;		    /* the rows, as hf_row_save makes them */
	size_t room;
};

void hf_row_page_fini(struct hf_row_page *page);
/* Makes it an empty page; what memory it has it keeps. */
void hf_row_page_clear(struct hf_row_page *page, const struct hf_table *table, uint64_t key);
/* The row behind the last one. */
int hf_row_page_add(struct hf_row_page *page, const void *row);
/* HF_ERR_STATE: a value cannot be. */
int hf_row_page_get(const struct hf_row_page *page, uint32_t i, void *ret_row);
/* The first number of a row that is there. */
uint64_t hf_row_page_number(const struct hf_row_page *page, uint32_t i);

/* Whether there is no room for another row. */
bool hf_row_page_is_full(const struct hf_row_page *page);
/* Its bytes, compressed, in a row of a database. */
int hf_row_page_pack(const struct hf_row_page *page, struct hf_squeeze *squeeze, struct hf_packed_page *ret_packed);
/* So many rows from such data, n bytes, which are size when they are not compressed. HF_ERR_STATE: they are no rows of
 * the table. */
int hf_row_page_unpack(struct hf_row_page *page, uint32_t rows, const uint8_t *data, size_t n, size_t size);

#endif
