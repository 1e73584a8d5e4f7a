/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/row_pages.h"

#include "index/table/vfs.h"

#include <stdlib.h>

/* Of a page, packed: two, with what the database has beside them, fill a page of its own. */
#define PAGE_AIM ((HF_PAGE_SIZE - HF_PAGE_SUM) / 2 - 64)
/* The first look at how large it gets. */
#define FIRST_LOOK 32u

void hf_row_pages_close(struct hf_row_pages *pages)
{
	hf_db_table_close(&pages->rows);
	for (unsigned i = 0; i < HF_ROW_PAGES_HELD; i++)
		hf_row_page_fini(&pages->held[i].page);
	free(pages->packed);
	hf_squeeze_fini(&pages->squeeze);
}

uint64_t hf_row_pages_memory(const struct hf_row_pages *pages)
{
	uint64_t bytes = pages->packed ? sizeof *pages->packed : 0;

	for (unsigned i = 0; i < HF_ROW_PAGES_HELD; i++)
		bytes += pages->held[i].page.room;
	return bytes;
}

static int pack(struct hf_row_pages *pages, const struct hf_held_page *held)
{
	if (!pages->packed)
		pages->packed = malloc(sizeof *pages->packed);
	return pages->packed ? hf_row_page_pack(&held->page, &pages->squeeze, pages->packed) : HF_ERR_NOMEM;
}

static int write_page(struct hf_row_pages *pages, struct hf_held_page *held)
{
	int err;

	if (!held->changed)
		return 0;
	err = pack(pages, held);
	if (!err)
		err = hf_db_table_put(&pages->rows, held->page.key, pages->packed);
	held->changed = err;
	return err;
}

int hf_row_pages_write(struct hf_row_pages *pages)
{
	int err = 0;

	for (unsigned i = 0; i < HF_ROW_PAGES_HELD && !err; i++)
		err = write_page(pages, &pages->held[i]);
	return err;
}

/* A place for another page, in that of the one that was not used last. */
static int take_place(struct hf_row_pages *pages, uint64_t key, struct hf_held_page **ret_held)
{
	const unsigned i = (pages->last + 1) % HF_ROW_PAGES_HELD;
	int err = write_page(pages, &pages->held[i]);

	if (err)
		return err;
	hf_row_page_clear(&pages->held[i].page, pages->table, key);
	pages->held[i].look = FIRST_LOOK;
	*ret_held = &pages->held[i];
	pages->last = i;
	return 0;
}

static bool holds(const struct hf_row_page *page, uint64_t key)
{
	return key >= page->key && key - page->key < page->count;
}

/* The page with that row, if it is in memory. */
static struct hf_held_page *held_page(struct hf_row_pages *pages, uint64_t key)
{
	for (unsigned i = 0; i < HF_ROW_PAGES_HELD; i++) {
		if (!holds(&pages->held[i].page, key))
			continue;
		pages->last = i;
		return &pages->held[i];
	}
	return NULL;
}

/* The page that a statement stands at: its row is a struct hf_packed_page. */
static int read_page(sqlite3_stmt *stmt, struct hf_row_page *page)
{
	uint64_t first, rows, size;
	int err;

	if ((err = hf_col_u64(stmt, 1, HF_COUNT_MAX, &first)) || (err = hf_col_u64(stmt, 2, HF_PAGE_ROWS, &rows)) ||
	    (err = hf_col_u64(stmt, 3, HF_PAGE_BYTES, &size)))
		return err;
	if (sqlite3_column_type(stmt, 4) != SQLITE_BLOB)
		return HF_ERR_STATE;
	err = hf_row_page_unpack(page, (uint32_t)rows, sqlite3_column_blob(stmt, 4),
				 (size_t)sqlite3_column_bytes(stmt, 4), size);
	if (!err && hf_row_page_number(page, 0) != first) {
		page->count = 0;
		err = HF_ERR_STATE;
	}
	return err;
}

/* The nearest page that begins at or behind that key, or at or before it. HF_NOTE_END: there is none. */
static int seek_page(struct hf_row_pages *pages, enum hf_seek seek, uint64_t key, struct hf_held_page **ret_held)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t found;
	int err = hf_row_pages_write(pages);

	*ret_held = NULL;
	if (!err)
		err = hf_db_table_stand(&pages->rows, seek, key, &stmt);
	if (!err)
		err = hf_col_u64(stmt, 0, HF_COUNT_MAX, &found);
	if (!err) {
		*ret_held = held_page(pages, found);
		if (!*ret_held)
			err = take_place(pages, found, ret_held);
		if (!err && !(*ret_held)->page.count)
			err = read_page(stmt, &(*ret_held)->page);
		/* Of two pages that have the same rows one is made up. */
		if (!err && (*ret_held)->page.key != found)
			err = HF_ERR_STATE;
	}
	sqlite3_reset(stmt);
	return err;
}

