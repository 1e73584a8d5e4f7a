/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.folded and callers.txt: the calling-context tree, as chains of calls and as pairs of caller and callee. */
#include "fs/profile/texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer ones end with a sum of what is left out. */
#define FOLDED_MAX (UINT64_C(64) << 20)

/* ---- stacks.folded ---- */

static void put_stack(const struct hf_profiled *of, uint32_t node, struct hf_sink *sink)
{
	const struct hf_call_node *nodes = of->tree->nodes;
	uint32_t path[HF_CALL_DEPTH + 1], depth = 0;

	if (of->sampled)
		hf_sink_printf(sink, "(estimated);");
	for (uint32_t n = node; depth <= HF_CALL_DEPTH; n = nodes[n].parent) {
		path[depth++] = n;
		if (nodes[n].parent == HF_CALL_NO_NODE)
			break;
	}
	for (uint32_t i = depth; i-- > 0;) {
		hf_profile_put_node(of, &nodes[path[i]], sink);
		hf_sink_printf(sink, i ? ";" : " ");
	}
	hf_sink_printf(sink, "%" PRIu64 "\n", nodes[node].own);
}

int hf_profile_stacks(const struct hf_profiled *of, struct hf_sink *sink)
{
	uint64_t left_out = 0;

	for (uint32_t i = 0; i < of->tree->count; i++) {
		const uint64_t own = of->tree->nodes[i].own;

		if (own && hf_sink_total(sink) < FOLDED_MAX)
			put_stack(of, i, sink);
		else
			left_out += own;
	}
	if (left_out)
		hf_sink_printf(sink, "(left out) %" PRIu64 "\n", left_out);
	return sink->err;
}

/* ---- callers.txt ---- */

struct edge {
	const struct hf_call_node *caller, *callee; /* any nodes of the two functions */
	uint64_t calls, own;
};

/* threads: roots of one thread are others than those of another. */
static int compare_nodes(const struct hf_call_node *x, const struct hf_call_node *y, bool threads)
{
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	if (x->kind == HF_CALL_ROOT && x->mode != y->mode)
		return x->mode < y->mode ? -1 : 1;
	if (x->kind == HF_CALL_ROOT && threads && x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int by_place(const void *a, const void *b, void *threads)
{
	const struct edge *x = a, *y = b;
	const int order = compare_nodes(x->callee, y->callee, threads);

	return order ? order : compare_nodes(x->caller, y->caller, threads);
}

static int by_calls(const void *a, const void *b, void *threads)
{
	const struct edge *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return by_place(a, b, threads);
}

static size_t collect(const struct hf_profiled *of, struct edge *edge)
{
	const struct hf_summary_tree *tree = of->tree;
	void *threads = (void *)(uintptr_t)of->processes;
	size_t n = 0, kept = 0;

	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->nodes[i].kind == HF_CALL_FUNCTION && !hf_summary_tree_is_left(tree, i))
			edge[n++] = (struct edge){.caller = &tree->nodes[tree->nodes[i].parent],
						  .callee = &tree->nodes[i],
						  .calls = tree->nodes[i].calls,
						  .own = tree->nodes[i].own};
	qsort_r(edge, n, sizeof *edge, by_place, threads);
	for (size_t i = 0; i < n; i++) {
		if (!kept || by_place(&edge[kept - 1], &edge[i], threads) != 0) {
			edge[kept++] = edge[i];
			continue;
		}
		edge[kept - 1].calls += edge[i].calls;
		edge[kept - 1].own += edge[i].own;
	}
	qsort_r(edge, kept, sizeof *edge, by_calls, threads);
	return kept;
}

int hf_profile_callers(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct edge *edge = malloc((of->tree->count + 1) * sizeof *edge);
	size_t n;

	if (!edge)
		return HF_ERR_NOMEM;
	n = collect(of, edge);
	hf_profile_put_head(of, sink);
	hf_profile_put_returns(of, sink);
	hf_sink_printf(sink, "#        calls            own callee <- caller\n");
	for (size_t i = 0; i < n; i++) {
		hf_profile_put_calls(of, 14, edge[i].calls, sink);
		hf_sink_printf(sink, " %14" PRIu64 " ", edge[i].own);
		hf_profile_put_node(of, edge[i].callee, sink);
		hf_sink_printf(sink, " <- ");
		hf_profile_put_node(of, edge[i].caller, sink);
		hf_sink_printf(sink, "\n");
	}
	free(edge);
	return sink->err;
}
