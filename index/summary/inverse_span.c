/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/inverse_span.h"

#include "index/summary/inverse_page.h"
#include "index/table/row_queue.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 6

static_assert(HF_INVERSE_PAGE_FULL + 2 * HF_INVERSE_KEY_BYTES + (HF_INVERSE_PAGE_FULL >> 8) + 512 <=
		      HF_INVERSE_PAGE_MAX,
	      "a page fits, compressed or not");

struct hf_inverse_rows {
	hf_summary_row_fn put;
	void *ctx;
	uint64_t part;
	uint64_t bytes, most;	   /* of this span: so far, and at most */
	struct hf_row_queue ready; /* its rows, until it is known that they are not too many */
	uint64_t pages, pieces;	   /* of the part so far */
	struct hf_inverse_page_writer page;
	struct hf_list_writer list;
	struct hf_inverse_page page_row;
	struct hf_summary_piece piece;
	union {
		struct hf_inverse_span span;
		struct hf_inverse_page page;
		struct hf_summary_piece piece;
	} row;
	uint8_t raw[HF_INVERSE_PAGE_FULL + 2 * HF_INVERSE_KEY_BYTES];
};

int hf_inverse_writer_init(struct hf_inverse_writer *w, const struct hf_inverse_ops *ops, void *ctx,
			   const struct hf_inverse_room *room, hf_summary_row_fn put, void *put_ctx)
{
	w->ops = ops;
	w->ctx = ctx;
	w->rows = calloc(1, sizeof *w->rows);
	if (!w->rows)
		return HF_ERR_NOMEM;
	w->rows->put = put;
	w->rows->ctx = put_ctx;
	w->rows->part = (uint64_t)ops->part << HF_INVERSE_PART_SHIFT;
	hf_row_queue_init(&w->rows->ready);
	if (hf_inverse_page_init(&w->rows->page))
		return HF_ERR_NOMEM;
	return hf_inverse_new(room, &w->inverse);
}

void hf_inverse_writer_fini(struct hf_inverse_writer *w)
{
	hf_inverse_free(w->inverse);
	if (w->rows) {
		hf_inverse_page_fini(&w->rows->page);
		hf_list_writer_fini(&w->rows->list);
		hf_row_queue_fini(&w->rows->ready);
	}
	free(w->rows);
}

int hf_inverse_writer_put(struct hf_inverse_writer *w, const struct hf_inverse_key *key, uint64_t place, uint64_t count)
{
	const unsigned shift = w->ops->shift(key);
	uint64_t added;
	int err;

	if (!w->inverse->count) {
		w->first = place;
		w->begun = w->insns;
	}
	err = hf_inverse_put(w->inverse, key, w->first >> shift, place >> shift, count, &added);
	if (!err) {
		w->last = place;
		w->total += added;
	}
	return err;
}

/* ---- rows ---- */

/* The span has more bytes than it may have. */
enum { TOO_MANY = 1 };

/* Before each row that is ready. */
struct ready {
	const struct hf_table *table;
	uint64_t number;
};

static int put_row(struct hf_inverse_rows *r, const struct hf_table *table, uint64_t number, const void *row, size_t n)
{
	const struct ready head = {.table = table, .number = r->part | number};

	r->bytes += n;
	if (number > UINT32_MAX)
		return HF_ERR_LIMIT;
	return r->bytes > r->most ? TOO_MANY
				  : hf_row_queue_push(&r->ready, 0, &head, sizeof head, row, hf_row_used(table, row));
}

static void drop_rows(struct hf_inverse_rows *r)
{
	hf_row_queue_fini(&r->ready);
	hf_row_queue_init(&r->ready);
	r->piece.n = 0;
}

static int put_page(struct hf_inverse_rows *r)
{
	struct hf_inverse_page *row = &r->page_row;
	size_t n;

	if (!r->page.keys)
		return 0;
	row->keys = r->page.keys;
	row->size = (uint32_t)hf_inverse_page_end(&r->page, r->raw);
	n = ZSTD_compress(row->data, sizeof row->data, r->raw, row->size, LEVEL);
	if (ZSTD_isError(n))
		return HF_ERR_NOMEM;
	row->n = (uint32_t)n;
	hf_inverse_page_begin(&r->page);
	return put_row(r, &hf_table_inverse_page, r->pages++, row, n + 40);
}

