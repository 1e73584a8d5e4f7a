/* SPDX-License-Identifier: Apache-2.0 */
/* Sheets: rows come back as they were put, in whatever order; bytes that are no sheet are refused or answer within limits. */
#include "index/table/sheet.h"

#include "index/index.h"
#include "index/table/index_tables.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>

static struct hf_sheet *sheet;
static struct hf_chunk chunk;

static void put(uint64_t key)
{
	chunk = (struct hf_chunk){.ordinal = key, .pc = UINT64_MAX - key, .entry_size = (uint32_t)(key % 50)};
	memset(chunk.entry, (int)key, chunk.entry_size);
	CHECK_EQ(hf_sheet_put(sheet, &hf_table_chunk, key, &chunk), 0);
}

static bool has(enum hf_seek seek, uint64_t from, uint64_t key)
{
	uint64_t got = 0, number = 0;

	if (hf_sheet_find(sheet, &hf_table_chunk, seek, from, &got, &chunk))
		return false;
	CHECK_EQ(got, key);
	CHECK_EQ(chunk.ordinal, key);
	CHECK_EQ(chunk.pc, UINT64_MAX - key);
	CHECK_EQ(chunk.entry_size, key % 50);
	CHECK_EQ(hf_sheet_number(sheet, &hf_table_chunk, key, &number), 0);
	CHECK_EQ(number, key);
	return true;
}

static void check_rows(void)
{
	CHECK(has(HF_SEEK_AT, 30, 30) && has(HF_SEEK_FROM, 0, 10) && has(HF_SEEK_FROM, 11, 20));
	CHECK(has(HF_SEEK_BACK, 29, 20) && has(HF_SEEK_BACK, HF_COUNT_MAX, 90));
	CHECK(!has(HF_SEEK_AT, 31, 0) && !has(HF_SEEK_BACK, 9, 0) && !has(HF_SEEK_FROM, 91, 0));
}

/* Saves the sheet and loads what came out. */
static int reload(uint8_t *bytes, size_t size, enum hf_db_kind kind)
{
	hf_sheet_free(sheet);
	sheet = NULL;
	return hf_sheet_load(bytes, size, kind, &sheet);
}

static void test_rows(void)
{
	static const uint64_t order[] = {30, 10, 90, 50, 20, 70, 40, 80, 60};
	struct hf_index_problem problem = {.chunk = HF_NOWHERE, .ordinal = HF_NOWHERE, .diag.code = HF_ERR_STATE};
	struct hf_index_meta meta = {.complete = true, .box = "gzip", .limits.insns = 7};
	uint8_t *bytes;
	size_t size;

	CHECK_EQ(hf_sheet_new(HF_DB_INDEX, &sheet), 0);
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		put(order[i]);
	check_rows();
	put(90);
	put(50);
	put(55);
	hf_sheet_cut(sheet, &hf_table_chunk, 51, 59);
	check_rows();
	CHECK_EQ(hf_sheet_put(sheet, &hf_table_problem, 0, &problem), 0);
	CHECK_EQ(hf_sheet_put(sheet, &hf_table_index_meta, 1, &meta), 0);
	CHECK_EQ(hf_sheet_save(sheet, &bytes, &size), 0);
	CHECK_EQ(size, hf_sheet_size(sheet));
	CHECK_EQ(reload(bytes, size, HF_DB_INDEX), 0);
	check_rows();
	problem = (struct hf_index_problem){0};
	meta = (struct hf_index_meta){0};
	CHECK_EQ(hf_sheet_find(sheet, &hf_table_problem, HF_SEEK_AT, 0, NULL, &problem), 0);
	CHECK(problem.chunk == HF_NOWHERE && problem.diag.code == HF_ERR_STATE);
	CHECK_EQ(hf_sheet_find(sheet, &hf_table_index_meta, HF_SEEK_AT, 1, NULL, &meta), 0);
	CHECK(meta.complete && meta.limits.insns == 7 && !*meta.codec);
	CHECK_STR(meta.box, "gzip");
}

/* Whatever a damaged sheet answers is a row that can be. */
static void look(void)
{
	static const struct hf_table *const tables[] = {&hf_table_index_meta, &hf_table_chunk, &hf_table_problem};
	static union {
		struct hf_index_meta meta;
		struct hf_chunk chunk;
		struct hf_index_problem problem;
	} row;

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (uint64_t key = 0;; key++) {
			int err = hf_sheet_find(sheet, tables[i], HF_SEEK_FROM, key, &key, &row);

			CHECK(!err || err == HF_NOTE_END || err == HF_ERR_STATE);
			CHECK(err || i != 1 || row.chunk.entry_size <= HF_ENTRY_MAX);
			CHECK(err || i != 2 || hf_err_name(row.problem.diag.code));
			if (err == HF_NOTE_END)
				break;
		}
}

static void test_damage(void)
{
	uint8_t *good, *bytes;
	size_t size;

	CHECK_EQ(hf_sheet_save(sheet, &good, &size), 0);
	for (size_t n = 0; n < size; n++) {
		bytes = malloc(n + 1);
		CHECK(bytes);
		memcpy(bytes, good, n);
		CHECK_EQ(reload(bytes, n, HF_DB_INDEX), HF_ERR_STATE);
	}
	for (size_t bit = 0; bit < 8 * size; bit++) {
		bytes = malloc(size);
		CHECK(bytes);
		memcpy(bytes, good, size);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!reload(bytes, size, HF_DB_INDEX))
			look();
	}
	CHECK_EQ(reload(good, size, HF_DB_VIEW), HF_ERR_STATE);
}

int main(void)
{
	test_rows();
	test_damage();
	hf_sheet_free(sheet);
	return 0;
}
