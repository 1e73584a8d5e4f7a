/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/sheet.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/base/search.h"

#include <string.h>

#define MAGIC "HARTROWS"

enum { HEAD_SIZE = 16 + 4 * HF_TABLES, ROW_HEAD_SIZE = 12 };

struct entry {
	uint64_t key;
	uint8_t *row;
	uint32_t size;
	bool owned; /* otherwise it lies in the sheet's bytes */
};

struct rows {
	struct entry *entries; /* by key */
	size_t count;
};

struct hf_sheet {
	enum hf_db_kind kind;
	struct rows tables[HF_TABLES];
	uint8_t *bytes; /* that it was loaded from; NULL: it is new */
	size_t size;	/* that it has as bytes */
};

int hf_sheet_new(enum hf_db_kind kind, struct hf_sheet **ret_sheet)
{
	struct hf_sheet *sheet = calloc(1, sizeof *sheet);

	*ret_sheet = sheet;
	if (!sheet)
		return HF_ERR_NOMEM;
	sheet->kind = kind;
	sheet->size = HEAD_SIZE;
	return 0;
}

static void drop_entry(struct hf_sheet *sheet, struct entry *entry)
{
	sheet->size -= ROW_HEAD_SIZE + entry->size;
	if (entry->owned)
		free(entry->row);
}

void hf_sheet_free(struct hf_sheet *sheet)
{
	if (!sheet)
		return;
	for (size_t i = 0; i < HF_TABLES; i++) {
		for (size_t j = 0; j < sheet->tables[i].count; j++)
			drop_entry(sheet, &sheet->tables[i].entries[j]);
		free(sheet->tables[i].entries);
	}
	free(sheet->bytes);
	free(sheet);
}

/* ---- as bytes ---- */

/* *at is moved behind them. */
static int load_rows(struct rows *rows, size_t count, uint8_t **at, const uint8_t *end)
{
	if (count > (size_t)(end - *at) / ROW_HEAD_SIZE)
		return HF_ERR_STATE;
	rows->entries = count ? calloc(count, sizeof *rows->entries) : NULL;
	if (count && !rows->entries)
		return HF_ERR_NOMEM;
	for (; rows->count < count; rows->count++) {
		struct entry *entry = &rows->entries[rows->count];

		if (end - *at < ROW_HEAD_SIZE)
			return HF_ERR_STATE;
		*entry = (struct entry){.key = hf_get64(*at), .size = hf_get32(*at + 8), .row = *at + ROW_HEAD_SIZE};
		*at += ROW_HEAD_SIZE;
		if (entry->size > (size_t)(end - *at) || entry->key > HF_COUNT_MAX ||
		    (rows->count && entry->key <= entry[-1].key))
			return HF_ERR_STATE;
		*at += entry->size;
	}
	return 0;
}

int hf_sheet_load(uint8_t *bytes, size_t size, enum hf_db_kind kind, struct hf_sheet **ret_sheet)
{
	uint8_t *at = bytes + HEAD_SIZE;
	struct hf_sheet *sheet;
	int err = hf_sheet_new(kind, &sheet);

	*ret_sheet = NULL;
	if (err) {
		free(bytes);
		return err;
	}
	sheet->bytes = bytes;
	sheet->size = size;
	/* A summary has more tables than a sheet: there are none of summaries. */
	if (kind == HF_DB_SUMMARY || size < HEAD_SIZE || memcmp(bytes, MAGIC, 8) != 0 || hf_get32(bytes + 8) != (uint32_t)kind ||
	    hf_get32(bytes + 12) != HF_SCHEMA_VERSION)
		err = HF_ERR_STATE;
	for (size_t i = 0; i < HF_TABLES && !err; i++)
		err = load_rows(&sheet->tables[i], hf_get32(bytes + 16 + 4 * i), &at, bytes + size);
	if (!err && at != bytes + size)
		err = HF_ERR_STATE;
	if (err)
		hf_sheet_free(sheet);
	else
		*ret_sheet = sheet;
	return err;
}

size_t hf_sheet_size(const struct hf_sheet *sheet)
{
	return sheet->size;
}

