/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/summary_tree.h"

#include "index/read/decode_index.h"
#include "index/summary/call_page.h"
#include "index/summary/calls.h"
#include "index/summary/summary_internal.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* A decompressed page of nodes or stacks. */
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
	free(tree->contexts);
	free(tree);
}

/* Adds the next node to the tree. */
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

/* Sums up below, and checks that all together is what the hart executed. */
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
	if (!err)
		err = hf_summary_contexts(summary, hart, &tree->contexts, &tree->context_count);
	if (err)
		hf_summary_tree_free(tree);
	else
		*ret_tree = tree;
	return hf_published_noted(&summary->file, err);
}

/* ---- stacks ---- */

int hf_summary_stack_copy(const struct hf_summary_stack *from, struct hf_call_stack *ret_stack)
{
	const uint32_t below = from->count && from->kind[0] == HF_CALL_ROOT;
	struct hf_call_stack *to = ret_stack;

	*to = (struct hf_call_stack){.begun = below,
				     .base = below ? from->nodes[0] : HF_CALL_NO_NODE,
				     .calls_beyond = from->calls_beyond,
				     .traps_beyond = from->traps_beyond,
				     .classes_beyond = from->classes_beyond};
	if (from->count == below)
		return 0;
	to->cap = from->count - below;
	to->frames = malloc(to->cap * sizeof *to->frames);
	if (!to->frames)
		return HF_ERR_NOMEM;
	for (uint32_t i = below; i < from->count; i++) {
		if (from->kind[i] == HF_CALL_FUNCTION)
			hf_call_stack_push(to, from->nodes[i], from->back[i]);
		else
			hf_call_stack_push_trap(to, from->nodes[i]);
	}
	return 0;
}

/* lowest: whether it begins with a root or with a trap. */
static int take_piece(const struct hf_summary_tree *tree, const struct hf_call_piece *piece, enum hf_call_kind lowest,
		      struct hf_summary_stack *stack)
{
	const uint32_t first = stack->count;
	uint32_t nodes, n = piece->node;

	if (n >= tree->count)
		return HF_ERR_STATE;
	nodes = n == HF_CALL_NO_NODE ? 0 : tree->depth[n] + 1u;
	if (nodes + piece->refused > HF_CALL_DEPTH + 1 - stack->count || !(nodes + piece->refused))
		return HF_ERR_STATE;
	for (uint32_t i = nodes; i-- > 0; n = tree->nodes[n].parent) {
		stack->nodes[stack->count + i] = n;
		stack->kind[stack->count + i] = tree->nodes[n].kind;
	}
	for (uint32_t i = 0; i < piece->refused; i++) {
		stack->nodes[stack->count + nodes + i] = HF_CALL_NO_NODE;
		stack->kind[stack->count + nodes + i] = (uint8_t)(nodes + i ? HF_CALL_FUNCTION : lowest);
	}
	stack->count += nodes + piece->refused;
	return (stack->kind[first] == HF_CALL_ROOT) == (lowest == HF_CALL_ROOT) ? 0 : HF_ERR_STATE;
}

static int take_stack(const struct hf_summary_tree *tree, const struct hf_call_stacked *from,
		      struct hf_summary_stack *ret_stack)
{
	const uint32_t below = from->begun;
	int err = 0;

	ret_stack->context = from->context;
	ret_stack->count = 0;
	ret_stack->calls_beyond = from->calls_beyond;
	ret_stack->traps_beyond = from->traps_beyond;
	ret_stack->classes_beyond = from->classes_beyond;
	for (uint32_t i = 0; i < from->count && !err; i++)
		err = take_piece(tree, &from->pieces[i], i || !below ? HF_CALL_TRAP : HF_CALL_ROOT, ret_stack);
	if (err)
		return err;
	if (ret_stack->count != from->backs + below)
		return HF_ERR_STATE;
	ret_stack->back[0] = 0;
	memcpy(ret_stack->back + below, from->back, from->backs * sizeof from->back[0]);
	return 0;
}

/* The last page that begins at or before that chunk. */
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

/* The last stack of that context in the page, before that chunk; *ret_chunk: HF_NOWHERE if there is none. */
static int search_page(struct page *page, const struct hf_summary_tree *tree, uint32_t context, uint64_t chunk,
		       uint64_t *ret_chunk, struct hf_summary_stack *ret_stack)
{
	const struct hf_call_stacked *stack;
	int err = 0;

	*ret_chunk = HF_NOWHERE;
	for (uint64_t i = page->row.first; i - page->row.first < page->row.count && i < chunk && !err; i++) {
		err = hf_call_page_next_stack(&page->reader, &stack) ? HF_ERR_STATE : 0;
		if (err || stack->context != context)
			continue;
		*ret_chunk = i;
		err = take_stack(tree, stack, ret_stack);
	}
	return err;
}