/* The page that begins at that key or before it, the last one. */
static int get_page(struct hf_row_pages *pages, uint64_t key, struct hf_held_page **ret_held)
{
	*ret_held = held_page(pages, key);
	return *ret_held ? 0 : seek_page(pages, HF_SEEK_BACK, key, ret_held);
}

static int get_row(const struct hf_held_page *held, uint64_t key, uint64_t *ret_key, void *ret_row)
{
	if (ret_key)
		*ret_key = key;
	return hf_row_page_get(&held->page, (uint32_t)(key - held->page.key), ret_row);
}

int hf_row_pages_find(struct hf_row_pages *pages, enum hf_seek seek, uint64_t key, uint64_t *ret_key, void *ret_row)
{
	struct hf_held_page *held;
	int err = get_page(pages, key, &held);

	if (err < 0)
		return err;
	if (!err && holds(&held->page, key))
		return get_row(held, key, ret_key, ret_row);
	if (seek == HF_SEEK_AT || (seek == HF_SEEK_BACK && err))
		return HF_NOTE_END;
	if (seek == HF_SEEK_BACK)
		return get_row(held, held->page.key + held->page.count - 1, ret_key, ret_row);
	err = seek_page(pages, seek, key, &held);
	return err ? err : get_row(held, held->page.key, ret_key, ret_row);
}

int hf_row_pages_number(struct hf_row_pages *pages, uint64_t key, uint64_t *ret_number)
{
	struct hf_held_page *held;
	int err = get_page(pages, key, &held);

	if (err || !holds(&held->page, key))
		return err ? err : (int)HF_NOTE_END;
	*ret_number = hf_row_page_number(&held->page, (uint32_t)(key - held->page.key));
	return *ret_number <= pages->table->column->max ? 0 : HF_ERR_STATE;
}

int hf_row_pages_number_near(struct hf_row_pages *pages, uint64_t key, uint64_t *ret_key, uint64_t *ret_number)
{
	sqlite3_stmt *stmt = NULL;
	int err = hf_row_pages_write(pages);

	if (!err)
		err = hf_db_table_stand(&pages->rows, HF_SEEK_BACK, key, &stmt);
	if (!err)
		err = hf_col_u64(stmt, 0, HF_COUNT_MAX, ret_key);
	if (!err)
		err = hf_col_u64(stmt, 1, pages->table->column->max, ret_number);
	sqlite3_reset(stmt);
	return err;
}

/* ---- writing ---- */

/* Whether a row behind those of the page would make it larger than it should be; it says when to look again. */
static int has_room(struct hf_row_pages *pages, struct hf_held_page *held, bool *ret_room)
{
	const uint32_t count = held->page.count;
	int err;

	*ret_room = !hf_row_page_is_full(&held->page);
	if (!*ret_room || count < held->look)
		return 0;
	err = pack(pages, held);
	if (err)
		return err;
	held->look = (uint32_t)((uint64_t)count * (PAGE_AIM - PAGE_AIM / 32) / (pages->packed->n + 1));
	*ret_room = held->look > count;
	return 0;
}

int hf_row_pages_put(struct hf_row_pages *pages, uint64_t key, const void *row)
{
	struct hf_held_page *held = key ? held_page(pages, key - 1) : NULL;
	bool room = false;
	int err = 0;

	if (!held && key)
		err = seek_page(pages, HF_SEEK_BACK, key, &held);
	if (!err && held && holds(&held->page, key))
		return HF_ERR_BUG;
	if (!err && held && key == held->page.key + held->page.count)
		err = has_room(pages, held, &room);
	if (err >= 0 && !room)
		err = take_place(pages, key, &held);
	if (!err)
		err = hf_row_page_add(&held->page, row);
	if (!err)
		held->changed = true;
	return err;
}

int hf_row_pages_cut(struct hf_row_pages *pages, uint64_t first, uint64_t last)
{
	struct hf_held_page *held;
	int err = hf_row_pages_write(pages);

	if (!err)
		err = get_page(pages, first, &held);
	if (!err && held->page.key < first && holds(&held->page, first)) {
		/* What lies behind last in the same page nobody asks to keep. */
		if (holds(&held->page, last + 1))
			return HF_ERR_BUG;
		held->page.count = (uint32_t)(first - held->page.key);
		held->look = 0;
		held->changed = true;
		err = hf_row_pages_write(pages);
	}
	for (unsigned i = 0; i < HF_ROW_PAGES_HELD; i++)
		if (pages->held[i].page.key >= first && pages->held[i].page.key <= last)
			pages->held[i].page.count = 0;
	return err < 0 ? err : hf_db_table_cut(&pages->rows, first, last);
}
