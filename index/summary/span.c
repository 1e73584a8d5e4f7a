/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/span.h"

#include "index/base/squeeze.h"
#include "index/summary/page.h"

#include <stdlib.h>
#include <string.h>

#define LEVEL 6

static_assert(HF_PAGE_BYTES_MAX + (HF_PAGE_BYTES_MAX >> 8) + 512 <= HF_SUMMARY_PAGE_MAX,
	      "a page fits, compressed or not");

struct hf_span_writer {
	hf_summary_row_fn put;
	void *ctx;
	uint64_t spans, pages, runs; /* of the hart so far */
	struct hf_squeeze squeeze;
	struct hf_page_writer page;
	struct hf_summary_page page_row;
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
		hf_squeeze_fini(&w->squeeze);
	free(w);
}

static int put_page(struct hf_span_writer *w)
{
	const struct hf_page_facts *facts = &w->page.facts;
	struct hf_summary_page *row = &w->page_row;
	int err;

	if (!facts->runs)
		return 0;
	row->first = facts->first;
	row->end = facts->end;
	row->runs = facts->runs;
	row->size = (uint32_t)w->page.n;
	err = hf_squeeze(&w->squeeze, LEVEL, w->page.bytes, w->page.n, row->data, sizeof row->data, &row->n);
	return err ? err : w->put(w->ctx, &hf_table_summary_page, w->pages++, row);
}

static int put_run(struct hf_span_writer *w, const struct hf_run_table *table, const struct hf_run_table_run *run)
{
	const struct hf_page_run known = {
		.run = {.key = run->key, .insns = run->insns, .bytes = run->bytes, .code = table->code + run->code},
		.count = run->total,
		.chunks = run->chunks,
		.number = table->first_number + (uint64_t)(run - table->runs),
		.first = run->first,
		.last = run->last};
	int err;

	hf_page_put(&w->page, &known);
	if (w->page.n < HF_PAGE_FULL)
		return 0;
	err = put_page(w);
	hf_page_begin(&w->page, w->page.facts.base);
	return err;
}

int hf_span_writer_put(struct hf_span_writer *w, struct hf_run_table *table)
{
	struct hf_summary_span span = {.group = table->first_chunk / HF_GROUP_CHUNKS,
				       .insns = table->insns,
				       .runs = table->run_count,
				       .number = table->first_number,
				       .page = w->pages};
	const struct hf_run_table_run **order;
	int err = hf_run_table_settle(table);

	if (err || !table->run_count)
		return err;
	err = hf_run_table_sort(table, &order);
	hf_page_begin(&w->page, span.group);
	for (uint32_t i = 0; i < table->run_count && !err; i++)
		err = put_run(w, table, order[i]);
	free(order);
	if (!err)
		err = put_page(w);
	span.pages = w->pages - span.page;
	w->runs += table->run_count;
	hf_run_table_reset(table);
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
	ret_hart->runs = w->runs;
	ret_hart->contexts = cutter->context_count;
	return err;
}

void hf_span_writer_keep(struct hf_span_writer *w, struct hf_keep *k)
{
	HF_KEEP(k, w->spans, HF_NUMBER_MAX);
	HF_KEEP(k, w->pages, HF_NUMBER_MAX);
	HF_KEEP(k, w->runs, HF_NUMBER_MAX);
}
