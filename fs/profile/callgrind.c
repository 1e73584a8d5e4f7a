/* SPDX-License-Identifier: Apache-2.0 */
/* callgrind.out: instructions and calls in the format of Callgrind, for KCachegrind and callgrind_annotate. */
#include "fs/profile/edges.h"
#include "fs/profile/sources.h"

#include <inttypes.h>
#include <stdlib.h>

/* What a function executed in calls of it that came within others of it (again), and otherwise, as the tree has it. */
struct own {
	uint64_t insns[2], cycles[2]; /* of the first ones, again */
};

struct writer {
	const struct hf_profiled *of;
	struct hf_sink *sink;
	struct hf_functions functions;
	struct own *own; /* of each function */
	uint64_t cycles; /* of all */
	bool timed;	 /* the source tells cycles */
	struct hf_sources sources;
	struct hf_edges edges;
	uint32_t *file;	      /* of each function: that of its first instruction which has one */
	bool *function_named; /* of each function, and of its second one: its name was written */
	bool *file_named;
	uint32_t current; /* file */
};

/* ---- names: written once, then a number stands for them ---- */

static void put_function(struct writer *w, const char *key, uint32_t function, bool again)
{
	const uint32_t id = 2 * function + again;

	hf_sink_printf(w->sink, "%s=(%" PRIu32 ")", key, id + 1);
	if (!w->function_named[id]) {
		hf_sink_printf(w->sink, " ");
		hf_functions_put_name(&w->functions, function, w->sink);
		hf_sink_printf(w->sink, again ? "'2" : "");
	}
	w->function_named[id] = true;
	hf_sink_printf(w->sink, "\n");
}

static void put_file(struct writer *w, const char *key, uint32_t file)
{
	hf_sink_printf(w->sink, "%s=(%" PRIu32 ")", key, file + 1);
	if (!w->file_named[file]) {
		hf_sink_printf(w->sink, " ");
		hf_sink_write(w->sink, file ? w->sources.file[file].name : "???",
			      file ? w->sources.file[file].size : 3);
	}
	w->file_named[file] = true;
	hf_sink_printf(w->sink, "\n");
}

/* The file of the lines that follow, within a function. */
static void turn_to_file(struct writer *w, uint32_t function, uint32_t file)
{
	if (file == w->current)
		return;
	put_file(w, file == w->file[function] ? "fe" : "fi", file);
	w->current = file;
}

/* ---- lines ---- */

static void put_position(const struct writer *w, uint64_t pc, uint32_t line)
{
	hf_sink_printf(w->sink, "0x%" PRIx64, pc);
	if (w->sources.any)
		hf_sink_printf(w->sink, " %" PRIu32, line);
}

/* Of an address; none if nothing was executed there. */
static struct hf_source_place place_of(const struct writer *w, uint64_t pc)
{
	const size_t row = hf_profile_row_at(w->of, pc);

	return row < w->of->counts->n && w->of->counts->row[row].pc == pc ? w->sources.row[row]
									  : (struct hf_source_place){0};
}

static void put_branch(struct writer *w, uint32_t function, const struct hf_count *row)
{
	struct hf_source_place place;
	uint64_t target;

	if (row->open || hf_profile_flow(row, w->of->extensions) != HF_FLOW_BRANCH || !hf_profile_target(row, &target) ||
	    hf_functions_of(&w->functions, w->of, target) != function)
		return;
	place = place_of(w, target);
	if (place.file && place.file != w->current)
		put_file(w, "jfi", place.file);
	hf_sink_printf(w->sink, "jcnd=%" PRIu64 "/%" PRIu64 " ", row->taken, row->count);
	put_position(w, target, place.line);
	hf_sink_printf(w->sink, w->sources.any ? "\n* *\n" : "\n*\n");
}

/* Of the first n executions in a function those that were again. Which ones is not known: all places have the same
 * share. */