static int put_piece(struct hf_inverse_rows *r)
{
	const uint32_t n = r->piece.n;
	int err = n ? put_row(r, &hf_table_inverse_list, r->pieces, &r->piece, n + 8) : 0;

	r->pieces += n != 0;
	r->piece.n = 0;
	return err;
}

/* The list that was coded, behind those before it. */
static int put_list(struct hf_inverse_rows *r)
{
	const struct hf_list_bytes *list = &r->list.out;
	int err = 0;

	for (size_t at = 0; at < list->n && !err;) {
		const size_t room = HF_SUMMARY_PIECE - r->piece.n, left = list->n - at, n = left < room ? left : room;

		memcpy(r->piece.data + r->piece.n, list->p + at, n);
		r->piece.n += (uint32_t)n;
		at += n;
		if (r->piece.n == HF_SUMMARY_PIECE)
			err = put_piece(r);
	}
	return err;
}

static void note_range(const struct hf_inverse_writer *w, const struct hf_inverse_key *key)
{
	struct hf_inverse_page *row = &w->rows->page_row;
	uint64_t first, last;

	w->ops->range(key, &first, &last);
	if (!w->rows->page.keys || first < row->first)
		row->first = first;
	if (!w->rows->page.keys || last > row->last)
		row->last = last;
}

static int put_entry(const struct hf_inverse_writer *w, const struct hf_inverse_entry *entry)
{
	struct hf_inverse_rows *r = w->rows;
	const unsigned shift = w->ops->shift(&entry->key);
	const struct hf_list_facts facts = {.postings = hf_growing_postings(&entry->list),
					    .total = hf_growing_total(&entry->list),
					    .first = w->first >> shift,
					    .end = (w->last >> shift) + 1};
	struct hf_inverse_item item = {.key = entry->key,
				       .total = facts.total,
				       .postings = facts.postings,
				       .place = entry->list.place,
				       .list = r->pieces * HF_SUMMARY_PIECE + r->piece.n};
	int err = 0;

	if (facts.postings > 1) {
		err = hf_growing_code(&w->inverse->lists, &entry->list, &facts, &r->list);
		item.list_size = r->list.out.n;
		if (!err)
			err = put_list(r);
	}
	if (err)
		return err;
	if (!r->page.keys)
		r->page_row.list = item.list;
	note_range(w, &entry->key);
	hf_inverse_page_put(&r->page, &item, facts.first);
	return r->page.bytes < HF_INVERSE_PAGE_FULL ? 0 : put_page(r);
}

static int put_entries(struct hf_inverse_writer *w)
{
	uint32_t *order;
	int err = hf_inverse_sort(w->inverse, &order);

	hf_inverse_page_begin(&w->rows->page);
	for (uint32_t i = 0; i < w->inverse->count && !err; i++)
		err = put_entry(w, &w->inverse->entries[order[i]]);
	free(order);
	if (!err)
		err = put_page(w->rows);
	return err ? err : put_piece(w->rows);
}

/* Makes the rows of the span, which take at most so many bytes: 1 if they would take more. */
static int make_span(struct hf_inverse_writer *w, uint64_t most)
{
	struct hf_inverse_rows *r = w->rows;
	struct hf_inverse_span span = {.first = w->first,
				       .end = w->last + 1,
				       .insns = w->insns - w->begun,
				       .keys = w->inverse->count,
				       .page = r->pages,
				       .list = r->pieces};
	int err;

	r->bytes = 0;
	r->most = most;
	err = put_entries(w);
	span.pages = r->pages - span.page;
	span.lists = r->pieces - span.list;
	if (!err)
		err = put_row(r, &hf_table_inverse_span, w->head.spans, &span, 40);
	if (err) {
		drop_rows(r);
		r->pages = span.page;
		r->pieces = span.list;
	}
	return err;
}

