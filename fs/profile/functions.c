/* SPDX-License-Identifier: Apache-2.0 */
/* functions.txt: what was executed in each function itself and from its calls to their returns, and how often it was
 * called. functions-files.txt has the source files, too. */
#include "fs/profile/edges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct function {
	uint32_t number;
	uint64_t own, calls, below, cycles;
	bool entered; /* the tree of calls has nodes of it */
};

/* The largest first; then by address, and what has no place last. */
static int by_own(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	if (!x->number || !y->number)
		return !x->number - !y->number;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void add_own(const struct hf_profiled *of, const struct hf_functions *functions, struct function *function)
{
	for (uint32_t n = 0; n < functions->count; n++) {
		function[n].number = n;
		for (size_t i = functions->first[n]; i < functions->first[n + 1]; i++)
			function[n].own += of->counts->row[functions->row[i]].count;
	}
}

/* What each executed from its calls to their returns; calls of it within these count once. */
static int add_calls(const struct hf_profiled *of, const struct hf_functions *functions, struct function *function)
{
	const struct hf_summary_tree *tree = of->tree;
	struct hf_recursion *recursion = hf_recursion_of_functions(of, functions);

	if (!recursion)
		return HF_ERR_NOMEM;
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct hf_call_node *node = &tree->nodes[i];
		struct function *f = &function[recursion[i].function];

		if (recursion[i].function == HF_FUNCTION_NONE)
			continue;
		f->calls += node->kind == HF_CALL_FUNCTION ? node->calls : 0;
		f->cycles += node->cycles;
		f->entered |= !hf_summary_tree_is_left(tree, i);
		f->below += recursion[i].above ? 0 : hf_profile_inclusive(tree, i);
	}
	free(recursion);
	return 0;
}

/* What has no blank, as all columns but the last. */
static void put_word(const char *name, size_t size, int width, struct hf_sink *sink)
{
	char word[HF_LINES_NAME_MAX + 1];
	size_t n = 0;

	for (; n < size && n < HF_LINES_NAME_MAX; n++)
		word[n] = name[n] == ' ' ? '_' : name[n];
	word[n] = 0;
	hf_sink_printf(sink, "%-*s ", width, word);
}

static void put_file(const struct hf_profiled *of, uint64_t pc, struct hf_sink *sink)
{
	struct hf_line line = {0};

	if (of->symbols)
		hf_symbols_line_at(of->symbols, pc, &line);
	put_word(line.line ? line.file : "-", line.line ? line.file_size : 1, 1, sink);
}

static void put_function(const struct hf_profiled *of, const struct hf_functions *functions,
			 const struct function *function, int width, bool files, struct hf_sink *sink)
{
	const char *object = hf_functions_object(functions, of, function->number);

	hf_sink_printf(sink, "%14" PRIu64 " %6.2f ", function->own, hf_profile_share(of, function->own));
	if (function->entered)
		hf_sink_printf(sink, "%14" PRIu64 " %6.2f ", function->below, hf_profile_share(of, function->below));
	else
		hf_sink_printf(sink, "%14s %6s ", "-", "-");
	hf_profile_put_calls(of, 12, function->calls, sink);
	hf_sink_printf(sink, " ");
	if (of->tree->facts.timed)
		hf_sink_printf(sink, "%14" PRIu64 " ", function->cycles);
	hf_sink_printf(sink, "%016" PRIx64 " ", functions->at[function->number].start);
	put_word(object, strlen(object), width, sink);
	if (files)
		put_file(of, functions->at[function->number].start, sink);
	hf_functions_put_name(functions, function->number, sink);
	hf_sink_printf(sink, "\n");
}

static bool is_shown(const struct function *function)
{
	return function->own || function->calls || function->cycles || function->entered;
}

/* Of the column of objects. */
static int width_of(const struct hf_profiled *of, const struct hf_functions *functions, const struct function *function)
{
	size_t width = strlen("object");

	for (size_t i = 0; i < functions->count; i++) {
		const size_t n =
			is_shown(&function[i]) ? strlen(hf_functions_object(functions, of, function[i].number)) : 0;

		width = n > width ? n : width;
	}
	return (int)width;
}

static void put_all(const struct hf_profiled *of, const struct hf_functions *functions, struct function *function,
		    bool files, struct hf_sink *sink)
{
	const int width = width_of(of, functions, function);

	qsort(function, functions->count, sizeof *function, by_own);
	hf_profile_put_head(of, sink);
	hf_profile_put_returns(of, sink);
	hf_sink_printf(sink,
		       "#          own  share          below  share        calls%s address          %-*s %sfunction\n",
		       of->tree->facts.timed ? "         cycles" : "", width, "object", files ? "file " : "");
	for (size_t i = 0; i < functions->count; i++)
		if (is_shown(&function[i]))
			put_function(of, functions, &function[i], width, files, sink);
}

static int write_functions(const struct hf_profiled *of, bool files, struct hf_sink *sink)
{
	struct hf_functions functions;
	struct function *function;
	int err = hf_functions_new(of, &functions);

	if (err)
		return err;
	function = calloc(functions.count, sizeof *function);
	err = function ? 0 : HF_ERR_NOMEM;
	if (!err) {
		add_own(of, &functions, function);
		err = add_calls(of, &functions, function);
	}
	if (!err)
		put_all(of, &functions, function, files, sink);
	free(function);
	hf_functions_free(&functions);
	return err ? err : sink->err;
}

int hf_profile_functions(const struct hf_profiled *of, struct hf_sink *sink)
{
	return write_functions(of, false, sink);
}

int hf_profile_functions_files(const struct hf_profiled *of, struct hf_sink *sink)
{
	return write_functions(of, true, sink);
}
