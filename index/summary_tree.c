/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary_tree.h"

#include "index/summary/call_page.h"
#include "index/summary/calls.h"
#include "index/summary_internal.h"

#include <stdlib.h>
#include <zstd.h>

/* A page of nodes or stacks, unpacked. */
struct page {
	struct hf_summary_call_page row;
	struct hf_call_page_reader reader;
	uint8_t bytes[HF_CALL_PAGE_BYTES_MAX];
};

static int open_page(struct hf_summary *s, const struct hf_table *table, uint64_t slot, uint64_t number,
		     struct page *page)
{
	const struct hf_summary_call_page *row = &page->row;
	int err = hf_summary_fetch(s, table, slot, number, &page->row);

	if (err)
		return err;
	if (row->size > sizeof page->bytes ||
	    ZSTD_decompress(page->bytes, sizeof page->bytes, row->data, row->n) != row->size)
		return HF_ERR_STATE;
	hf_call_page_open(&page->reader, page->bytes, row->size, row->first, row->count);
	return 0;
}

/* ---- the tree ---- */

void hf_summary_tree_free(struct hf_summary_tree *tree)
{
	if (!tree)
		return;
	free(tree->nodes);
	free(tree->below);
	free(tree->depth);
	free(tree);
}

/* The next node of the tree, of which those before it are there. */
static int take_node(struct hf_summary_tree *tree, const struct hf_call_node *node, uint64_t insns)
{
	const uint32_t n = tree->count, parent = node->parent;

	if (node->first > node->last || node->last > insns)
		return HF_ERR_STATE;
	tree->nodes[n] = *node;
	tree->below[n] = 0;
	tree->depth[n] = 0;
	if (parent != HF_CALL_NO_NODE) {
		if (tree->depth[parent] == HF_CALL_DEPTH)
			return HF_ERR_STATE;
		tree->nodes[n].context = tree->nodes[parent].context;
		tree->depth[n] = (uint16_t)(tree->depth[parent] + 1);
	}
	tree->count++;
	return 0;
}

static int take_page(struct hf_summary_tree *tree, struct page *page, uint64_t nodes, uint64_t insns)
{
	struct hf_call_node node;
	int err;

	if (page->row.first != tree->count)
		return HF_ERR_STATE;
	while (!(err = hf_call_page_next_node(&page->reader, tree->facts.timed != 0, &node))) {
		err = tree->count < nodes ? take_node(tree, &node, insns) : HF_ERR_STATE;
		if (err)
			return err;
	}
	return err == HF_NOTE_END ? 0 : err;
}

/* What is below each; and whether all is as much as the hart executed. */
static int add_up(struct hf_summary_tree *tree, uint64_t insns)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < tree->count; i++)
		if (__builtin_add_overflow(sum, tree->nodes[i].own, &sum))
			return HF_ERR_STATE;
	for (uint32_t i = tree->count - 1; sum == insns && i; i--) {
		const struct hf_call_node *node = &tree->nodes[i];

		if (node->parent != HF_CALL_NO_NODE)
			tree->below[node->parent] += node->own + tree->below[i];
	}
	return sum == insns ? 0 : HF_ERR_STATE;
}

static int load_nodes(struct hf_summary *s, const struct hf_summary_hart *hart, const struct hf_summary_calls *row,
		      struct hf_summary_tree *tree)
{
	struct page *page = malloc(sizeof *page);
	int err = page ? 0 : HF_ERR_NOMEM;

	for (uint64_t i = 0; i < row->node_pages && !err; i++) {
		err = open_page(s, &hf_table_summary_node, hart->slot, i, page);
		if (!err)
			err = take_page(tree, page, row->nodes, hart->insns);
	}
	free(page);
	if (!err && (!tree->count || tree->count != row->nodes))
		err = HF_ERR_STATE;
	return err ? err : add_up(tree, hart->insns);
}