int hf_summary_stack_before(struct hf_summary *summary, const struct hf_summary_tree *tree, uint32_t context,
			    uint64_t chunk, uint64_t *ret_chunk, struct hf_summary_stack *ret_stack)
{
	const struct hf_summary_hart *hart = hf_summary_find_hart(summary, tree->hart);
	struct hf_summary_calls row;
	struct page *page;
	uint64_t number = 0;
	int err;

	if (!hart || !chunk || chunk > hart->chunks)
		return HF_ERR_NOT_FOUND;
	page = malloc(sizeof *page);
	if (!page)
		return HF_ERR_NOMEM;
	*ret_chunk = HF_NOWHERE;
	err = hf_summary_fetch(summary, &hf_table_summary_calls, hart->slot, 0, &row);
	if (!err)
		err = find_page(summary, hart->slot, row.stack_pages, chunk - 1, &number);
	for (uint64_t left = number + 1; !err && *ret_chunk == HF_NOWHERE && left > 0; left--) {
		err = open_page(summary, &hf_table_summary_stack, hart->slot, left - 1, page);
		if (!err)
			err = search_page(page, tree, context, chunk, ret_chunk, ret_stack);
	}
	free(page);
	err = hf_published_noted(&summary->file, err);
	return err || *ret_chunk != HF_NOWHERE ? err : HF_ERR_NOT_FOUND;
}

static int each_of_page(const struct hf_summary_tree *tree, struct page *page, uint64_t *next, uint64_t end,
			hf_summary_stack_fn fn, void *ctx)
{
	struct hf_summary_stack stack;
	uint64_t chunk = page->row.first;
	const struct hf_call_stacked *stacked;
	int err = 0;

	while (!err && *next < end && !(err = hf_call_page_next_stack(&page->reader, &stacked))) {
		if (chunk++ < *next)
			continue;
		err = take_stack(tree, stacked, &stack);
		if (!err)
			err = fn(ctx, (*next)++, &stack);
	}
	return err == HF_NOTE_END ? 0 : err;
}

int hf_summary_each_stack(struct hf_summary *summary, const struct hf_summary_tree *tree, uint64_t first, uint64_t end,
			  hf_summary_stack_fn fn, void *ctx)
{
	const struct hf_summary_hart *hart = hf_summary_find_hart(summary, tree->hart);
	struct page *page = malloc(sizeof *page);
	struct hf_summary_calls row;
	uint64_t number = 0, next = first;
	int err = page ? 0 : HF_ERR_NOMEM;

	if (!err && (!hart || end > hart->chunks))
		err = HF_ERR_NOT_FOUND;
	if (!err)
		err = hf_summary_fetch(summary, &hf_table_summary_calls, hart->slot, 0, &row);
	if (!err)
		err = find_page(summary, hart->slot, row.stack_pages, first, &number);
	while (!err && next < end) {
		const uint64_t before = next;

		err = open_page(summary, &hf_table_summary_stack, hart->slot, number++, page);
		if (!err)
			err = each_of_page(tree, page, &next, end, fn, ctx);
		if (!err && next == before)
			err = HF_ERR_STATE;
	}
	free(page);
	return hf_published_noted(&summary->file, err);
}

/* ---- the tree of a range, estimated ---- */

struct sampling {
	struct hf_index *index;
	const struct hf_summary_tree *tree;
	uint64_t first, end; /* instructions */
	uint64_t *own;	     /* of each node */
};

static int take_sample(void *ctx, uint64_t number, const struct hf_summary_stack *stack)
{
	const struct sampling *s = ctx;
	const bool beyond = stack->calls_beyond || stack->traps_beyond || !stack->count;
	const uint32_t node = beyond ? HF_CALL_NO_NODE : stack->nodes[stack->count - 1];
	struct hf_chunk chunk;
	int err = hf_index_chunk(s->index, s->tree->hart, number, &chunk);
	uint64_t first, end;

	if (err)
		return err;
	first = chunk.ordinal > s->first ? chunk.ordinal : s->first;
	end = chunk.ordinal + chunk.insns < s->end ? chunk.ordinal + chunk.insns : s->end;
	if (first < end)
		s->own[node] += end - first;
	return 0;
}

