/* SPDX-License-Identifier: Apache-2.0 */
/* function, mix, code, callnode: how often what was executed, and called. */
#include "fs/profile/texts.h"
#include "fs/rows/summed.h"

#include <stdlib.h>
#include <string.h>

/* A function, with its name. */
static void put_function(const struct hf_rows *rows, struct hf_row *row, unsigned column, uint32_t number)
{
	const struct hf_function *function = &rows->hart->functions.at[number];
	char place[HF_OBJECT_PLACE_MAX + 1];

	if (number == HF_FUNCTION_NONE)
		return;
	hf_row_number(rows, row, column, function->start);
	if (function->symbol)
		hf_row_text(rows, row, column + 1, function->symbol->name, function->symbol->name_size);
	else
		hf_row_copy(rows, row, column + 1, place,
			    hf_object_put_place(function->object, function->start, place));
}

static uint32_t function_of(const struct hf_rows *rows, uint64_t pc)
{
	const struct hf_profiled of = hf_rows_hart_profiled(rows->session, rows->hart);

	return hf_functions_of(&rows->hart->functions, &of, pc);
}

/* ---- function ---- */

struct function {
	uint64_t own, calls, instructions;
};

enum { FUNCTION_ADDRESS = HF_AT_FIRST, FUNCTION_NAME, FUNCTION_OWN, FUNCTION_CALLS, FUNCTION_EXECUTED, FUNCTION_OBJECT };

