/* SPDX-License-Identifier: Apache-2.0 */
#include "index/row_page.h"

#include "codecs/base/bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Higher levels take a few bytes off and are ten times as slow. */
#define LEVEL 9

enum form { PLAIN, STEPS, STEPS_OF_STEPS, FORMS };

void hf_row_page_fini(struct hf_row_page *page)
{
	free(page->bytes);
	page->bytes = NULL;
}

void hf_row_page_clear(struct hf_row_page *page, const struct hf_table *table, uint64_t key)
{
	page->table = table;
	page->key = key;
	page->count = 0;
}

static uint32_t start_of(const struct hf_row_page *page, uint32_t i)
{
	return i ? page->end[i - 1] : 0;
}

static int make_room(struct hf_row_page *page, size_t n)
{
	uint8_t *bigger;

	if (n <= page->room)
		return 0;
	n += n / 2;
	bigger = realloc(page->bytes, n);
	if (!bigger)
		return HF_ERR_NOMEM;
	page->bytes = bigger;
	page->room = n;
	return 0;
}

int hf_row_page_add(struct hf_row_page *page, const void *row)
{
	const uint32_t at = start_of(page, page->count);
	const size_t n = hf_row_size(page->table, row);
	int err = !hf_row_page_is_full(page) ? make_room(page, at + n) : HF_ERR_BUG;

	if (err)
		return err;
	hf_row_save(page->table, row, page->bytes + at);
	page->end[page->count++] = at + (uint32_t)n;
	return 0;
}

bool hf_row_page_is_full(const struct hf_row_page *page)
{
	/* A row is packed in hardly more bytes than it has here. */
	static_assert(HF_PAGE_BYTES > 8 * (sizeof(struct hf_chunk) + 64), "one has room in an empty page");

	return page->count == HF_PAGE_ROWS ||
	       start_of(page, page->count) + 2 * page->count + sizeof(struct hf_chunk) + 64 > HF_PAGE_BYTES;
}

int hf_row_page_get(const struct hf_row_page *page, uint32_t i, void *ret_row)
{
	const uint32_t at = start_of(page, i);

	return hf_row_load(page->table, page->bytes + at, page->end[i] - at, ret_row);
}

uint64_t hf_row_page_number(const struct hf_row_page *page, uint32_t i)
{
	return hf_get64(page->bytes + start_of(page, i));
}

/* ---- numbers ---- */

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

