/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of chunks in a database: its rows stand in pages (row_page.h), of which those that were used last are in
 * memory. Internal to index/.
 */
#ifndef HF_INDEX_ROW_PAGES_H
#define HF_INDEX_ROW_PAGES_H

#include "index/table/db_table.h"
#include "index/table/row_page.h"

/* Two: chunks of two harts are written in turn, and a reader goes over the end of one. */
enum { HF_ROW_PAGES_HELD = 2 };

struct hf_row_pages {
	struct hf_db_table rows;
	const struct hf_table *table;  /* of what is in the pages; NULL: no page was asked for yet */
	struct hf_packed_page *packed; /* once something was written */
	struct hf_squeeze squeeze;
	struct hf_held_page {
		struct hf_row_page page; /* without rows: none */
		bool changed;		 /* since it was written */
		uint32_t look;		 /* with so many rows it is asked whether more fit */
	} held[HF_ROW_PAGES_HELD];
	unsigned last; /* the one that was used last */
};

void hf_row_pages_close(struct hf_row_pages *pages);
uint64_t hf_row_pages_memory(const struct hf_row_pages *pages);

/* As of hf_db_table. The rows of a slot are put one behind the other. */
int hf_row_pages_find(struct hf_row_pages *pages, enum hf_seek seek, uint64_t key, uint64_t *ret_key, void *ret_row);
int hf_row_pages_number(struct hf_row_pages *pages, uint64_t key, uint64_t *ret_number);
/* The same of the first row of the page in which that row must be. */
int hf_row_pages_number_near(struct hf_row_pages *pages, uint64_t key, uint64_t *ret_key, uint64_t *ret_number);
int hf_row_pages_put(struct hf_row_pages *pages, uint64_t key, const void *row);
int hf_row_pages_cut(struct hf_row_pages *pages, uint64_t first, uint64_t last);
/* Writes what is only in memory, before a commit. */
int hf_row_pages_write(struct hf_row_pages *pages);

#endif
