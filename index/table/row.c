/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/row.h"

#include "codecs/base/bytes.h"

#include <string.h>

static const struct hf_column page[] = {
	HF_COLUMN_COUNT(hf_packed_page, first),
	HF_COLUMN(NUMBER, hf_packed_page, rows, HF_PAGE_ROWS),
	HF_COLUMN(NUMBER, hf_packed_page, size, HF_PAGE_BYTES),
	HF_COLUMN_BYTES(hf_packed_page, data, n),
};

const struct hf_table hf_table_page = HF_TABLE("chunk", HF_TABLE_CHUNK, page, struct hf_packed_page);

/* ---- numbers ---- */

uint64_t hf_column_number(const struct hf_column *column, const void *row)
{
	const uint8_t *from = (const uint8_t *)row + column->offset;
	uint64_t v;
	uint32_t half;

	if (column->size == sizeof(bool))
		return *(const bool *)from;
	if (column->size == sizeof v) {
		memcpy(&v, from, sizeof v);
		return v;
	}
	memcpy(&half, from, sizeof half);
	return column->type == HF_COLUMN_CODE ? (uint64_t)(int32_t)half : half;
}

int hf_column_set_number(const struct hf_column *column, uint64_t number, void *row)
{
	uint8_t *to = (uint8_t *)row + column->offset;
	const uint32_t half = (uint32_t)number;

	if (column->type == HF_COLUMN_CODE
		    ? !hf_err_is_code((int64_t)number)
		    : number > column->max && !(column->type == HF_COLUMN_MAYBE && number == HF_NOWHERE))
		return HF_ERR_STATE;
	if (column->size == sizeof(bool))
		*(bool *)to = number;
	else
		memcpy(to, column->size == sizeof number ? (const void *)&number : &half, column->size);
	return 0;
}

/* ---- bytes ---- */

static bool is_number(const struct hf_column *c)
{
	return c->type == HF_COLUMN_NUMBER || c->type == HF_COLUMN_MAYBE || c->type == HF_COLUMN_CODE;
}

/* Of a blob or text in a row. */
static uint32_t bytes_of(const struct hf_column *c, const void *row)
{
	uint32_t n;

	if (c->type != HF_COLUMN_BLOB)
		return (uint32_t)strlen((const char *)row + c->offset);
	memcpy(&n, (const uint8_t *)row + c->max, sizeof n);
	return n;
}

static size_t column_size(const struct hf_column *c, const void *row)
{
	return is_number(c) ? 8 : c->type == HF_COLUMN_WORDS ? c->size : 4 + bytes_of(c, row);
}

size_t hf_row_used(const struct hf_table *table, const void *row)
{
	const struct hf_column *last = &table->column[table->count - 1];

	return last->type == HF_COLUMN_BLOB ? last->offset + bytes_of(last, row) : table->row_size;
}

size_t hf_row_size(const struct hf_table *table, const void *row)
{
	size_t n = 0;

	for (int i = 0; i < table->count; i++)
		n += column_size(&table->column[i], row);
	return n;
}

void hf_row_save(const struct hf_table *table, const void *row, uint8_t *to)
{
	for (int i = 0; i < table->count; i++) {
		const struct hf_column *c = &table->column[i];
		const uint8_t *from = (const uint8_t *)row + c->offset;

		if (is_number(c)) {
			hf_put64(to, hf_column_number(c, row));
		} else if (c->type == HF_COLUMN_WORDS) {
			for (size_t at = 0; at < c->size; at += 8)
				hf_put64(to + at, ((const uint64_t *)(const void *)from)[at / 8]);
		} else {
			hf_put32(to, bytes_of(c, row));
			memcpy(to + 4, from, bytes_of(c, row));
		}
		to += column_size(c, row);
	}
}

/* A blob or text of n bytes. Text has a byte behind it in the row, and no zero in it. */
static int load_bytes(const struct hf_column *c, const uint8_t *bytes, uint32_t n, void *row)
{
	uint8_t *to = (uint8_t *)row + c->offset;
	const bool text = c->type != HF_COLUMN_BLOB;

	if (n > c->size - text || (text && memchr(bytes, 0, n)))
		return HF_ERR_STATE;
	memcpy(to, bytes, n);
	if (text)
		to[n] = 0;
	else
		memcpy((uint8_t *)row + c->max, &n, sizeof n);
	return 0;
}

/* *at is moved behind it. */
static int load_column(const struct hf_column *c, const uint8_t **at, const uint8_t *end, void *row)
{
	const size_t fixed = is_number(c) ? 8 : c->type == HF_COLUMN_WORDS ? c->size : 4;
	const uint8_t *from = *at;
	uint32_t n;

	if ((size_t)(end - from) < fixed)
		return HF_ERR_STATE;
	*at += fixed;
	if (is_number(c))
		return hf_column_set_number(c, hf_get64(from), row);
	if (c->type == HF_COLUMN_WORDS) {
		for (size_t i = 0; i < fixed; i += 8)
			((uint64_t *)(void *)((uint8_t *)row + c->offset))[i / 8] = hf_get64(from + i);
		return 0;
	}
	n = hf_get32(from);
	if ((size_t)(end - *at) < n)
		return HF_ERR_STATE;
	*at += n;
	return load_bytes(c, from + 4, n, row);
}

int hf_row_load(const struct hf_table *table, const uint8_t *bytes, size_t n, void *ret_row)
{
	const uint8_t *at = bytes, *end = bytes + n;
	int err = 0;

	for (int i = 0; i < table->count && !err; i++)
		err = load_column(&table->column[i], &at, end, ret_row);
	return !err && at != end ? HF_ERR_STATE : err;
}

bool hf_row_equal(const struct hf_table *table, const void *a, const void *b)
{
	for (int i = 0; i < table->count; i++) {
		const struct hf_column *c = &table->column[i];
		const uint8_t *x = (const uint8_t *)a + c->offset, *y = (const uint8_t *)b + c->offset;

		if (is_number(c) || c->type == HF_COLUMN_WORDS) {
			if (memcmp(x, y, c->size) != 0)
				return false;
		} else if (bytes_of(c, a) != bytes_of(c, b) || memcmp(x, y, bytes_of(c, a)) != 0) {
			return false;
		}
	}
	return true;
}