static int make_room(struct hf_summary_tree *tree, uint64_t nodes)
{
	tree->nodes = calloc((size_t)nodes + 1, sizeof *tree->nodes);
	tree->below = calloc((size_t)nodes + 1, sizeof *tree->below);
	tree->depth = calloc((size_t)nodes + 1, sizeof *tree->depth);
	return tree->nodes && tree->below && tree->depth ? 0 : HF_ERR_NOMEM;
}

static int load(struct hf_summary *s, const struct hf_summary_hart *hart, struct hf_summary_tree *tree)
{
	struct hf_summary_calls row;
	int err = hf_summary_fetch(s, &hf_table_summary_calls, hart->slot, 0, &row);

	if (err)
		return err;
	tree->hart = hart->id;
	tree->facts = row.facts;
	err = make_room(tree, row.nodes);
	return err ? err : load_nodes(s, hart, &row, tree);
}

int hf_summary_tree_of(const struct hf_calls *calls, uint32_t hart, uint64_t insns, struct hf_summary_tree **ret_tree)
{
	struct hf_summary_tree *tree = calloc(1, sizeof *tree);
	int err = tree ? make_room(tree, calls->tree.count) : HF_ERR_NOMEM;

	*ret_tree = NULL;
	if (tree) {
		tree->hart = hart;
		tree->facts = calls->facts;
	}
	for (uint32_t i = 0; !err && i < calls->tree.count; i++)
		err = take_node(tree, &calls->tree.nodes[i], insns);
	if (!err)
		err = add_up(tree, insns);
	if (err)
		hf_summary_tree_free(tree);
	else
		*ret_tree = tree;
	return err;
}

int hf_summary_tree_load(struct hf_summary *summary, uint32_t hart, struct hf_summary_tree **ret_tree)
{
	const struct hf_summary_hart *h = hf_summary_find_hart(summary, hart);
	struct hf_summary_tree *tree = h ? calloc(1, sizeof *tree) : NULL;
	int err;

	*ret_tree = NULL;
	if (!tree)
		return h ? HF_ERR_NOMEM : HF_ERR_NOT_FOUND;
	err = load(summary, h, tree);
	if (err)
		hf_summary_tree_free(tree);
	else
		*ret_tree = tree;
	return hf_published_noted(&summary->file, err);
}

/* ---- stacks ---- */

static int take_piece(const struct hf_summary_tree *tree, const struct hf_call_piece *piece,
		      struct hf_summary_stack *stack)
{
	uint32_t nodes, n = piece->node;

	if (n >= tree->count)
		return HF_ERR_STATE;
	nodes = n == HF_CALL_NO_NODE ? 0 : tree->depth[n] + 1u;
	if (nodes + piece->refused > HF_CALL_DEPTH + 1 - stack->count || !(nodes + piece->refused))
		return HF_ERR_STATE;
	for (uint32_t i = nodes; i-- > 0; n = tree->nodes[n].parent)
		stack->nodes[stack->count + i] = n;
	for (uint32_t i = 0; i < piece->refused; i++)
		stack->nodes[stack->count + nodes + i] = HF_CALL_NO_NODE;
	stack->count += nodes + piece->refused;
	return 0;
}

static int take_stack(const struct hf_summary_tree *tree, const struct hf_call_stacked *from,
		      struct hf_summary_stack *ret_stack)
{
	int err = 0;

	ret_stack->count = 0;
	ret_stack->calls_beyond = from->calls_beyond;
	ret_stack->traps_beyond = from->traps_beyond;
	for (uint32_t i = 0; i < from->count && !err; i++)
		err = take_piece(tree, &from->pieces[i], ret_stack);
	return err;
}

/* The last page that begins at that chunk or before it. */
static int find_page(struct hf_summary *s, uint64_t slot, uint64_t pages, uint64_t chunk, uint64_t *ret_page)
{
	uint64_t low = 0, high = pages;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;
		uint64_t first;
		int err = hf_summary_fetch_number(s, &hf_table_summary_stack, slot, middle, &first);

		if (err)
			return err;
		if (first <= chunk)
			low = middle;
		else
			high = middle;
	}
	*ret_page = low;
	return 0;
}

