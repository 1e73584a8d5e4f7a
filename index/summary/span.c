/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/span.h"

#include "index/summary/page.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 6

static_assert(HF_PAGE_BYTES_MAX + (HF_PAGE_BYTES_MAX >> 8) + 512 <= HF_SUMMARY_PAGE_MAX,
	      "a page fits, compressed or not");

struct hf_span_writer {
	hf_summary_row_fn put;
	void *ctx;
	uint64_t spans, pages, pieces; /* of the hart so far */
	struct hf_page_writer page;
	struct hf_list_writer list;
	struct hf_summary_page page_row;
	struct hf_summary_piece piece;
};

int hf_span_writer_new(hf_summary_row_fn put, void *ctx, struct hf_span_writer **ret_writer)
{
	struct hf_span_writer *w = calloc(1, sizeof *w);

	*ret_writer = w;
	if (!w)
		return HF_ERR_NOMEM;
	w->put = put;
	w->ctx = ctx;
	return 0;
}

void hf_span_writer_free(struct hf_span_writer *w)
{
	if (w)
		hf_list_writer_fini(&w->list);
	free(w);
}

static int put_page(struct hf_span_writer *w)
{
	const struct hf_page_facts *facts = &w->page.facts;
	struct hf_summary_page *row = &w->page_row;
	size_t n;

	if (!facts->runs)
		return 0;
	row->first = facts->first;
	row->end = facts->end;
	row->runs = facts->runs;
	row->list = facts->list;
	row->size = (uint32_t)w->page.n;
	n = ZSTD_compress(row->data, sizeof row->data, w->page.bytes, w->page.n, LEVEL);
	if (ZSTD_isError(n))
		return HF_ERR_NOMEM;
	row->n = (uint32_t)n;
	return w->put(w->ctx, &hf_table_summary_page, w->pages++, row);
}

static int put_piece(struct hf_span_writer *w)
{
	int err = w->piece.n ? w->put(w->ctx, &hf_table_summary_piece, w->pieces, &w->piece) : 0;

	w->pieces += w->piece.n != 0;
	w->piece.n = 0;
	return err;
}

/* The list that was coded, behind those before it. */
static int put_list(struct hf_span_writer *w)
{
	const struct hf_list_bytes *list = &w->list.out;
	int err = 0;

	for (size_t at = 0; at < list->n && !err;) {
		const size_t room = HF_SUMMARY_PIECE - w->piece.n, left = list->n - at, n = left < room ? left : room;

		memcpy(w->piece.data + w->piece.n, list->p + at, n);
		w->piece.n += (uint32_t)n;
		at += n;
		if (w->piece.n == HF_SUMMARY_PIECE)
			err = put_piece(w);
	}
	return err;
}

static int put_run(struct hf_span_writer *w, const struct hf_tally *tally, const struct hf_tally_run *run)
{
	struct hf_list_facts facts;
	struct hf_page_run known = {
		.run = {.key = run->key, .insns = run->insns, .bytes = run->bytes, .code = tally->code + run->code},
		.chunk = run->list.place,
		.list = w->pieces * HF_SUMMARY_PIECE + w->piece.n};
	int err = 0;

	hf_tally_facts(tally, run, &facts);
	known.count = facts.total;
	known.postings = facts.postings;
	if (facts.postings > 1) {
		err = hf_growing_code(&tally->lists, &run->list, &facts, &w->list);
		if (!err)
			err = put_list(w);
		known.list_size = w->list.out.n;
	}
	if (err)
		return err;
	hf_page_put(&w->page, &known);
	if (w->page.n < HF_PAGE_FULL)
		return 0;
	err = put_page(w);
	hf_page_begin(&w->page, tally->first_chunk);
	return err;
}

int hf_span_writer_put(struct hf_span_writer *w, struct hf_tally *tally)
{
	struct hf_summary_span span = {.chunk = tally->first_chunk,
				       .end = tally->chunk + 1,
				       .insns = tally->insns,
				       .runs = tally->run_count,
				       .page = w->pages,
				       .list = w->pieces};
	const struct hf_tally_run **order;
	int err;

	if (!tally->run_count)
		return 0;
	err = hf_tally_sort(tally, &order);
	hf_page_begin(&w->page, tally->first_chunk);
	for (uint32_t i = 0; i < tally->run_count && !err; i++)
		err = put_run(w, tally, order[i]);
	free(order);
	if (!err)
		err = put_page(w);
	if (!err)
		err = put_piece(w);
	span.pages = w->pages - span.page;
	span.lists = w->pieces - span.list;
	hf_tally_reset(tally);
	return err ? err : w->put(w->ctx, &hf_table_summary_span, w->spans++, &span);
}

int hf_span_writer_end(struct hf_span_writer *w, const struct hf_run_cutter *cutter, struct hf_summary_hart *ret_hart)
{
	int err = 0;

	for (size_t i = 0; i < cutter->context_count && !err; i++) {
		const struct hf_run_context *c = &cutter->contexts[i];
		const struct hf_summary_context row = {.fields = c->fields,
						       .hw = c->hw,
						       .pid = c->pid,
						       .tid = c->tid,
						       .asid = c->asid,
						       .vmid = c->vmid,
						       .state = c->state};

		err = w->put(w->ctx, &hf_table_summary_context, i, &row);
	}
	ret_hart->spans = w->spans;
	ret_hart->contexts = cutter->context_count;
	return err;
}

void hf_span_writer_keep(struct hf_span_writer *w, struct hf_keep *k)
{
	HF_KEEP(k, w->spans, HF_NUMBER_MAX);
	HF_KEEP(k, w->pages, HF_NUMBER_MAX);
	HF_KEEP(k, w->pieces, HF_NUMBER_MAX);
}
