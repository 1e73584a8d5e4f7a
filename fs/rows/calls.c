/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call: each call and trap, from its first instruction to its last one, by the rules of the tree of calls
 * (index/summary/calls.h). The hart is followed from its first instruction on, and a row comes when a call ends.
 */
#include "fs/capture/opened.h"
#include "codecs/base/array.h"
#include "fs/rows/summed.h"
#include "index/summary/calls.h"
#include "index/summary/run.h"

#include <stdlib.h>
#include <string.h>

enum { ENTRY = HF_AT_FIRST, EXIT, ADDRESS, NAME, KIND, DEPTH, PARENT, INSTRUCTIONS };

static const struct hf_column columns[] = {
	HF_HART_COLUMNS,
	[ENTRY] = {"entry", HF_COLUMN_ASKED},
	[EXIT] = {"exit", HF_COLUMN_ASKED},
	[ADDRESS] = {"address", HF_COLUMN_ASKED},
	[NAME] = {"name", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[KIND] = {"kind", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[DEPTH] = {"depth", HF_COLUMN_ASKED},
	[PARENT] = {"parent", HF_COLUMN_ASKED},
	[INSTRUCTIONS] = {"instructions", HF_COLUMN_ASKED},
};

/* A frame of a stack, or what is left of it when it ended. */
struct instance {
	uint64_t entry, end; /* ordinals in [entry, end) */
	uint64_t parent;     /* entry of the one below it, */
	bool has_parent;     /*   if there is one */
	bool open;	     /* it had not ended when the hart did */
	uint8_t kind;
	uint32_t depth;
	uint64_t function;
};

/* The frames of a context. */
struct shadow {
	struct instance *frame; /* owned */
	size_t depth, room;
};

struct following {
	struct hf_calls *calls;
	struct hf_run_cutter *cutter;
	struct hf_run_watch watch;
	struct shadow *shadows; /* by context */
	size_t shadow_count, shadow_room;
	struct instance *ended; /* rows to come: next, and those behind it */
	size_t next, count, room;
	bool entered, over;
	struct hf_event ev[HF_CURSOR_BATCH];
	struct hf_cursor cursor;
};

static int drop_run(void *ctx, const struct hf_run *run)
{
	(void)ctx;
	(void)run;
	return 0;
}

static int drop_stack(void *ctx, const struct hf_call_stack *stack)
{
	(void)ctx;
	(void)stack;
	return 0;
}

/* ---- frames ---- */

static int shadow_of(struct following *f, uint32_t context, struct shadow **ret_shadow)
{
	while (f->shadow_count <= context) {
		int err = hf_array_reserve(&f->shadows, f->shadow_count + 1, &f->shadow_room, sizeof *f->shadows);

		if (err)
			return err;
		f->shadows[f->shadow_count++] = (struct shadow){0};
	}
	*ret_shadow = &f->shadows[context];
	return 0;
}

static int pop(struct following *f, struct shadow *shadow, size_t depth, uint64_t ordinal, bool open)
{
	while (shadow->depth > depth) {
		struct instance *ended = &shadow->frame[--shadow->depth];
		int err = hf_array_reserve(&f->ended, f->count + 1, &f->room, sizeof *f->ended);

		if (err)
			return err;
		ended->end = ordinal;
		ended->open = open;
		/* Of one that the last instruction made nothing was executed: it counts nowhere. */
		if (!open || ended->entry < ordinal)
			f->ended[f->count++] = *ended;
	}
	return 0;
}

static int push(struct following *f, struct shadow *shadow, uint64_t ordinal)
{
	const struct instance *below = shadow->depth ? &shadow->frame[shadow->depth - 1] : NULL;
	const struct hf_call_node *node = &f->calls->tree.nodes[f->calls->stack->frames[shadow->depth].node];
	struct instance new = {.entry = ordinal,
			       .depth = (uint32_t)shadow->depth,
			       .kind = node->kind,
			       .function = node->kind == HF_CALL_BEYOND ? HF_CALL_UNKNOWN : node->function};
	int err;

	if (below) {
		new.has_parent = true;
		new.parent = below->entry;
	}
	err = hf_array_reserve(&shadow->frame, shadow->depth + 1, &shadow->room, sizeof new);
	if (!err)
		shadow->frame[shadow->depth++] = new;
	return err;
}

/* Brings the frames of the context to those of its stack, of which the newest may have taken the place of another. */
static int follow(struct following *f, bool replaced, uint64_t ordinal)
{
	const struct hf_call_stack *stack = f->calls->stack;
	struct shadow *shadow;
	int err = stack ? shadow_of(f, f->calls->context, &shadow) : 0;

	if (err || !stack)
		return err;
	err = pop(f, shadow, stack->depth - (replaced && stack->depth), ordinal, false);
	while (!err && shadow->depth < stack->depth)
		err = push(f, shadow, ordinal);
	return err;
}

/* What the newest call went to, which may be known only behind a stub. Whether it was another one, in its place. */
static bool reach(struct following *f, uint64_t ordinal)
{
	const struct hf_call_stack *stack = f->calls->stack;
	const uint32_t node = hf_call_stack_node(stack);
	struct shadow *shadow = &f->shadows[f->calls->context];

	if (!stack->depth || hf_call_stack_is_beyond(stack))
		return false;
	if (f->calls->entered == ordinal)
		return true;
	if (node != HF_CALL_NO_NODE)
		shadow->frame[shadow->depth - 1].function = f->calls->tree.nodes[node].function;
	return false;
}

static int on_flow(void *ctx, const struct hf_event *ev, uint64_t ordinal)
{
	struct following *f = ctx;
	const bool insn = ev->kind == HF_EVENT_INSN;
	bool swap = insn && ev->insn.flow == HF_FLOW_SWAP;
	int err = f->calls->watch.flow(f->calls, ev, ordinal);

	if (!err && insn && ev->insn.flow == HF_FLOW_INDIRECT_JUMP)
		swap = reach(f, ordinal);
	return err ? err : follow(f, swap && !hf_call_stack_is_beyond(f->calls->stack), ordinal);
}

static int on_begin(void *ctx, const struct hf_ev_insn *insn, uint32_t context, uint64_t ordinal)
{
	struct following *f = ctx;
	int err = f->calls->watch.begin(f->calls, insn, context, ordinal);

	return err ? err : follow(f, false, ordinal);
}

/* ---- events ---- */

static int end_hart(struct following *f, uint64_t insns)
{
	int err = hf_run_cutter_cut(f->cutter);

	f->over = true;
	for (size_t i = 0; !err && i < f->shadow_count; i++)
		err = pop(f, &f->shadows[i], 0, insns, true);
	return err;
}

/* Events of the chunk at hand, or of the next one. */
static int read_on(struct hf_rows *rows, struct following *f)
{
	size_t n;
	int err = f->entered ? 0 : hf_cursor_enter(&f->cursor, 0, NULL);

	f->entered = true;
	if (!err && !f->cursor.left)
		err = hf_cursor_advance(&f->cursor, NULL);
	if (err == HF_NOTE_END)
		return end_hart(f, rows->hart->info.insns);
	if (err || !f->cursor.left)
		return err;
	err = hf_cursor_take(&f->cursor, f->ev, HF_CURSOR_BATCH, &n, NULL);
	return err ? err : hf_run_cutter_put(f->cutter, f->ev, n);
}

static void close_calls(struct hf_rows *rows)
{
	struct following *f = rows->own;

	for (size_t i = 0; i < f->shadow_count; i++)
		free(f->shadows[i].frame);
	free(f->shadows);
	free(f->ended);
	hf_run_cutter_free(f->cutter);
	hf_calls_free(f->calls);
	hf_cursor_fini(&f->cursor);
	free(f);
	rows->own = NULL;
}

static int open_calls(struct hf_rows *rows)
{
	const struct hf_open *open = rows->hart->open;
	struct following *f = calloc(1, sizeof *f);
	int err = f ? hf_calls_new(&hf_call_room_default, drop_stack, NULL, &f->calls) : HF_ERR_NOMEM;

	rows->own = f;
	if (!err)
		err = hf_run_cutter_new(drop_run, NULL, &f->cutter);
	if (err && f)
		close_calls(rows);
	if (err)
		return err;
	f->watch = (struct hf_run_watch){.ctx = f, .flow = on_flow, .begin = on_begin};
	hf_run_cutter_watch(f->cutter, &f->watch);
	f->cursor = (struct hf_cursor){
		.stream = open->stream, .src = open->source, .index = open->index, .hart = rows->hart->info.id};
	return 0;
}

/* ---- rows ---- */

static void put(const struct hf_rows *rows, const struct instance *call, struct hf_row *row)
{
	static const char *const kinds[HF_CALL_KINDS] = {"?", "root", "function", "trap", "interrupt"};
	const struct hf_symbols *symbols = rows->hart->symbols;
	const struct hf_symbol *symbol = symbols && call->function != HF_CALL_UNKNOWN
						 ? hf_symbols_at(symbols, call->function)
						 : NULL;
	char place[HF_OBJECT_PLACE_MAX + 1];

	hf_row_number(rows, row, ENTRY, call->entry);
	if (!call->open)
		hf_row_number(rows, row, EXIT, call->end - 1);
	if (call->function != HF_CALL_UNKNOWN)
		hf_row_number(rows, row, ADDRESS, call->function);
	if (symbol)
		hf_row_text(rows, row, NAME, symbol->name, symbol->name_size);
	else if (call->function != HF_CALL_UNKNOWN)
		hf_row_copy(rows, row, NAME, place,
			    hf_object_put_place(hf_symbols_object_at(symbols, call->function), call->function, place));
	hf_row_word(rows, row, KIND, kinds[call->kind]);
	hf_row_number(rows, row, DEPTH, call->depth);
	if (call->has_parent)
		hf_row_number(rows, row, PARENT, call->parent);
	hf_row_number(rows, row, INSTRUCTIONS, call->end - call->entry);
}

static int next_call(struct hf_rows *rows, struct hf_row *row)
{
	struct following *f = rows->own;
	int err = 0;

	if (f->next == f->count) {
		f->next = f->count = 0;
		err = f->over ? HF_NOTE_END : read_on(rows, f);
		return err ? err : HF_NOTE_MORE;
	}
	put(rows, &f->ended[f->next], row);
	err = f->ended[f->next].entry < HF_ROWS_ORDINALS ? 0 : HF_ERR_LIMIT;
	if (!err)
		err = hf_row_id(rows, row, f->ended[f->next].entry * HF_ROWS_EVENTS + f->ended[f->next].depth);
	f->next++;
	return err;
}

const struct hf_table hf_rows_of_call = {
	.name = "call",
	.flags = HF_TABLE_HART,
	.columns = columns,
	.column_count = sizeof columns / sizeof columns[0],
	.open = open_calls,
	.next = next_call,
	.close = close_calls,
};