/* Its rows are what make_span made. */
static int write_span(struct hf_inverse_writer *w)
{
	struct hf_inverse_rows *r = w->rows;
	const struct hf_row *row;
	int err = 0;

	while (!err && (row = hf_row_queue_pop(&r->ready))) {
		const struct ready *head = hf_row_bytes(row);

		memcpy(&r->row, head + 1, row->size - sizeof *head);
		err = r->put(r->ctx, head->table, head->number, &r->row);
	}
	w->head.spans++;
	w->head.total += w->total;
	w->bytes += r->bytes;
	w->total = 0;
	hf_inverse_clear(w->inverse);
	if (w->ops->begin)
		w->ops->begin(w->ctx);
	return err;
}

/* ---- the bound ---- */

/* How many bytes a span may have now. */
static uint64_t most_bytes(const struct hf_inverse_writer *w)
{
	const uint64_t most = w->inverse->room.credit + w->insns / w->ops->insns_a_byte;

	return most > w->bytes ? most - w->bytes : 0;
}

/* Less than half of its memory is in use. */
static bool is_roomy(const struct hf_inverse *v)
{
	return v->count < v->room.keys / 2 && v->lists.size < v->room.lists / 2 && hf_growing_has_room(&v->lists);
}

/* Writes the span if it has few enough bytes, or becomes coarser: 1. What is as coarse as can be is written whatever
 * it takes. */
static int write_or_coarsen(struct hf_inverse_writer *w)
{
	int err = make_span(w, most_bytes(w));

	if (err == TOO_MANY) {
		err = w->ops->coarsen(w->ctx);
		if (err)
			return err;
		err = make_span(w, UINT64_MAX);
	}
	return err ? err : write_span(w);
}

int hf_inverse_writer_make_room(struct hf_inverse_writer *w)
{
	int err;

	do
		err = write_or_coarsen(w);
	while (err > 0 && !is_roomy(w->inverse));
	return err < 0 ? err : 0;
}

int hf_inverse_writer_cut(struct hf_inverse_writer *w, bool coarse)
{
	const uint32_t most = w->inverse->room.coarse;

	if (!coarse || !most || !w->inverse->count || w->insns - w->begun < most)
		return 0;
	return hf_inverse_writer_make_room(w);
}

int hf_inverse_writer_end(struct hf_inverse_writer *w, bool known)
{
	int err = w->inverse->count ? 1 : 0;

	while (err > 0)
		err = write_or_coarsen(w);
	w->head.known = known;
	return err ? err : w->rows->put(w->rows->ctx, &hf_table_inverse, w->ops->part, &w->head);
}

int hf_inverse_writer_map(struct hf_inverse_writer *w, hf_inverse_map_fn fn, void *ctx)
{
	const struct hf_inverse_mapping mapping = {
		.fn = fn, .ctx = ctx, .shift = w->ops->shift, .base = w->first, .counted = w->ops->counted};

	return hf_inverse_map(w->inverse, &mapping, &w->total);
}

void hf_inverse_writer_keep(struct hf_inverse_writer *w, struct hf_keep *k)
{
	struct hf_inverse_kept kept = {.is_key = w->ops->is_key, .shift = w->ops->shift};
	uint64_t total;

	HF_KEEP(k, w->first, HF_COUNT_MAX);
	HF_KEEP(k, w->last, HF_COUNT_MAX);
	HF_KEEP(k, w->insns, HF_COUNT_MAX);
	HF_KEEP(k, w->begun, w->insns);
	HF_KEEP(k, w->total, UINT64_MAX);
	HF_KEEP(k, w->head.spans, HF_NUMBER_MAX);
	HF_KEEP(k, w->head.total, UINT64_MAX);
	HF_KEEP(k, w->bytes, INT64_MAX);
	HF_KEEP(k, w->rows->pages, UINT32_MAX);
	HF_KEEP(k, w->rows->pieces, UINT32_MAX);
	kept.base = w->first;
	kept.last = w->last;
	hf_inverse_keep(w->inverse, &kept, k, &total);
	hf_keep_check(k, total == w->total);
}
