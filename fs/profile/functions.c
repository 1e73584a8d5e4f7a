/* SPDX-License-Identifier: Apache-2.0 */
/* functions.txt: what was executed in each function itself and from its calls to their returns, and how often it was
 * called. */
#include "fs/profile/levels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct function {
	const struct hf_symbol *symbol; /* NULL: of code that none covers */
	uint64_t own, calls, below, cycles;
	bool entered; /* the tree of calls has nodes of it */
};

static int by_place(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (!x->symbol || !y->symbol)
		return !x->symbol - !y->symbol;
	return x->symbol->start < y->symbol->start ? -1 : x->symbol->start > y->symbol->start;
}

/* The largest first; then by address, and what has no name last. */
static int by_own(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	return by_place(a, b);
}

static bool is_of_function(const struct hf_call_node *node)
{
	return node->kind != HF_CALL_BEYOND && node->function != HF_CALL_UNKNOWN;
}

static const struct hf_symbol *symbol_of(const struct hf_profiled *of, const struct hf_call_node *node)
{
	return of->symbols ? hf_symbols_at(of->symbols, node->function) : NULL;
}

/* One for each instruction, but one for those of a function that lie together, and for each node of the tree. */
static size_t collect(const struct hf_profiled *of, struct function *function)
{
	const struct hf_symbol *symbol = NULL;
	size_t n = 0;

	for (size_t i = 0; i < of->counts->n; i++) {
		const struct hf_count *row = &of->counts->row[i];

		if (!n || !symbol || row->pc < symbol->start || row->pc >= symbol->end) {
			symbol = of->symbols ? hf_symbols_at(of->symbols, row->pc) : NULL;
			function[n++] = (struct function){.symbol = symbol};
		}
		function[n - 1].own += row->count;
	}
	for (uint32_t i = 0; i < of->tree->count; i++) {
		const struct hf_call_node *node = &of->tree->nodes[i];

		if (is_of_function(node))
			function[n++] = (struct function){.symbol = symbol_of(of, node),
							  .calls = node->kind == HF_CALL_FUNCTION ? node->calls : 0,
							  .cycles = node->cycles,
							  .entered = !hf_summary_tree_is_left(of->tree, i)};
	}
	return n;
}

static size_t merge(struct function *function, size_t n)
{
	size_t kept = 0;

	qsort(function, n, sizeof *function, by_place);
	for (size_t i = 0; i < n; i++) {
		if (!kept || by_place(&function[kept - 1], &function[i]) != 0) {
			function[kept++] = function[i];
			continue;
		}
		function[kept - 1].own += function[i].own;
		function[kept - 1].calls += function[i].calls;
		function[kept - 1].cycles += function[i].cycles;
		function[kept - 1].entered |= function[i].entered;
	}
	return kept;
}

/* The one of a symbol among them, by their places. */
static size_t find(const struct function *function, size_t n, const struct hf_symbol *symbol)
{
	const struct function key = {.symbol = symbol};
	const struct function *found = bsearch(&key, function, n, sizeof *function, by_place);

	return (size_t)(found - function);
}

/* What each executed from its calls to their returns; calls of it within these count once. */
static int add_below(const struct hf_profiled *of, struct function *function, size_t n)
{
	const struct hf_summary_tree *tree = of->tree;
	struct hf_level *level = calloc(tree->count + 1, sizeof *level);

	if (!level)
		return HF_ERR_NOMEM;
	for (uint32_t i = 0; i < tree->count; i++)
		if (is_of_function(&tree->nodes[i]))
			level[i].function = 1 + (uint32_t)find(function, n, symbol_of(of, &tree->nodes[i]));
	hf_levels_find(tree, level);
	for (uint32_t i = 0; i < tree->count; i++)
		if (level[i].function != HF_LEVEL_NONE && !level[i].above)
			function[level[i].function - 1].below += hf_level_below(tree, i);
	free(level);
	return 0;
}

static void put_function(const struct hf_profiled *of, const struct function *function, struct hf_sink *sink)
{
	const struct hf_symbol *symbol = function->symbol;

	hf_sink_printf(sink, "%14" PRIu64 " %6.2f ", function->own, hf_profile_share(of, function->own));
	if (function->entered)
		hf_sink_printf(sink, "%14" PRIu64 " %6.2f ", function->below, hf_profile_share(of, function->below));
	else
		hf_sink_printf(sink, "%14s %6s ", "-", "-");
	hf_profile_put_calls(of, 12, function->calls, sink);
	hf_sink_printf(sink, " ");
	if (of->tree->facts.timed)
		hf_sink_printf(sink, "%14" PRIu64 " ", function->cycles);
	if (!symbol) {
		hf_sink_printf(sink, "%16s ?\n", "-");
		return;
	}
	hf_sink_printf(sink, "%016" PRIx64 " ", symbol->start);
	hf_sink_write(sink, symbol->name, symbol->name_size);
	hf_sink_printf(sink, "\n");
}

int hf_profile_functions(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct function *function = malloc((of->counts->n + of->tree->count + 1) * sizeof *function);
	size_t n;
	int err;

	if (!function)
		return HF_ERR_NOMEM;
	n = merge(function, collect(of, function));
	err = add_below(of, function, n);
	if (err) {
		free(function);
		return err;
	}
	qsort(function, n, sizeof *function, by_own);
	hf_profile_put_head(of, sink);
	hf_profile_put_returns(of, sink);
	hf_sink_printf(sink, "#          own  share          below  share        calls%s address          function\n",
		       of->tree->facts.timed ? "         cycles" : "");
	for (size_t i = 0; i < n; i++)
		put_function(of, &function[i], sink);
	free(function);
	return sink->err;
}
