/* SPDX-License-Identifier: Apache-2.0 */
/* functions.txt: what was executed in each function itself, and how often it was called. */
#include "fs/profile/texts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct function {
	const struct hf_symbol *symbol; /* NULL: of code that none covers */
	uint64_t own, calls;
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

		if (node->kind == HF_CALL_FUNCTION)
			function[n++] = (struct function){
				.symbol = of->symbols ? hf_symbols_at(of->symbols, node->function) : NULL,
				.calls = node->calls};
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
	}
	return kept;
}

static void put_function(const struct hf_profiled *of, const struct function *function, struct hf_sink *sink)
{
	const struct hf_symbol *symbol = function->symbol;

	hf_sink_printf(sink, "%14" PRIu64 " %6.2f %12" PRIu64 " ", function->own,
		       hf_profile_share(of, function->own), function->calls);
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

	if (!function)
		return HF_ERR_NOMEM;
	n = merge(function, collect(of, function));
	qsort(function, n, sizeof *function, by_own);
	hf_profile_put_head(of, sink);
	hf_sink_printf(sink, "#          own  share        calls address          function\n");
	for (size_t i = 0; i < n; i++)
		put_function(of, &function[i], sink);
	free(function);
	return sink->err;
}
