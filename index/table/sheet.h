/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sheet: the tables of schema.sql without a database, for the decode index or a view table of a small capture. It is
 * in memory as a whole, and in a pack as bytes, all numbers little-endian:
 *   head      "HARTROWS"; u32 kind of file; u32 version of the schema; of each table, in the order of enum hf_table_id,
 *             u32 number of its rows
 *   rows      table by table, by key: u64 key; u32 bytes of the row; the row, as hf_row_save makes it
 * Internal to index/.
 */
#ifndef HF_INDEX_SHEET_H
#define HF_INDEX_SHEET_H

#include "index/table/db.h"
#include "index/table/row.h"

struct hf_sheet;

int hf_sheet_new(enum hf_db_kind kind, struct hf_sheet **ret_sheet);
/* Takes bytes, whatever is returned. HF_ERR_STATE: they are no sheet of that kind and version. */
int hf_sheet_load(uint8_t *bytes, size_t size, enum hf_db_kind kind, struct hf_sheet **ret_sheet);
void hf_sheet_free(struct hf_sheet *sheet);
/* As bytes, for free(). */
int hf_sheet_save(const struct hf_sheet *sheet, uint8_t **ret_bytes, size_t *ret_size);
/* How many these are. */
size_t hf_sheet_size(const struct hf_sheet *sheet);

/* In the place of the row with that key. */
int hf_sheet_put(struct hf_sheet *sheet, const struct hf_table *table, uint64_t key, const void *row);
/* HF_NOTE_END: there is none. ret_key may be NULL. */
int hf_sheet_find(const struct hf_sheet *sheet, const struct hf_table *table, enum hf_seek seek, uint64_t key,
		  uint64_t *ret_key, void *ret_row);
/* Of the row with that key the number in its first column. */
int hf_sheet_number(const struct hf_sheet *sheet, const struct hf_table *table, uint64_t key, uint64_t *ret_number);
/* Removes the rows with these keys. */
void hf_sheet_cut(struct hf_sheet *sheet, const struct hf_table *table, uint64_t first, uint64_t last);

#endif
