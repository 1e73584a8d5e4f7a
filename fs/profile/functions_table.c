/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/functions_table.h"
#include "codecs/base/search.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct hf_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return !x->symbol - !y->symbol;
}

static bool has_function(const struct hf_call_node *node)
{
	return node->kind != HF_CALL_BEYOND && node->function != HF_CALL_UNKNOWN;
}

static size_t collect(const struct hf_profiled *of, struct hf_function *at)
{
	const struct hf_symbol *symbol = NULL;
	const struct hf_object *object = NULL;
	bool named = true;
	size_t n = 0;

	for (size_t i = 0; i < of->counts->n; i++) {
		const uint64_t pc = of->counts->row[i].pc;
		const struct hf_object *before = object;

		if (symbol && pc >= symbol->start && pc < symbol->end)
			continue;
		symbol = of->symbols ? hf_symbols_at(of->symbols, pc) : NULL;
		object = symbol ? NULL : hf_symbols_object_at(of->symbols, pc);
		if (symbol)
			at[n++] = (struct hf_function){symbol->start, symbol, NULL};
		else if (named || object != before)
			at[n++] = (struct hf_function){pc, NULL, object};
		named = symbol != NULL;
	}
	for (uint32_t i = 0; i < of->tree->count; i++) {
		const struct hf_call_node *node = &of->tree->nodes[i];

		if (!has_function(node))
			continue;
		symbol = of->symbols ? hf_symbols_at(of->symbols, node->function) : NULL;
		at[n++] = (struct hf_function){
			.start = symbol ? symbol->start : node->function,
			.symbol = symbol,
			.object = symbol ? NULL : hf_symbols_object_at(of->symbols, node->function)};
	}
	return n;
}

uint32_t hf_functions_of(const struct hf_functions *functions, const struct hf_profiled *of, uint64_t pc)
{
	const struct hf_symbol *symbol = of->symbols ? hf_symbols_at(of->symbols, pc) : NULL;
	const size_t at = HF_COUNT_UP_TO(functions->at + 1, functions->count - 1, start, symbol ? symbol->start : pc);
	const struct hf_function *function = &functions->at[at];

	return function->symbol == symbol ? (uint32_t)at : HF_FUNCTION_NONE;
}

/* Puts the rows of each function together. */
static int sort_rows(const struct hf_profiled *of, struct hf_functions *functions)
{
	const struct hf_counts *counts = of->counts;
	uint32_t *number = malloc((counts->n + 1) * sizeof *number);
	size_t *next;

	functions->row = malloc((counts->n + 1) * sizeof *functions->row);
	functions->first = calloc(functions->count + 2, sizeof *functions->first);
	if (!number || !functions->row || !functions->first) {
		free(number);
		return HF_ERR_NOMEM;
	}
	/* next[n] is first[n + 1] in the end: where the next row of n goes, until they are all there. */
	next = functions->first + 1;
	for (size_t i = 0; i < counts->n; i++) {
		number[i] = hf_functions_of(functions, of, counts->row[i].pc);
		next[number[i] + 1]++;
	}
	for (size_t n = 1; n <= functions->count; n++)
		next[n] += next[n - 1];
	for (size_t i = 0; i < counts->n; i++)
		functions->row[next[number[i]]++] = (uint32_t)i;
	free(number);
	return 0;
}

int hf_functions_new(const struct hf_profiled *of, struct hf_functions *ret_functions)
{
	struct hf_function *at = malloc((of->counts->n + of->tree->count + 1) * sizeof *at), *shrunk;
	size_t n, kept = 1;
	int err;

	if (!at)
		return HF_ERR_NOMEM;
	at[HF_FUNCTION_NONE] = (struct hf_function){0};
	n = 1 + collect(of, at + 1);
	qsort(at + 1, n - 1, sizeof *at, by_start);
	for (size_t i = 1; i < n; i++)
		if (kept == 1 || at[kept - 1].start != at[i].start)
			at[kept++] = at[i];
	shrunk = realloc(at, kept * sizeof *at);
	*ret_functions = (struct hf_functions){.at = shrunk ? shrunk : at, .count = kept};
	err = sort_rows(of, ret_functions);
	if (err)
		hf_functions_free(ret_functions);
	return err;
}

void hf_functions_free(struct hf_functions *functions)
{
	free(functions->at);
	free(functions->row);
	free(functions->first);
	*functions = (struct hf_functions){0};
}

uint32_t hf_functions_of_node(const struct hf_functions *functions, const struct hf_profiled *of,
			      const struct hf_call_node *node)
{
	return has_function(node) ? hf_functions_of(functions, of, node->function) : HF_FUNCTION_NONE;
}

void hf_functions_put_name(const struct hf_functions *functions, uint32_t number, struct hf_sink *sink)
{
	const struct hf_function *function = &functions->at[number];
	char place[HF_OBJECT_PLACE_MAX + 1];

	if (number == HF_FUNCTION_NONE)
		hf_sink_printf(sink, "?");
	else if (function->symbol)
		hf_sink_write(sink, function->symbol->name, function->symbol->name_size);
	else
		hf_sink_write(sink, place, hf_object_put_place(function->object, function->start, place));
}

const char *hf_functions_object(const struct hf_functions *functions, const struct hf_profiled *of, uint32_t number)
{
	const struct hf_function *function = &functions->at[number];
	const struct hf_object *object = function->object;

	if (!object && number != HF_FUNCTION_NONE && of->symbols)
		object = hf_symbols_object_at(of->symbols, function->start);
	return object ? object->name : "-";
}
