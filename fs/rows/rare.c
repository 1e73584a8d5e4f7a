/* SPDX-License-Identifier: Apache-2.0 */
/* What happens between instructions: trap, context, time, gap, marker. */
#include "codecs/isa/names.h"
#include "fs/rows/events.h"
#include "index/summary/rare.h"

#include <string.h>

/* ---- trap: and returns from them ---- */

enum { TRAP_KIND = HF_AT_ORDINAL + 1, TRAP_CAUSE, TRAP_NAME, TRAP_VALUE, TRAP_HANDLER, TRAP_MODE, TRAP_VIRTUAL };

static const struct hf_column trap_columns[] = {
	HF_HART_COLUMNS,
	HF_ORDINAL_COLUMN,
	[TRAP_KIND] = {"kind", HF_COLUMN_TEXT | HF_COLUMN_ASKED | HF_COLUMN_LISTED},
	[TRAP_CAUSE] = {"cause", HF_COLUMN_ASKED | HF_COLUMN_LISTED},
	[TRAP_NAME] = {"name", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[TRAP_VALUE] = {"value", HF_COLUMN_ASKED},
	[TRAP_HANDLER] = {"handler", HF_COLUMN_ASKED},
	[TRAP_MODE] = {"mode", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[TRAP_VIRTUAL] = {"virtual", HF_COLUMN_ASKED},
};

static void put_cause(const struct hf_rows *rows, const struct hf_event *ev, struct hf_row *row)
{
	const bool interrupt = ev->flags & HF_EVF_ASYNC;
	const char *name = hf_cause_name(rows->hart->arm, interrupt, ev->trap.cause);

	hf_row_word(rows, row, TRAP_KIND, interrupt ? "interrupt" : "exception");
	hf_row_number(rows, row, TRAP_VIRTUAL, ev->flags & HF_EVF_VIRTUAL ? 1 : 0);
	if (ev->flags & HF_EVF_CAUSE) {
		hf_row_number(rows, row, TRAP_CAUSE, ev->trap.cause);
		if (name)
			hf_row_word(rows, row, TRAP_NAME, name);
	}
	if (ev->flags & HF_EVF_VALUE)
		hf_row_number(rows, row, TRAP_VALUE, ev->trap.value);
}

static bool put_trap(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row)
{
	const struct hf_event *ev = at->ev;

	if (ev->kind == HF_EVENT_TRAP)
		put_cause(rows, ev, row);
	else
		hf_row_word(rows, row, TRAP_KIND, "return");
	if (ev->flags & HF_EVF_HANDLER)
		hf_row_number(rows, row, TRAP_HANDLER, ev->trap.handler);
	if (ev->flags & HF_EVF_MODE)
		hf_row_mode(rows, row, TRAP_MODE, ev->mode);
	return true;
}

/* Of returns there is no list that a question can ask. */
static void ask_trap(const struct hf_rows *rows, struct hf_question *question)
{
	const char *kind = rows->ask->equal[TRAP_KIND];
	struct hf_find_term term = {.kind = HF_ASK_TRAP, .trap = HF_TRAP_ANY};
	int64_t first, last;

	hf_rows_range(rows, TRAP_CAUSE, &first, &last);
	if (first == last) {
		term.trap = HF_TRAP_CAUSE;
		term.cause = (uint64_t)first;
	} else if (kind && strcmp(kind, "exception") == 0) {
		term.trap = HF_TRAP_EXCEPTION;
	} else if (kind && strcmp(kind, "interrupt") == 0) {
		term.trap = HF_TRAP_INTERRUPT;
	} else if (!rows->ask->equal[TRAP_NAME] && !(rows->ask->ranged >> TRAP_CAUSE & 1)) {
		return;
	}
	question->term[question->count++] = term;
}

static const struct hf_rows_events trap_how = {
	.kinds = 1u << HF_EVENT_TRAP | 1u << HF_EVENT_TRAP_RETURN,
	.rare = 1u << HF_RARE_TRAP | 1u << HF_RARE_TRAP_RETURN,
	.put = put_trap,
	.ask = ask_trap};

HF_EVENT_TABLE(trap, HF_TABLE_RARE, trap_columns, trap_how);

/* ---- context: what holds from there on; what is not said stays ---- */

enum { HW = HF_AT_ORDINAL + 1, PID, TID, ASID, VMID, MODE, ISA, SECURE, COMM };

static const struct hf_column context_columns[] = {
	HF_HART_COLUMNS,
	HF_ORDINAL_COLUMN,
	[HW] = {"hw", HF_COLUMN_ASKED},
	[PID] = {"pid", HF_COLUMN_ASKED},
	[TID] = {"tid", HF_COLUMN_ASKED},
	[ASID] = {"asid", HF_COLUMN_ASKED},
	[VMID] = {"vmid", HF_COLUMN_ASKED},
	[MODE] = {"mode", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[ISA] = {"isa", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[SECURE] = {"secure", HF_COLUMN_ASKED},
	[COMM] = {"comm", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
};

/* The name of the thread, if the capture knows threads. */
static void put_comm(const struct hf_rows *rows, const struct hf_ev_context *context, struct hf_row *row)
{
	const struct hf_setup *setup = rows->hart->open->trace.setup;
	const char *name = setup ? hf_processes_name(setup->processes, context->pid, context->tid) : NULL;

	if (name)
		hf_row_copy(rows, row, COMM, name, strlen(name));
}

static bool put_context(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row)
{
	const struct hf_ev_context *context = &at->ev->context;
	const uint32_t fields = at->ev->fields;
	const struct {
		uint32_t field;
		unsigned column;
		uint64_t value;
	} numbers[] = {
		{HF_CONTEXT_HW, HW, context->hw},
		{HF_CONTEXT_PID, PID, context->pid},
		{HF_CONTEXT_TID, TID, context->tid},
		{HF_CONTEXT_ASID, ASID, context->asid},
		{HF_CONTEXT_VMID, VMID, context->vmid},
		{HF_CONTEXT_STATE, SECURE, at->ev->state & HF_STATE_SECURE ? 1 : 0},
	};

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (fields & numbers[i].field)
			hf_row_number(rows, row, numbers[i].column, numbers[i].value);
	if (fields & HF_CONTEXT_TID)
		put_comm(rows, context, row);
	if (fields & HF_CONTEXT_MODE)
		hf_row_mode(rows, row, MODE, context->mode);
	if (fields & HF_CONTEXT_ISA)
		hf_row_isa(rows, row, ISA, context->isa);
	return true;
}

static const struct hf_rows_events context_how = {
	.kinds = 1u << HF_EVENT_CONTEXT, .rare = 1u << HF_RARE_CONTEXT, .put = put_context};

HF_EVENT_TABLE(context, HF_TABLE_RARE, context_columns, context_how);

/* ---- time ---- */

enum { TIME_KIND = HF_AT_ORDINAL + 1, TIME_VALUE, TIME_BACK };

static const struct hf_column time_columns[] = {
	HF_HART_COLUMNS,
	HF_ORDINAL_COLUMN,
	[TIME_KIND] = {"kind", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[TIME_VALUE] = {"value", HF_COLUMN_ASKED},
	[TIME_BACK] = {"back", HF_COLUMN_ASKED},
};

static bool put_time(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row)
{
	hf_row_word(rows, row, TIME_KIND, at->ev->kind == HF_EVENT_CYCLES ? "cycles" : "time");
	if (!(at->ev->flags & HF_EVF_NO_TIME))
		hf_row_number(rows, row, TIME_VALUE, at->ev->time.value);
	if (at->ev->flags & HF_EVF_BACK)
		hf_row_number(rows, row, TIME_BACK, at->ev->time.back);
	return true;
}

static const struct hf_rows_events time_how = {
	.kinds = 1u << HF_EVENT_TIMESTAMP | 1u << HF_EVENT_CYCLES,
	.rare = 1u << HF_RARE_TIMESTAMP | 1u << HF_RARE_CYCLES,
	.put = put_time};

HF_EVENT_TABLE(time, HF_TABLE_RARE, time_columns, time_how);

/* ---- gap: also doubts, notes and discontinuities ---- */

enum { GAP_KIND = HF_AT_ORDINAL + 1, GAP_PLACE, GAP_BYTES, GAP_REASON, GAP_FROM, GAP_TO, GAP_BACK };

static const struct hf_column gap_columns[] = {
	HF_HART_COLUMNS,
	HF_ORDINAL_COLUMN,
	[GAP_KIND] = {"kind", HF_COLUMN_TEXT | HF_COLUMN_ASKED | HF_COLUMN_LISTED},
	[GAP_PLACE] = {"place", HF_COLUMN_ASKED},
	[GAP_BYTES] = {"bytes", HF_COLUMN_ASKED},
	[GAP_REASON] = {"reason", HF_COLUMN_TEXT},
	[GAP_FROM] = {"source", HF_COLUMN_ASKED},
	[GAP_TO] = {"target", HF_COLUMN_ASKED},
	[GAP_BACK] = {"back", HF_COLUMN_ASKED},
};

static void put_loss(const struct hf_rows *rows, const struct hf_event *ev, struct hf_row *row)
{
	struct hf_diag diag;
	char text[HF_DIAG_SIZE];

	hf_event_diag(ev, &diag);
	diag.offset = HF_NOWHERE;
	hf_diag_format(&diag, text, sizeof text);
	if (ev->loss.offset != HF_NOWHERE)
		hf_row_number(rows, row, GAP_PLACE, ev->loss.offset);
	hf_row_number(rows, row, GAP_BYTES, ev->loss.bytes);
	hf_row_number(rows, row, GAP_BACK, ev->back);
	hf_row_copy(rows, row, GAP_REASON, text, strlen(text));
}

static bool put_gap(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row)
{
	static const char *const kinds[HF_EVENT_KINDS] = {[HF_EVENT_GAP] = "gap",
							  [HF_EVENT_DOUBT] = "doubt",
							  [HF_EVENT_NOTE] = "note",
							  [HF_EVENT_DISCONTINUITY] = "discontinuity"};
	const struct hf_event *ev = at->ev;

	hf_row_word(rows, row, GAP_KIND,
		    ev->kind == HF_EVENT_DISCONTINUITY && ev->flags & HF_EVF_UNTRACED ? "untraced" : kinds[ev->kind]);
	if (ev->kind != HF_EVENT_DISCONTINUITY) {
		put_loss(rows, ev, row);
		return true;
	}
	if (ev->jump.from)
		hf_row_number(rows, row, GAP_FROM, ev->jump.from);
	if (ev->jump.to)
		hf_row_number(rows, row, GAP_TO, ev->jump.to);
	return true;
}

/* Of gaps there is a list that a question can ask; of notes there is none. */
static void ask_gap(const struct hf_rows *rows, struct hf_question *question)
{
	const char *kind = rows->ask->equal[GAP_KIND];

	if (kind && strcmp(kind, "gap") == 0)
		question->term[question->count++] = (struct hf_find_term){.kind = HF_ASK_GAP};
}

static const struct hf_rows_events gap_how = {.kinds = 1u << HF_EVENT_GAP | 1u << HF_EVENT_DOUBT |
						       1u << HF_EVENT_NOTE | 1u << HF_EVENT_DISCONTINUITY,
					      .put = put_gap,
					      .ask = ask_gap};

HF_EVENT_TABLE(gap, 0, gap_columns, gap_how);

/* ---- marker ---- */

enum { MARKER_TYPE = HF_AT_ORDINAL + 1, MARKER_NUMBER, MARKER_VALUE, MARKER_KIND, MARKER_PC, MARKER_TEXT };

/* So much of a text is in a row. */
#define TEXT_MAX 1024

static const struct hf_column marker_columns[] = {
	HF_HART_COLUMNS,
	HF_ORDINAL_COLUMN,
	[MARKER_TYPE] = {"type", HF_COLUMN_ASKED},
	[MARKER_NUMBER] = {"number", HF_COLUMN_ASKED},
	[MARKER_VALUE] = {"value", HF_COLUMN_ASKED},
	[MARKER_KIND] = {"kind", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[MARKER_PC] = {"pc", HF_COLUMN_ASKED},
	[MARKER_TEXT] = {"text", HF_COLUMN_TEXT},
};

static void put_text(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row)
{
	char text[TEXT_MAX];
	size_t n = 0;

	for (const struct hf_event *ev = at->ev + 1; ev < at->end && ev->kind == HF_EVENT_DATA; ev++) {
		const size_t more = ev->used < sizeof text - n ? ev->used : sizeof text - n;

		memcpy(text + n, ev->data.bytes, more);
		n += more;
	}
	hf_row_copy(rows, row, MARKER_TEXT, text, n);
}

static bool put_marker(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row)
{
	const struct hf_ev_marker *marker = &at->ev->marker;

	hf_row_word(rows, row, MARKER_KIND, hf_marker_name(at->ev->what));
	if (at->ev->what == HF_MARKER_TEXT)
		put_text(rows, at, row);
	else
		hf_row_number(rows, row, MARKER_TYPE, marker->type);
	if (!(at->ev->flags & HF_EVF_UNNUMBERED))
		hf_row_number(rows, row, MARKER_NUMBER, marker->number);
	if (at->ev->flags & HF_EVF_AT)
		hf_row_number(rows, row, MARKER_PC, marker->value);
	else if (at->ev->what != HF_MARKER_TEXT)
		hf_row_number(rows, row, MARKER_VALUE, marker->value);
	return true;
}

static const struct hf_rows_events marker_how = {
	.kinds = 1u << HF_EVENT_MARKER, .rare = 1u << HF_RARE_MARKER, .put = put_marker};

HF_EVENT_TABLE(marker, HF_TABLE_RARE, marker_columns, marker_how);
