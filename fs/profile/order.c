/* SPDX-License-Identifier: Apache-2.0 */
/* fdo/OBJECT.order: the functions in the order in which they were called first, for linkers. */
#include "fs/profile/fdo.h"

#include <stdlib.h>
#include <string.h>

struct met {
	const struct hf_fdo_function *function;
	uint64_t first; /* ordinal; UINT64_MAX: nobody called it, others jump to it */
};

static int by_function(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int by_first(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static size_t add(const struct hf_fdo *fdo, uint64_t pc, uint64_t first, struct met *met)
{
	uint64_t address;

	if (!hf_fdo_address(fdo, pc, &address))
		return 0;
	*met = (struct met){hf_fdo_function_at(fdo, address), first};
	/* The linker makes stubs by itself. */
	return met->function && !hf_fdo_stub(met->function);
}

/* Each once. */
static size_t collect(const struct hf_fdo *fdo, struct met *met)
{
	const struct hf_summary_tree *tree = fdo->of->tree;
	const struct hf_counts *counts = fdo->of->counts;
	size_t n = 0, kept = 0;

	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->nodes[i].kind != HF_CALL_BEYOND && !hf_summary_tree_is_left(tree, i))
			n += add(fdo, tree->nodes[i].function, tree->nodes[i].first, &met[n]);
	for (size_t i = 0; i < counts->n; i++)
		n += add(fdo, counts->row[i].pc, UINT64_MAX, &met[n]);
	if (n)
		qsort(met, n, sizeof *met, by_function);
	for (size_t i = 0; i < n; i++)
		if (!kept || met[kept - 1].function != met[i].function)
			met[kept++] = met[i];
	if (kept)
		qsort(met, kept, sizeof *met, by_first);
	return kept;
}

static int write_order(const struct hf_fdo *fdo, struct hf_sink *sink)
{
	struct met *met = malloc((fdo->of->counts->n + fdo->of->tree->count + 1) * sizeof *met);
	size_t n = met ? collect(fdo, met) : 0;

	for (size_t i = 0; i < n; i++) {
		const char *name = met[i].function->symbol->name;

		hf_fdo_put_name(name, strlen(name), false, sink);
		hf_sink_printf(sink, "\n");
	}
	free(met);
	return !met ? HF_ERR_NOMEM : n ? 0 : HF_ERR_NOT_FOUND;
}

int hf_profile_order(const struct hf_profiled *of, struct hf_sink *sink)
{
	/* An estimate of the calls does not say when they were. */
	return of->sampled ? HF_ERR_NOT_FOUND : hf_fdo_write(of, sink, write_order);
}