static uint64_t again_of(const struct own *own, uint64_t n)
{
	const uint64_t all = own->insns[0] + own->insns[1];

	return own->insns[1] ? (uint64_t)((unsigned __int128)n * own->insns[1] / all) : 0;
}

static void put_cycles(struct writer *w, uint32_t function, bool again)
{
	const uint64_t start = w->functions.at[function].start;

	if (!w->own[function].cycles[again])
		return;
	put_position(w, start, place_of(w, start).line);
	hf_sink_printf(w->sink, " 0 %" PRIu64 "\n", w->own[function].cycles[again]);
}

static void put_own(struct writer *w, uint32_t function, bool again)
{
	const struct own *own = &w->own[function];
	uint64_t all = own->insns[0] + own->insns[1], n = 0;

	put_cycles(w, function, again);
	for (size_t i = w->functions.first[function]; i < w->functions.first[function + 1]; i++) {
		const struct hf_count *row = &w->of->counts->row[w->functions.row[i]];
		const struct hf_source_place place = w->sources.row[w->functions.row[i]];
		/* A function that others jump to executed more than its calls did. */
		const uint64_t next = row->count > all - n ? all : n + row->count;
		const uint64_t others = again_of(own, next) - again_of(own, n),
			       count = again ? others : row->count - others;

		n = next;
		if (!count)
			continue;
		turn_to_file(w, function, place.file ? place.file : w->file[function]);
		put_position(w, row->pc, place.line);
		hf_sink_printf(w->sink, " %" PRIu64 "\n", count);
		if (!again)
			put_branch(w, function, row);
	}
}

static void put_call(struct writer *w, const struct hf_edge *edge)
{
	const uint64_t target = w->functions.at[edge->callee].start;
	const struct hf_source_place place = place_of(w, edge->site);

	turn_to_file(w, edge->caller, place.file ? place.file : w->file[edge->caller]);
	put_file(w, "cfi", w->file[edge->callee]);
	put_function(w, "cfn", edge->callee, edge->callee_again);
	hf_sink_printf(w->sink, "calls=%" PRIu64 " ", edge->calls);
	put_position(w, target, place_of(w, target).line);
	hf_sink_printf(w->sink, "\n");
	put_position(w, edge->site, place.line);
	hf_sink_printf(w->sink, " %" PRIu64, edge->below);
	if (w->timed)
		hf_sink_printf(w->sink, " %" PRIu64, edge->cycles);
	hf_sink_printf(w->sink, "\n");
}

/* What a function called and, if some of its calls came within others of it, a second one with what these did. edge:
 * the first of the caller; returns the one behind its last. */
static const struct hf_edge *put_calls(struct writer *w, uint32_t function, const struct hf_edge *edge)
{
	const struct hf_edge *end = edge;
	bool again = w->own[function].insns[1] || w->own[function].cycles[1];

	while (end < w->edges.at + w->edges.count && end->caller == function) {
		again |= end->caller_again;
		if (!end->caller_again)
			put_call(w, end);
		end++;
	}
	if (!again)
		return end;
	hf_sink_printf(w->sink, "\n");
	put_file(w, "fl", w->file[function]);
	put_function(w, "fn", function, true);
	w->current = w->file[function];
	put_own(w, function, true);
	for (; edge < end; edge++)
		if (edge->caller_again)
			put_call(w, edge);
	return end;
}

static void put_sums(const struct writer *w, const char *key)
{
	hf_sink_printf(w->sink, "%s: %" PRIu64, key, w->of->counts->insns);
	if (w->timed)
		hf_sink_printf(w->sink, " %" PRIu64, w->cycles);
	hf_sink_printf(w->sink, "\n");
}