static int read_stack(struct page *page, const struct hf_summary_tree *tree, uint64_t chunk,
		      struct hf_summary_stack *ret_stack)
{
	const struct hf_call_stacked *stack;
	int err = 0;

	if (chunk < page->row.first || chunk - page->row.first >= page->row.count)
		return HF_ERR_STATE;
	for (uint64_t i = page->row.first; i <= chunk && !err; i++)
		err = hf_call_page_next_stack(&page->reader, &stack);
	if (err)
		return HF_ERR_STATE;
	return take_stack(tree, stack, ret_stack);
}

int hf_summary_stack_at(struct hf_summary *summary, const struct hf_summary_tree *tree, uint64_t chunk,
			struct hf_summary_stack *ret_stack)
{
	const struct hf_summary_hart *hart = hf_summary_find_hart(summary, tree->hart);
	struct hf_summary_calls row;
	struct page *page;
	uint64_t number;
	int err;

	if (!hart || chunk >= hart->chunks)
		return HF_ERR_NOT_FOUND;
	page = malloc(sizeof *page);
	if (!page)
		return HF_ERR_NOMEM;
	err = hf_summary_fetch(summary, &hf_table_summary_calls, hart->slot, 0, &row);
	if (!err)
		err = find_page(summary, hart->slot, row.stack_pages, chunk, &number);
	if (!err)
		err = open_page(summary, &hf_table_summary_stack, hart->slot, number, page);
	if (!err)
		err = read_stack(page, tree, chunk, ret_stack);
	free(page);
	return hf_published_noted(&summary->file, err);
}

/* ---- all of it ---- */

/* The stacks of one page, which begins at that chunk. */
static int tell_page(struct page *page, const struct hf_summary_tree *tree, uint64_t chunk, hf_summary_stack_fn fn,
		     void *ctx)
{
	struct hf_summary_stack stack;
	const struct hf_call_stacked *next;
	int err = page->row.first == chunk && page->row.count ? 0 : HF_ERR_STATE;

	while (!err && !(err = hf_call_page_next_stack(&page->reader, &next))) {
		err = take_stack(tree, next, &stack);
		if (!err && fn)
			err = fn(ctx, chunk, &stack);
		chunk++;
	}
	return err == HF_NOTE_END ? 0 : err;
}

static int tell_stacks(struct hf_summary *s, const struct hf_summary_hart *hart, const struct hf_summary_tree *tree,
		       struct page *page, hf_summary_stack_fn fn, void *ctx)
{
	struct hf_summary_calls row;
	uint64_t chunk = 0;
	int err = hf_summary_fetch(s, &hf_table_summary_calls, hart->slot, 0, &row);

	for (uint64_t i = 0; !err && i < row.stack_pages; i++) {
		err = open_page(s, &hf_table_summary_stack, hart->slot, i, page);
		if (!err)
			err = tell_page(page, tree, chunk, fn, ctx);
		chunk += page->row.count;
	}
	return !err && chunk != hart->chunks ? HF_ERR_STATE : err;
}

int hf_summary_stacks(struct hf_summary *summary, const struct hf_summary_tree *tree, hf_summary_stack_fn fn, void *ctx)
{
	const struct hf_summary_hart *hart = hf_summary_find_hart(summary, tree->hart);
	struct page *page = hart ? malloc(sizeof *page) : NULL;
	int err = page ? tell_stacks(summary, hart, tree, page, fn, ctx) : HF_ERR_NOMEM;

	free(page);
	return hart ? hf_published_noted(&summary->file, err) : HF_ERR_NOT_FOUND;
}

int hf_summary_check_calls(struct hf_summary *summary, uint32_t hart)
{
	struct hf_summary_tree *tree;
	int err = hf_summary_tree_load(summary, hart, &tree);

	if (!err)
		err = hf_summary_stacks(summary, tree, NULL, NULL);
	hf_summary_tree_free(tree);
	return err;
}
