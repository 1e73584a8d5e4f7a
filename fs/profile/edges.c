/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/edges.h"

#include <stdlib.h>
#include <string.h>

/* A direct call in the code; stub: callee is what it reaches through that. */
struct site {
	uint32_t caller, callee;
	bool stub;
	uint64_t pc, taken;
};

struct hf_recursion *hf_recursion_of_functions(const struct hf_profiled *of, const struct hf_functions *functions)
{
	struct hf_recursion *recursion = calloc(of->tree->count + 1, sizeof *recursion);

	for (uint32_t i = 0; recursion && i < of->tree->count; i++)
		recursion[i].function = hf_functions_of_node(functions, of, &of->tree->nodes[i]);
	if (recursion)
		hf_recursion_find(of->tree, recursion);
	return recursion;
}

static int by_functions(const void *a, const void *b)
{
	const struct hf_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	if (x->caller_again != y->caller_again)
		return x->caller_again - y->caller_again;
	return x->callee_again - y->callee_again;
}

static size_t collect(const struct hf_profiled *of, const struct hf_recursion *recursion, struct hf_edge *edge)
{
	const struct hf_call_node *nodes = of->tree->nodes;
	size_t n = 0, kept = 0;

	for (uint32_t i = 0; i < of->tree->count; i++) {
		const struct hf_recursion *caller = &recursion[nodes[i].parent], *callee = &recursion[i];
		const bool counts = callee->above < 2;

		if (nodes[i].kind == HF_CALL_FUNCTION && nodes[i].parent != HF_CALL_NO_NODE &&
		    !hf_summary_tree_is_left(of->tree, i))
			edge[n++] = (struct hf_edge){.caller = caller->function,
						     .callee = callee->function,
						     .caller_again = caller->above,
						     .callee_again = callee->above,
						     .calls = nodes[i].calls,
						     .below = counts ? hf_profile_inclusive(of->tree, i) : 0,
						     .cycles = counts ? callee->cycles : 0};
	}
	qsort(edge, n, sizeof *edge, by_functions);
	for (size_t i = 0; i < n; i++) {
		if (!kept || by_functions(&edge[kept - 1], &edge[i]) != 0) {
			edge[kept++] = edge[i];
			continue;
		}
		edge[kept - 1].calls += edge[i].calls;
		edge[kept - 1].below += edge[i].below;
		edge[kept - 1].cycles += edge[i].cycles;
	}
	return kept;
}

/* ---- where in the code ---- */

static int by_pair(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

/* What a stub of the PLT reaches has its name, without "@plt". Any other function: itself. */
static uint32_t find_reached(const struct hf_profiled *of, const struct hf_functions *functions, uint32_t number)
{
	const struct hf_symbol *stub = functions->at[number].symbol, *symbol = NULL;
	const size_t size = stub ? stub->name_size : 0, mark = strlen("@plt");
	uint32_t found = HF_FUNCTION_NONE;

	if (size <= mark || memcmp(stub->name + size - mark, "@plt", mark) != 0)
		return number;
	while (found == HF_FUNCTION_NONE && (symbol = hf_symbols_next(of->symbols, symbol)))
		if (symbol->name_size == size - mark && memcmp(symbol->name, stub->name, size - mark) == 0)
			found = hf_functions_of(functions, of, symbol->start);
	return found == HF_FUNCTION_NONE ? number : found;
}

/* HF_ERR_NOMEM. */
static int collect_sites(const struct hf_profiled *of, const struct hf_functions *functions, struct site *site,
			 size_t *ret_n)
{
	const struct hf_counts *counts = of->counts;
	uint32_t *reached = calloc(functions->count, sizeof *reached); /* 0: not looked for yet */
	size_t n = 0;
	uint64_t target;

	if (!reached)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < counts->n; i++) {
		const struct hf_count *row = &counts->row[i];
		uint32_t callee;

		if (hf_profile_flow(row, of->extensions) != HF_FLOW_CALL || !hf_profile_target(row, &target))
			continue;
		callee = hf_functions_of(functions, of, target);
		if (!reached[callee])
			reached[callee] = find_reached(of, functions, callee);
		site[n++] = (struct site){.caller = hf_functions_of(functions, of, row->pc),
					  .callee = reached[callee],
					  .stub = reached[callee] != callee,
					  .pc = row->pc,
					  .taken = row->taken};
	}
	free(reached);
	qsort(site, n, sizeof *site, by_pair);
	*ret_n = n;
	return 0;
}

static bool is_of(const struct site *site, const struct hf_edge *edge)
{
	return site->caller == edge->caller && site->callee == edge->callee;
}

/* The edges of a pair of functions, and the sites of it: if one site made all calls, that is where they are. Of those
 * through a stub the first may have gone to the dynamic linker. */
static void place_pair(struct hf_edge *edge, size_t edges, const struct site *site, size_t sites, uint64_t otherwise)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < edges; i++)
		calls += edge[i].calls;
	for (size_t i = 0; i < edges; i++)
		edge[i].site = sites == 1 && site->taken - calls <= site->stub ? site->pc : otherwise;
}

static int place(const struct hf_profiled *of, const struct hf_functions *functions, struct hf_edges *edges)
{
	struct site *site = malloc((of->counts->n + 1) * sizeof *site);
	size_t sites = 0, at = 0;
	int err = site ? collect_sites(of, functions, site, &sites) : HF_ERR_NOMEM;

	for (size_t i = 0, end; !err && i < edges->count; i = end) {
		const struct hf_edge *edge = &edges->at[i];
		size_t first;

		for (end = i; end < edges->count && edges->at[end].caller == edge->caller &&
			      edges->at[end].callee == edge->callee;)
			end++;
		while (at < sites && (site[at].caller < edge->caller ||
				      (site[at].caller == edge->caller && site[at].callee < edge->callee)))
			at++;
		for (first = at; at < sites && is_of(&site[at], edge);)
			at++;
		place_pair(&edges->at[i], end - i, &site[first], at - first, functions->at[edge->caller].start);
	}
	free(site);
	return err;
}

int hf_edges_new(const struct hf_profiled *of, const struct hf_functions *functions,
		 const struct hf_recursion *recursion, struct hf_edges *ret_edges)
{
	int err;

	*ret_edges = (struct hf_edges){.at = malloc((of->tree->count + 1) * sizeof *ret_edges->at)};
	if (!ret_edges->at)
		return HF_ERR_NOMEM;
	ret_edges->count = collect(of, recursion, ret_edges->at);
	err = place(of, functions, ret_edges);
	if (err)
		hf_edges_free(ret_edges);
	return err;
}

void hf_edges_free(struct hf_edges *edges)
{
	free(edges->at);
	*edges = (struct hf_edges){0};
}
