/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/row_page.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "index/base/chunk.h"
#include "index/table/columns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Higher levels take a few bytes off and are ten times as slow. */
#define LEVEL 9

/* What the blobs of a page are. */
enum { BYTES, NUMBERS };

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

int hf_row_page_add(struct hf_row_page *page, const void *row)
{
	const uint32_t at = start_of(page, page->count);
	const size_t n = hf_row_size(page->table, row);
	int err = !hf_row_page_is_full(page) ? hf_array_reserve(&page->bytes, at + n, &page->room, 1) : HF_ERR_BUG;

	if (err)
		return err;
	hf_row_save(page->table, row, page->bytes + at);
	page->end[page->count++] = at + (uint32_t)n;
	return 0;
}

bool hf_row_page_is_full(const struct hf_row_page *page)
{
	/* A row is packed in hardly more bytes than it has here; but each column takes one. */
	static_assert(HF_PAGE_BYTES > 8 * (2 * sizeof(struct hf_chunk) + 64), "one has room in an empty page");

	return page->count == HF_PAGE_ROWS ||
	       start_of(page, page->count) + 2 * page->count + 2 * sizeof(struct hf_chunk) + 64 > HF_PAGE_BYTES;
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

/* ---- packing ---- */

/* A page on its way. The blob is the last column of a table; all others are numbers. */
struct packing {
	uint32_t numbers;
	bool parsed;		   /* blobs are numbers, too */
	struct hf_columns counts;  /* of each row: bytes of its blob, or how many numbers that is */
	struct hf_columns columns; /* numbers of each row, and those of its blob */
	uint64_t count[HF_PAGE_ROWS];
	size_t room; /* for numbers; it takes a byte to write one at least */
	uint8_t *raw;
	uint64_t v[]; /* and raw behind them */
};

/* room: for numbers, size: for the bytes of the page. */
static struct packing *new_packing(const struct hf_row_page *page, size_t room, size_t size)
{
	struct packing *p = malloc(sizeof *p + room * sizeof *p->v + size);

	assert(page->table->count > 1 && page->table->column[page->table->count - 1].type == HF_COLUMN_BLOB);
	if (!p)
		return NULL;
	p->numbers = (uint32_t)page->table->count - 1;
	p->room = room;
	p->raw = (uint8_t *)(p->v + room);
	p->columns.v = p->v;
	p->columns.rows = p->counts.rows = page->count;
	p->counts.v = p->count;
	for (uint32_t i = 0; i < page->count; i++)
		p->counts.end[i] = i + 1;
	return p;
}

/* As a codec saves its state: nothing but varints, none longer than it must be. -1: it is something else. */
static int parse_blob(const uint8_t *from, const uint8_t *end, uint64_t *v)
{
	int n = 0;

	for (const uint8_t *behind; from < end; from = behind, n++) {
		behind = hf_get_varint(from, end, &v[n]);
		if (!behind || (behind - from > 1 && !behind[-1]))
			return -1;
	}
	return n;
}

/* blobs: as numbers too, which may fail. */
static bool parse_rows(struct packing *p, const struct hf_row_page *page, bool blobs)
{
	uint64_t *v = p->v;

	p->parsed = blobs;
	for (uint32_t i = 0; i < page->count; i++) {
		const uint8_t *from = page->bytes + start_of(page, i), *const end = page->bytes + page->end[i];
		int n = 0;

		for (uint32_t k = 0; k < p->numbers; k++, from += 8)
			*v++ = hf_get64(from);
		if (blobs)
			n = parse_blob(from + 4, end, v);
		if (n < 0)
			return false;
		v += n;
		p->count[i] = blobs ? (uint64_t)n : hf_get32(from);
		p->columns.end[i] = (uint32_t)(v - p->v);
	}
	return true;
}

static size_t write_raw(struct packing *p, const struct hf_row_page *page)
{
	const size_t fixed = 8 * (size_t)p->numbers + 4;
	uint8_t *to = p->raw;

	if (!parse_rows(p, page, true))
		parse_rows(p, page, false);
	*to++ = p->parsed ? NUMBERS : BYTES;
	to = hf_columns_put(to, &p->counts, NULL);
	to = hf_columns_put(to, &p->columns, page->table->follow);
	for (uint32_t i = 0; i < page->count && !p->parsed; i++) {
		const uint32_t at = start_of(page, i) + (uint32_t)fixed;

		memcpy(to, page->bytes + at, page->end[i] - at);
		to += page->end[i] - at;
	}
	return (size_t)(to - p->raw);
}

int hf_row_page_pack(const struct hf_row_page *page, struct hf_squeeze *squeeze, struct hf_packed_page *ret_packed)
{
	const size_t bytes = start_of(page, page->count);
	struct packing *p = new_packing(page, bytes, bytes + 2 * page->count + sizeof(struct hf_chunk) + 64);
	int err;

	if (!p)
		return HF_ERR_NOMEM;
	ret_packed->first = hf_row_page_number(page, 0);
	ret_packed->rows = page->count;
	ret_packed->size = (uint32_t)write_raw(p, page);
	err = hf_squeeze(squeeze, LEVEL, p->raw, ret_packed->size, ret_packed->data, sizeof ret_packed->data,
			 &ret_packed->n);
	free(p);
	return err;
}

/* ---- unpacking ---- */

/* How many numbers and bytes there are: no more than there is room for. */
static const uint8_t *read_counts(struct packing *p, const uint8_t *from, const uint8_t *end)
{
	uint64_t all = 0;

	if (from == end || *from > NUMBERS)
		return NULL;
	p->parsed = *from++ == NUMBERS;
	from = hf_columns_get(from, end, &p->counts, NULL);
	for (uint32_t i = 0; i < p->counts.rows && from; i++) {
		if (p->count[i] > HF_PAGE_BYTES)
			return NULL;
		all += p->numbers + (p->parsed ? p->count[i] : 0);
		if (all > p->room)
			return NULL;
		p->columns.end[i] = (uint32_t)all;
	}
	return from;
}

static size_t blob_size(const struct packing *p, uint32_t i, uint32_t start)
{
	size_t n = 0;

	if (!p->parsed)
		return (size_t)p->count[i];
	for (uint32_t k = start + p->numbers; k < p->columns.end[i]; k++)
		n += hf_varint_size(p->v[k]);
	return n;
}

/* Where the rows will end in the page. */
static int measure_rows(struct hf_row_page *page, const struct packing *p)
{
	uint32_t start = 0;
	size_t end = 0;

	for (uint32_t i = 0; i < page->count; start = p->columns.end[i++]) {
		end += 8 * (size_t)p->numbers + 4 + blob_size(p, i, start);
		page->end[i] = (uint32_t)end;
	}
	return end <= 16 * HF_PAGE_BYTES ? hf_array_reserve(&page->bytes, end, &page->room, 1) : HF_ERR_STATE;
}

/* Puts the rows together of their numbers and, if that is not what they are, the bytes from[..end) of the blobs. */
static int put_rows(struct hf_row_page *page, const struct packing *p, const uint8_t *from, const uint8_t *end)
{
	uint8_t *to = page->bytes;
	uint32_t at = 0;

	for (uint32_t i = 0; i < page->count; i++) {
		const size_t n = blob_size(p, i, at);

		for (uint32_t k = 0; k < p->numbers; k++, to += 8)
			hf_put64(to, p->v[at++]);
		hf_put32(to, (uint32_t)n);
		to += 4;
		for (; at < p->columns.end[i]; at++)
			to = hf_put_varint(to, p->v[at]);
		if (p->parsed)
			continue;
		if (n > (size_t)(end - from))
			return HF_ERR_STATE;
		memcpy(to, from, n);
		to += n;
		from += n;
	}
	return from == end ? 0 : HF_ERR_STATE;
}

static int read_raw(struct hf_row_page *page, struct packing *p, size_t size)
{
	const uint8_t *const end = p->raw + size, *from = read_counts(p, p->raw, end);
	int err;

	if (from)
		from = hf_columns_get(from, end, &p->columns, page->table->follow);
	if (!from)
		return HF_ERR_STATE;
	err = measure_rows(page, p);
	return err ? err : put_rows(page, p, from, end);
}

int hf_row_page_unpack(struct hf_row_page *page, uint32_t rows, const uint8_t *data, size_t n, size_t size)
{
	struct packing *p;
	int err = HF_ERR_STATE;

	page->count = 0;
	if (!rows || rows > HF_PAGE_ROWS || size > HF_PAGE_BYTES)
		return HF_ERR_STATE;
	page->count = rows;
	p = new_packing(page, size, size);
	if (!p)
		err = HF_ERR_NOMEM;
	else if (ZSTD_decompress(p->raw, size, data, n) == size)
		err = read_raw(page, p, size);
	if (err)
		page->count = 0;
	free(p);
	return err;
}