int hf_sheet_save(const struct hf_sheet *sheet, uint8_t **ret_bytes, size_t *ret_size)
{
	uint8_t *bytes = malloc(sheet->size), *at = bytes + HEAD_SIZE;

	*ret_bytes = bytes;
	*ret_size = sheet->size;
	if (!bytes)
		return HF_ERR_NOMEM;
	memcpy(bytes, MAGIC, 8);
	hf_put32(bytes + 8, (uint32_t)sheet->kind);
	hf_put32(bytes + 12, HF_SCHEMA_VERSION);
	for (size_t i = 0; i < HF_TABLES; i++) {
		const struct rows *rows = &sheet->tables[i];

		hf_put32(bytes + 16 + 4 * i, (uint32_t)rows->count);
		for (size_t j = 0; j < rows->count; j++) {
			const struct entry *entry = &rows->entries[j];

			hf_put64(at, entry->key);
			hf_put32(at + 8, entry->size);
			memcpy(at + ROW_HEAD_SIZE, entry->row, entry->size);
			at += ROW_HEAD_SIZE + entry->size;
		}
	}
	return 0;
}

/* ---- rows ---- */

/* How many rows have a smaller key. Most are asked for behind all of them. */
static size_t place_of(const struct rows *rows, uint64_t key)
{
	const size_t count = rows->count;

	if (!count || rows->entries[count - 1].key < key)
		return count;
	return key ? HF_COUNT_UP_TO(rows->entries, count, key, key - 1) : 0;
}

int hf_sheet_put(struct hf_sheet *sheet, const struct hf_table *table, uint64_t key, const void *row)
{
	struct rows *rows = &sheet->tables[table->id];
	struct entry entry = {.key = key, .size = (uint32_t)hf_row_size(table, row), .owned = true};
	const size_t at = place_of(rows, key);
	const bool replaces = at < rows->count && rows->entries[at].key == key;
	int err = key > HF_COUNT_MAX || sheet->bytes ? HF_ERR_BUG : 0;

	if (!err && !replaces)
		err = hf_array_room(&rows->entries, rows->count, sizeof *rows->entries);
	if (err)
		return err;
	entry.row = malloc(entry.size ? entry.size : 1);
	if (!entry.row)
		return HF_ERR_NOMEM;
	hf_row_save(table, row, entry.row);
	if (replaces)
		drop_entry(sheet, &rows->entries[at]);
	else
		memmove(&rows->entries[at + 1], &rows->entries[at], (rows->count++ - at) * sizeof entry);
	rows->entries[at] = entry;
	sheet->size += ROW_HEAD_SIZE + entry.size;
	return 0;
}

int hf_sheet_find(const struct hf_sheet *sheet, const struct hf_table *table, enum hf_seek seek, uint64_t key,
		  uint64_t *ret_key, void *ret_row)
{
	const struct rows *rows = &sheet->tables[table->id];
	size_t at = place_of(rows, key);
	const bool exact = at < rows->count && rows->entries[at].key == key;

	if (seek == HF_SEEK_BACK && !exact)
		at--;
	if (at >= rows->count || (seek == HF_SEEK_AT && !exact))
		return HF_NOTE_END;
	if (ret_key)
		*ret_key = rows->entries[at].key;
	return hf_row_load(table, rows->entries[at].row, rows->entries[at].size, ret_row);
}

int hf_sheet_number(const struct hf_sheet *sheet, const struct hf_table *table, uint64_t key, uint64_t *ret_number)
{
	const struct rows *rows = &sheet->tables[table->id];
	const size_t at = place_of(rows, key);

	if (at >= rows->count || rows->entries[at].key != key)
		return HF_NOTE_END;
	if (rows->entries[at].size < 8)
		return HF_ERR_STATE;
	*ret_number = hf_get64(rows->entries[at].row);
	return *ret_number <= table->column->max ? 0 : HF_ERR_STATE;
}

void hf_sheet_cut(struct hf_sheet *sheet, const struct hf_table *table, uint64_t first, uint64_t last)
{
	struct rows *rows = &sheet->tables[table->id];
	const size_t from = place_of(rows, first);
	size_t to = from;

	for (; to < rows->count && rows->entries[to].key <= last; to++)
		drop_entry(sheet, &rows->entries[to]);
	if (to > from)
		memmove(&rows->entries[from], &rows->entries[to], (rows->count - to) * sizeof *rows->entries);
	rows->count -= to - from;
}