static const struct hf_column function_columns[] = {
	HF_HART_COLUMNS,
	[FUNCTION_ADDRESS] = {"address", HF_COLUMN_ASKED},
	[FUNCTION_NAME] = {"name", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[FUNCTION_OWN] = {"own", HF_COLUMN_ASKED},
	[FUNCTION_CALLS] = {"calls", HF_COLUMN_ASKED},
	[FUNCTION_EXECUTED] = {"executed", HF_COLUMN_ASKED},
	[FUNCTION_OBJECT] = {"object", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
};

static int begin_functions(struct hf_rows *rows, void **ret_own, size_t *ret_count)
{
	struct hf_rows_hart *hart = rows->hart;
	const struct hf_functions *functions = &hart->functions;
	struct hf_profiled of;
	struct function *all;
	int err = hf_rows_count(rows);

	if (err)
		return err;
	of = hf_rows_hart_profiled(rows->session, hart);
	all = calloc(functions->count, sizeof *all);
	if (!all)
		return HF_ERR_NOMEM;
	for (size_t n = 0; n < functions->count; n++) {
		all[n].instructions = functions->first[n + 1] - functions->first[n];
		for (size_t i = functions->first[n]; i < functions->first[n + 1]; i++)
			all[n].own += hart->counts.row[functions->row[i]].count;
	}
	for (uint32_t i = 0; i < hart->tree->count; i++)
		if (hart->tree->nodes[i].kind == HF_CALL_FUNCTION)
			all[hf_functions_of_node(functions, &of, &hart->tree->nodes[i])].calls +=
				hart->tree->nodes[i].calls;
	*ret_own = all;
	*ret_count = functions->count;
	return 0;
}

static void put_one_function(const struct hf_rows *rows, void *own, size_t i, struct hf_row *row)
{
	const struct function *function = (const struct function *)own + i;
	const struct hf_profiled of = hf_rows_hart_profiled(rows->session, rows->hart);
	const char *object = hf_functions_object(&rows->hart->functions, &of, (uint32_t)i);

	put_function(rows, row, FUNCTION_ADDRESS, (uint32_t)i);
	if (strcmp(object, "-") != 0)
		hf_row_word(rows, row, FUNCTION_OBJECT, object);
	hf_row_number(rows, row, FUNCTION_OWN, function->own);
	hf_row_number(rows, row, FUNCTION_CALLS, function->calls);
	hf_row_number(rows, row, FUNCTION_EXECUTED, function->instructions);
}

static const struct hf_rows_list function_how = {.begin = begin_functions, .put = put_one_function};

HF_LIST_TABLE(function, HF_TABLE_HART | HF_TABLE_SUMMED, function_columns, function_how);

/* ---- code: each instruction that was executed ---- */

enum {
	CODE_PC = HF_AT_FIRST,
	CODE_OPCODE,
	CODE_SIZE,
	CODE_MNEMONIC,
	CODE_TEXT,
	CODE_SYMBOL,
	CODE_OFFSET,
	CODE_FILE,
	CODE_LINE,
	CODE_FLOW,
	CODE_COUNT,
	CODE_TAKEN,
	CODE_OPEN,
};

static const struct hf_column code_columns[] = {
	HF_HART_COLUMNS,
	[CODE_PC] = {"pc", HF_COLUMN_ASKED},
	[CODE_OPCODE] = {"opcode", HF_COLUMN_ASKED},
	[CODE_SIZE] = {"size", HF_COLUMN_ASKED},
	[CODE_MNEMONIC] = {"mnemonic", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[CODE_TEXT] = {"text", HF_COLUMN_TEXT},
	[CODE_SYMBOL] = {"symbol", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[CODE_OFFSET] = {"offset", HF_COLUMN_ASKED},
	[CODE_FILE] = {"file", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[CODE_LINE] = {"line", HF_COLUMN_ASKED},
	[CODE_FLOW] = {"flow", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[CODE_COUNT] = {"count", HF_COLUMN_ASKED},
	[CODE_TAKEN] = {"taken", HF_COLUMN_ASKED},
	[CODE_OPEN] = {"unknown", HF_COLUMN_ASKED},
};

static int begin_code(struct hf_rows *rows, void **ret_own, size_t *ret_count)
{
	int err = hf_rows_count(rows);

	*ret_own = NULL;
	*ret_count = err ? 0 : rows->hart->counts.n;
	return err;
}

static void put_code(const struct hf_rows *rows, void *own, size_t i, struct hf_row *row)
{
	const struct hf_count *count = &rows->hart->counts.row[i];

	(void)own;
	hf_row_number(rows, row, CODE_PC, count->pc);
	if (!hf_row_is_asked(rows, row, CODE_PC))
		return;
	hf_row_number(rows, row, CODE_OPCODE, count->opcode);
	hf_row_number(rows, row, CODE_SIZE, count->size);
	hf_row_code(rows, row, CODE_MNEMONIC, count->opcode, count->size, count->isa);
	hf_row_place(rows, row, CODE_SYMBOL, count->pc);
	hf_row_word(rows, row, CODE_FLOW, hf_profile_flow_name(hf_profile_flow(count, rows->hart->extensions)));
	hf_row_number(rows, row, CODE_COUNT, count->count);
	/* What ends a piece of code is not always the trap return itself. */
	if (hf_profile_flow(count, rows->hart->extensions) != HF_FLOW_TRAP_RETURN)
		hf_row_number(rows, row, CODE_TAKEN, count->taken);
	hf_row_number(rows, row, CODE_OPEN, count->open);
}

static const struct hf_rows_list code_how = {.begin = begin_code, .put = put_code};

HF_LIST_TABLE(code, HF_TABLE_HART | HF_TABLE_SUMMED, code_columns, code_how);

/* ---- mix: of each function the mnemonics ---- */

struct mixed {
	uint64_t count;
	uint32_t function;
	uint8_t flow;
	char name[32];
};

enum { MIX_ADDRESS = HF_AT_FIRST, MIX_FUNCTION, MIX_MNEMONIC, MIX_FLOW, MIX_COUNT };

static const struct hf_column mix_columns[] = {
	HF_HART_COLUMNS,
	[MIX_ADDRESS] = {"address", HF_COLUMN_ASKED},
	[MIX_FUNCTION] = {"function", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[MIX_MNEMONIC] = {"mnemonic", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[MIX_FLOW] = {"flow", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[MIX_COUNT] = {"count", HF_COLUMN_ASKED},
};

static int by_name(const void *a, const void *b)
{
	const struct mixed *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return order ? order : (x->flow > y->flow) - (x->flow < y->flow);
}

/* Of both kinds of jumps and calls the names are the same. */
static uint8_t plain_flow(uint8_t flow)
{
	return flow == HF_FLOW_INDIRECT_JUMP ? HF_FLOW_JUMP : flow == HF_FLOW_INDIRECT_CALL ? HF_FLOW_CALL : flow;
}

static void read_mixed(const struct hf_rows *rows, const struct hf_count *count, struct mixed *mixed)
{
	const struct hf_profiled of = hf_rows_hart_profiled(rows->session, rows->hart);
	char text[HF_DISASM_ROOM];
	size_t n;

	hf_profile_text_of(&of, count, text);
	n = strcspn(text, " \t");
	n = n < sizeof mixed->name ? n : sizeof mixed->name - 1;
	*mixed = (struct mixed){.count = count->count,
				.function = function_of(rows, count->pc),
				.flow = plain_flow(hf_profile_flow(count, rows->hart->extensions))};
	memcpy(mixed->name, text, n);
}

static int begin_mix(struct hf_rows *rows, void **ret_own, size_t *ret_count)
{
	const struct hf_counts *counts = &rows->hart->counts;
	struct mixed *at;
	size_t kept = 0;
	int err = hf_rows_count(rows);

	if (err)
		return err;
	at = malloc((counts->n + 1) * sizeof *at);
	if (!at)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < counts->n; i++)
		read_mixed(rows, &counts->row[i], &at[i]);
	qsort(at, counts->n, sizeof *at, by_name);
	for (size_t i = 0; i < counts->n; i++) {
		if (kept && by_name(&at[kept - 1], &at[i]) == 0)
			at[kept - 1].count += at[i].count;
		else
			at[kept++] = at[i];
	}
	*ret_own = at;
	*ret_count = kept;
	return 0;
}

static void put_mix(const struct hf_rows *rows, void *own, size_t i, struct hf_row *row)
{
	const struct mixed *mixed = (const struct mixed *)own + i;

	put_function(rows, row, MIX_ADDRESS, mixed->function);
	hf_row_word(rows, row, MIX_MNEMONIC, mixed->name);
	hf_row_word(rows, row, MIX_FLOW, hf_profile_flow_name(mixed->flow));
	hf_row_number(rows, row, MIX_COUNT, mixed->count);
}

static const struct hf_rows_list mix_how = {.begin = begin_mix, .put = put_mix};

HF_LIST_TABLE(mix, HF_TABLE_HART | HF_TABLE_SUMMED, mix_columns, mix_how);

/* ---- callnode: functions by who called them ---- */

enum {
	NODE_ID = HF_AT_FIRST,
	NODE_PARENT,
	NODE_KIND,
	NODE_FUNCTION,
	NODE_NAME,
	NODE_DEPTH,
	NODE_CALLS,
	NODE_OWN,
	NODE_BELOW,
	NODE_FIRST,
	NODE_LAST,
	NODE_CYCLES,
	NODE_MODE,
	NODE_CONTEXT,
	NODE_PID,
	NODE_TID,
	NODE_COMM,
};

static const struct hf_column node_columns[] = {
	HF_HART_COLUMNS,
	[NODE_ID] = {"id", HF_COLUMN_ASKED},
	[NODE_PARENT] = {"parent", HF_COLUMN_ASKED},
	[NODE_KIND] = {"kind", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[NODE_FUNCTION] = {"address", HF_COLUMN_ASKED},
	[NODE_NAME] = {"name", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[NODE_DEPTH] = {"depth", HF_COLUMN_ASKED},
	[NODE_CALLS] = {"calls", HF_COLUMN_ASKED},
	[NODE_OWN] = {"own", HF_COLUMN_ASKED},
	[NODE_BELOW] = {"below", HF_COLUMN_ASKED},
	[NODE_FIRST] = {"first", HF_COLUMN_ASKED},
	[NODE_LAST] = {"last", HF_COLUMN_ASKED},
	[NODE_CYCLES] = {"cycles", HF_COLUMN_ASKED},
	[NODE_MODE] = {"mode", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[NODE_CONTEXT] = {"context", HF_COLUMN_ASKED},
	[NODE_PID] = {"pid", HF_COLUMN_ASKED},
	[NODE_TID] = {"tid", HF_COLUMN_ASKED},
	[NODE_COMM] = {"comm", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
};

static int begin_nodes(struct hf_rows *rows, void **ret_own, size_t *ret_count)
{
	const struct hf_summary_tree *tree;
	uint32_t *number;
	int err = hf_rows_count(rows);

	if (err)
		return err;
	tree = rows->hart->tree;
	*ret_own = number = malloc((tree->count + (size_t)1) * sizeof *number);
	if (!number)
		return HF_ERR_NOMEM;
	*ret_count = 0;
	for (uint32_t i = 0; i < tree->count; i++)
		if (!hf_summary_tree_is_left(tree, i))
			number[(*ret_count)++] = i;
	return 0;
}

/* Whose calls they are. */
static void put_thread(const struct hf_rows *rows, const struct hf_profiled *of, uint32_t context, struct hf_row *row)
{
	const struct hf_run_context *is = context < of->tree->context_count ? &of->tree->contexts[context] : NULL;
	const char *name = is && is->fields & HF_CONTEXT_TID ? hf_processes_name(of->processes, is->pid, is->tid) : NULL;

	if (is && is->fields & HF_CONTEXT_PID)
		hf_row_number(rows, row, NODE_PID, is->pid);
	if (is && is->fields & HF_CONTEXT_TID)
		hf_row_number(rows, row, NODE_TID, is->tid);
	if (name)
		hf_row_copy(rows, row, NODE_COMM, name, strlen(name));
}

static void put_node(const struct hf_rows *rows, void *own, size_t at, struct hf_row *row)
{
	static const char *const kinds[HF_CALL_KINDS] = {"beyond", "root", "function", "trap", "interrupt"};
	const uint32_t i = ((const uint32_t *)own)[at];
	const struct hf_summary_tree *tree = rows->hart->tree;
	const struct hf_call_node *node = &tree->nodes[i];
	const struct hf_profiled of = hf_rows_hart_profiled(rows->session, rows->hart);

	hf_row_number(rows, row, NODE_ID, i);
	if (node->parent != HF_CALL_NO_NODE)
		hf_row_number(rows, row, NODE_PARENT, node->parent);
	hf_row_word(rows, row, NODE_KIND, kinds[node->kind]);
	put_function(rows, row, NODE_FUNCTION, hf_functions_of_node(&rows->hart->functions, &of, node));
	hf_row_number(rows, row, NODE_DEPTH, tree->depth[i]);
	hf_row_number(rows, row, NODE_CALLS, node->calls);
	hf_row_number(rows, row, NODE_OWN, node->own);
	hf_row_number(rows, row, NODE_BELOW, tree->below[i]);
	if (node->kind != HF_CALL_BEYOND) {
		hf_row_number(rows, row, NODE_FIRST, node->first);
		hf_row_number(rows, row, NODE_LAST, node->last);
		hf_row_number(rows, row, NODE_CONTEXT, node->context);
		put_thread(rows, &of, node->context, row);
	}
	if (tree->facts.timed)
		hf_row_number(rows, row, NODE_CYCLES, node->cycles);
	if (node->kind == HF_CALL_ROOT)
		hf_row_mode(rows, row, NODE_MODE, node->mode);
}

static const struct hf_rows_list node_how = {.begin = begin_nodes, .put = put_node};

HF_LIST_TABLE(callnode, HF_TABLE_HART | HF_TABLE_SUMMED, node_columns, node_how);