static void put_head(const struct writer *w)
{
	hf_sink_printf(w->sink, "# callgrind format\nversion: 1\ncreator: hartfs\n");
	hf_sink_printf(w->sink, "cmd: hart%" PRIu32 "\n", w->of->hart);
	if (w->of->sampled)
		hf_sink_printf(w->sink,
			       "# Inclusive costs are estimated: a chunk counts for the function in which it begins. "
			       "Calls are not counted.\n");
	hf_sink_printf(w->sink, "# A call that nobody can tell the place of is at the first address of the caller.\n");
	hf_sink_printf(w->sink,
		       "# f'2 is f, called before an earlier call of it returned; how its instructions are shared "
		       "out over its addresses is not known.\n");
	if (w->timed)
		hf_sink_printf(w->sink, "# Cycles are at the first address of the function.\n");
	hf_sink_printf(w->sink, "positions: instr%s\n", w->sources.any ? " line" : "");
	hf_sink_printf(w->sink, "event: Ir : Instructions retired\n");
	hf_sink_printf(w->sink, w->timed ? "event: Cy : Cycles\nevents: Ir Cy\n" : "events: Ir\n");
	put_sums(w, "summary");
	hf_sink_printf(w->sink, "\nob=(1) ../program.elf\n");
}

static void find_files(struct writer *w)
{
	for (size_t function = 0; function < w->functions.count; function++)
		for (size_t i = w->functions.first[function]; i < w->functions.first[function + 1]; i++) {
			w->file[function] = w->sources.row[w->functions.row[i]].file;
			if (w->file[function])
				break;
		}
}

static int find_calls(struct writer *w)
{
	const struct hf_summary_tree *tree = w->of->tree;
	struct hf_recursion *recursion = hf_recursion_of_functions(w->of, &w->functions);
	int err;

	w->own = calloc(w->functions.count, sizeof *w->own);
	err = recursion && w->own ? hf_edges_new(w->of, &w->functions, recursion, &w->edges) : HF_ERR_NOMEM;
	for (uint32_t i = 0; !err && i < tree->count; i++) {
		struct own *own = &w->own[recursion[i].function];

		own->insns[recursion[i].above != 0] += tree->nodes[i].own;
		own->cycles[recursion[i].above != 0] += tree->nodes[i].cycles;
		w->cycles += tree->nodes[i].cycles;
	}
	w->timed = tree->facts.timed;
	free(recursion);
	return err;
}

static int prepare(struct writer *w)
{
	int err = hf_sources_init(&w->sources, w->of, false);

	if (!err)
		err = hf_functions_new(w->of, &w->functions);
	if (!err)
		err = find_calls(w);
	if (err)
		return err;
	w->file = calloc(w->functions.count, sizeof *w->file);
	w->function_named = calloc(2 * w->functions.count, sizeof *w->function_named);
	w->file_named = calloc(w->sources.file_count + 1, sizeof *w->file_named);
	if (!w->file || !w->function_named || !w->file_named)
		return HF_ERR_NOMEM;
	find_files(w);
	return 0;
}

static void release(struct writer *w)
{
	hf_sources_free(&w->sources);
	hf_functions_free(&w->functions);
	hf_edges_free(&w->edges);
	free(w->own);
	free(w->file);
	free(w->function_named);
	free(w->file_named);
}

int hf_profile_callgrind(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct writer w = {.of = of, .sink = sink};
	const struct hf_edge *edge;
	int err = prepare(&w);

	if (err) {
		release(&w);
		return err;
	}
	put_head(&w);
	edge = w.edges.at;
	for (uint32_t function = 0; function < w.functions.count; function++) {
		const bool calls = edge < w.edges.at + w.edges.count && edge->caller == function;

		if (!calls && !w.own[function].cycles[0] &&
		    w.functions.first[function] == w.functions.first[function + 1])
			continue;
		hf_sink_printf(sink, "\n");
		put_file(&w, "fl", w.file[function]);
		put_function(&w, "fn", function, false);
		w.current = w.file[function];
		put_own(&w, function, false);
		edge = put_calls(&w, function, edge);
	}
	hf_sink_printf(sink, "\n");
	put_sums(&w, "totals");
	release(&w);
	return sink->err;
}
