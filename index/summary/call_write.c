/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/call_write.h"

#include "index/base/squeeze.h"
#include "index/summary/call_page.h"

#include <stdlib.h>

#define LEVEL 6

static_assert(HF_CALL_PAGE_BYTES_MAX + (HF_CALL_PAGE_BYTES_MAX >> 8) + 512 <= HF_SUMMARY_PAGE_MAX,
	      "a page fits, compressed or not");

struct hf_call_writer {
	hf_summary_row_fn put;
	void *ctx;
	struct hf_calls *calls;
	uint64_t stack_pages, node_pages;
	struct hf_squeeze squeeze;
	struct hf_call_stacked stack;
	struct hf_call_page_writer page; /* of stacks, then of nodes */
	struct hf_summary_call_page row;
};

static int put_page(struct hf_call_writer *w, const struct hf_table *table, uint64_t *number)
{
	struct hf_summary_call_page *row = &w->row;
	const struct hf_call_page_writer *page = &w->page;
	int err;

	if (!page->count)
		return 0;
	row->first = page->first;
	row->count = page->count;
	row->size = (uint32_t)page->n;
	err = hf_squeeze(&w->squeeze, LEVEL, page->bytes, page->n, row->data, sizeof row->data, &row->n);
	if (err)
		return err;
	hf_call_page_begin(&w->page, page->first + page->count);
	return w->put(w->ctx, table, (*number)++, row);
}

static int put_stack(void *ctx, const struct hf_call_stack *stack)
{
	struct hf_call_writer *w = ctx;

	hf_call_stacked_of(stack, &w->stack);
	hf_call_page_put_stack(&w->page, &w->stack);
	return w->page.n < HF_CALL_PAGE_FULL ? 0 : put_page(w, &hf_table_summary_stack, &w->stack_pages);
}

static int put_nodes(struct hf_call_writer *w)
{
	const struct hf_call_tree *tree = &w->calls->tree;
	int err = 0;

	hf_call_page_begin(&w->page, 0);
	for (uint32_t i = 0; i < tree->count && !err; i++) {
		hf_call_page_put_node(&w->page, &tree->nodes[i], w->calls->facts.timed != 0);
		if (w->page.n >= HF_CALL_PAGE_FULL)
			err = put_page(w, &hf_table_summary_node, &w->node_pages);
	}
	return err ? err : put_page(w, &hf_table_summary_node, &w->node_pages);
}

int hf_call_writer_end(struct hf_call_writer *w, uint64_t insns)
{
	struct hf_summary_calls row = {0};
	int err = hf_calls_end(w->calls, insns);

	if (!err)
		err = put_page(w, &hf_table_summary_stack, &w->stack_pages);
	if (!err)
		err = put_nodes(w);
	row.facts = w->calls->facts;
	row.nodes = w->calls->tree.count;
	row.node_pages = w->node_pages;
	row.stack_pages = w->stack_pages;
	return err ? err : w->put(w->ctx, &hf_table_summary_calls, 0, &row);
}

void hf_call_writer_keep(struct hf_call_writer *w, uint64_t chunks, struct hf_keep *k)
{
	hf_calls_keep(w->calls, chunks, k);
	HF_KEEP(k, w->stack_pages, HF_NUMBER_MAX);
	hf_call_page_keep(&w->page, k);
}

struct hf_calls *hf_call_writer_calls(struct hf_call_writer *w)
{
	return w->calls;
}

int hf_call_writer_new(const struct hf_call_room *room, hf_summary_row_fn put, void *ctx,
		       struct hf_call_writer **ret_writer)
{
	struct hf_call_writer *w = calloc(1, sizeof *w);

	*ret_writer = w;
	if (!w)
		return HF_ERR_NOMEM;
	w->put = put;
	w->ctx = ctx;
	return hf_calls_new(room ? room : &hf_call_room_default, put_stack, w, &w->calls);
}

void hf_call_writer_free(struct hf_call_writer *w)
{
	if (w) {
		hf_calls_free(w->calls);
		hf_squeeze_fini(&w->squeeze);
	}
	free(w);
}