/* Keeps nodes that have instructions of their own or below them. */
static int keep_sampled(const struct sampling *s, struct hf_summary_tree *to)
{
	const struct hf_summary_tree *from = s->tree;
	uint32_t *number = calloc((size_t)from->count + 1, sizeof *number);
	int err = number ? 0 : HF_ERR_NOMEM;

	for (uint32_t i = from->count; !err && i-- > 1;)
		if (s->own[i] || number[i])
			number[i] = number[from->nodes[i].parent] = 1;
	for (uint32_t i = 0; !err && i < from->count; i++) {
		struct hf_call_node node = {.function = from->nodes[i].function,
					    .own = s->own[i],
					    .parent = i ? number[from->nodes[i].parent] : HF_CALL_NO_NODE,
					    .context = from->nodes[i].context,
					    .kind = from->nodes[i].kind,
					    .mode = from->nodes[i].mode};

		if (i && !number[i])
			continue;
		number[i] = to->count;
		err = take_node(to, &node, UINT64_MAX);
	}
	free(number);
	return err ? err : add_up(to, s->end - s->first);
}

static int sample(struct hf_summary *summary, struct sampling *s, struct hf_summary_tree **ret_tree)
{
	struct hf_chunk first, last;
	int err = hf_index_chunk_of(s->index, s->tree->hart, s->first, &first);

	if (!err)
		err = hf_index_chunk_of(s->index, s->tree->hart, s->end - 1, &last);
	if (!err)
		err = hf_summary_each_stack(summary, s->tree, first.number, last.number + 1, take_sample, s);
	if (!err)
		err = make_room(*ret_tree, s->tree->count);
	return err ? err : keep_sampled(s, *ret_tree);
}

int hf_summary_tree_sample(struct hf_summary *summary, struct hf_index *index, const struct hf_summary_tree *tree,
			   uint64_t first, uint64_t end, struct hf_summary_tree **ret_tree)
{
	struct sampling s = {.index = index, .tree = tree, .first = first, .end = end};
	int err;

	s.own = calloc((size_t)tree->count + 1, sizeof *s.own);
	*ret_tree = calloc(1, sizeof **ret_tree);
	err = s.own && *ret_tree ? 0 : HF_ERR_NOMEM;
	if (!err) {
		(*ret_tree)->hart = tree->hart;
		err = sample(summary, &s, ret_tree);
	}
	if (!err)
		err = hf_summary_contexts(summary, tree->hart, &(*ret_tree)->contexts, &(*ret_tree)->context_count);
	if (err) {
		hf_summary_tree_free(*ret_tree);
		*ret_tree = NULL;
	}
	free(s.own);
	return err;
}

/* ---- checking ---- */

/* Checks the stacks of a page that begins at that chunk. */
static int check_page(struct page *page, const struct hf_summary_tree *tree, uint64_t chunk,
		      struct hf_summary_stack *stack)
{
	const struct hf_call_stacked *next;
	int err = page->row.first == chunk && page->row.count ? 0 : HF_ERR_STATE;

	while (!err && !(err = hf_call_page_next_stack(&page->reader, &next)))
		err = take_stack(tree, next, stack);
	return err == HF_NOTE_END ? 0 : err;
}

static int check_stacks(struct hf_summary *s, const struct hf_summary_hart *hart, const struct hf_summary_tree *tree,
			struct page *page)
{
	struct hf_summary_calls row;
	struct hf_summary_stack stack;
	uint64_t chunk = 0;
	int err = hf_summary_fetch(s, &hf_table_summary_calls, hart->slot, 0, &row);

	for (uint64_t i = 0; !err && i < row.stack_pages; i++) {
		err = open_page(s, &hf_table_summary_stack, hart->slot, i, page);
		if (!err)
			err = check_page(page, tree, chunk, &stack);
		chunk += page->row.count;
	}
	return !err && chunk != hart->chunks ? HF_ERR_STATE : err;
}

int hf_summary_check_calls(struct hf_summary *summary, uint32_t hart)
{
	const struct hf_summary_hart *h = hf_summary_find_hart(summary, hart);
	struct page *page = malloc(sizeof *page);
	struct hf_summary_tree *tree = NULL;
	int err = page ? hf_summary_tree_load(summary, hart, &tree) : HF_ERR_NOMEM;

	if (tree)
		err = check_stacks(summary, h, tree, page);
	hf_summary_tree_free(tree);
	free(page);
	return err;
}
