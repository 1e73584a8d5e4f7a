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

/* The largest first; then by address, and what has no name last. */
static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	if (!x->symbol || !y->symbol)
		return !x->symbol - !y->symbol;
	return x->symbol->start < y->symbol->start ? -1 : x->symbol->start > y->symbol->start;
}

/* Rows are sorted by pc, so those of a function lie together; those without a name do not. */
static size_t collect(const struct hf_profiled *of, struct function *function)
{
	size_t n = 1; /* the first one is of what has no name */

	function[0] = (struct function){0};
	for (size_t i = 0; i < of->counts->n; i++) {
		const struct hf_count *row = &of->counts->row[i];
		struct function *at = &function[n - 1];

		if (n == 1 || row->pc < at->symbol->start || row->pc >= at->symbol->end) {
			const struct hf_symbol *symbol = of->symbols ? hf_symbols_at(of->symbols, row->pc) : NULL;

			at = symbol ? &function[n++] : &function[0];
			if (symbol)
				*at = (struct function){.symbol = symbol};
		}
		at->own += row->count;
		at->calls += row->called;
	}
	return n;
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
	struct function *function = malloc((of->counts->n + 1) * sizeof *function);
	size_t n;

	if (!function)
		return HF_ERR_NOMEM;
	n = collect(of, function);
	qsort(function, n, sizeof *function, compare);
	hf_profile_put_head(of, sink);
	hf_sink_printf(sink, "#          own  share        calls address          function\n");
	for (size_t i = 0; i < n; i++)
		if (function[i].own)
			put_function(of, &function[i], sink);
	free(function);
	return sink->err;
}