static bool get_varint(const uint8_t **p, const uint8_t *end, uint64_t *ret_v)
{
	*ret_v = 0;
	for (unsigned shift = 0; shift < 64 && *p < end; shift += 7) {
		const uint8_t byte = *(*p)++;

		*ret_v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static uint8_t *put_steps(uint8_t *p, const uint64_t *v, uint32_t n, enum form form)
{
	uint64_t before = 0, step_before = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t step = v[i] - before, d = form == STEPS ? step : step - step_before;

		p = put_varint(p, d << 1 ^ -(d >> 63));
		before = v[i];
		step_before = step;
	}
	return p;
}

static bool get_steps(const uint8_t **p, const uint8_t *end, uint64_t *v, uint32_t n, enum form form)
{
	uint64_t before = 0, step = 0, d;

	for (uint32_t i = 0; i < n; i++) {
		if (!get_varint(p, end, &d))
			return false;
		d = d >> 1 ^ -(d & 1);
		step = form == STEPS ? d : step + d;
		before = v[i] = before + step;
	}
	return true;
}

/* In the form that takes the fewest bytes. */
static uint8_t *put_numbers(uint8_t *p, const uint64_t *v, uint32_t n)
{
	uint8_t steps[2][HF_PAGE_ROWS * 10];
	const size_t size[2] = {(size_t)(put_steps(steps[0], v, n, STEPS) - steps[0]),
				(size_t)(put_steps(steps[1], v, n, STEPS_OF_STEPS) - steps[1])};
	const unsigned best = size[1] < size[0];

	if (size[best] < 8 * (size_t)n) {
		*p++ = (uint8_t)(STEPS + best);
		memcpy(p, steps[best], size[best]);
		return p + size[best];
	}
	*p++ = PLAIN;
	for (uint32_t i = 0; i < n; i++, p += 8)
		hf_put64(p, v[i]);
	return p;
}

static bool get_numbers(const uint8_t **p, const uint8_t *end, uint64_t *v, uint32_t n)
{
	unsigned form;

	if (*p == end)
		return false;
	form = *(*p)++;
	if (form == STEPS || form == STEPS_OF_STEPS)
		return get_steps(p, end, v, n, form);
	if (form != PLAIN || (size_t)(end - *p) < 8 * (size_t)n)
		return false;
	for (uint32_t i = 0; i < n; i++, *p += 8)
		v[i] = hf_get64(*p);
	return true;
}

/* ---- a page ---- */

/* Numbers of all rows, by column. The blob is the last column. */
struct columns {
	uint64_t v[HF_PAGE_COLUMNS][HF_PAGE_ROWS];
	uint8_t raw[]; /* the page, not compressed */
};

static unsigned numbers_of(const struct hf_table *table)
{
	assert(table->count > 1 && table->count <= HF_PAGE_COLUMNS + 1);
	assert(table->column[table->count - 1].type == HF_COLUMN_BLOB);
	return (unsigned)table->count - 1;
}

static size_t write_columns(const struct hf_row_page *page, struct columns *c)
{
	const unsigned numbers = numbers_of(page->table);
	uint8_t *p = c->raw;

	for (uint32_t i = 0; i < page->count; i++)
		for (unsigned k = 0; k < numbers; k++)
			c->v[k][i] = hf_get64(page->bytes + start_of(page, i) + 8 * k);
	for (unsigned k = 0; k < numbers; k++)
		p = put_numbers(p, c->v[k], page->count);
	for (uint32_t i = 0; i < page->count; i++)
		p = put_varint(p, hf_get32(page->bytes + start_of(page, i) + 8 * numbers));
	for (uint32_t i = 0; i < page->count; i++) {
		const uint32_t at = start_of(page, i) + 8 * numbers + 4;

		memcpy(p, page->bytes + at, page->end[i] - at);
		p += page->end[i] - at;
	}
	return (size_t)(p - c->raw);
}

int hf_row_page_pack(const struct hf_row_page *page, struct hf_packed_page *ret_packed)
{
	struct columns *c = malloc(sizeof *c + HF_PAGE_BYTES);
	size_t n;

	if (!c)
		return HF_ERR_NOMEM;
	ret_packed->first = hf_row_page_number(page, 0);
	ret_packed->rows = page->count;
	ret_packed->size = (uint32_t)write_columns(page, c);
	n = ZSTD_compress(ret_packed->data, sizeof ret_packed->data, c->raw, ret_packed->size, LEVEL);
	free(c);
	ret_packed->n = (uint32_t)n;
	return ZSTD_isError(n) ? HF_ERR_NOMEM : 0;
}

/* Puts the rows together of the columns and the bytes p[..end) of the blobs, whose sizes are v[numbers]. */
static int put_rows(struct hf_row_page *page, const struct columns *c, const uint64_t *sizes, const uint8_t *p,
		    const uint8_t *end)
{
	const unsigned numbers = numbers_of(page->table);
	const size_t fixed = 8 * (size_t)numbers + 4;
	int err = make_room(page, page->count * fixed + (size_t)(end - p));
	uint8_t *to = page->bytes;

	if (err)
		return err;
	for (uint32_t i = 0; i < page->count; i++) {
		if (sizes[i] > (size_t)(end - p))
			return HF_ERR_STATE;
		for (unsigned k = 0; k < numbers; k++, to += 8)
			hf_put64(to, c->v[k][i]);
		hf_put32(to, (uint32_t)sizes[i]);
		memcpy(to + 4, p, sizes[i]);
		to += 4 + sizes[i];
		p += sizes[i];
		page->end[i] = (uint32_t)(to - page->bytes);
	}
	return p == end ? 0 : HF_ERR_STATE;
}

static int read_columns(struct hf_row_page *page, struct columns *c, size_t n)
{
	const uint8_t *p = c->raw, *const end = p + n;
	const unsigned numbers = numbers_of(page->table);
	uint64_t sizes[HF_PAGE_ROWS];

	for (unsigned k = 0; k < numbers; k++)
		if (!get_numbers(&p, end, c->v[k], page->count))
			return HF_ERR_STATE;
	for (uint32_t i = 0; i < page->count; i++)
		if (!get_varint(&p, end, &sizes[i]))
			return HF_ERR_STATE;
	return put_rows(page, c, sizes, p, end);
}

int hf_row_page_unpack(struct hf_row_page *page, uint32_t rows, const uint8_t *data, size_t n, size_t size)
{
	struct columns *c;
	int err = HF_ERR_STATE;

	page->count = 0;
	if (!rows || rows > HF_PAGE_ROWS || size > HF_PAGE_BYTES)
		return HF_ERR_STATE;
	c = malloc(sizeof *c + size);
	if (!c)
		return HF_ERR_NOMEM;
	page->count = rows;
	if (ZSTD_decompress(c->raw, size, data, n) == size)
		err = read_columns(page, c, size);
	if (err)
		page->count = 0;
	free(c);
	return err;
}
