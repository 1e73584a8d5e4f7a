/* SPDX-License-Identifier: Apache-2.0 */
#include "index/answer/timeline.h"
#include "index/summary/calls.h"

#include <stdlib.h>

struct telling {
	const struct hf_timeline_visitor *visitor;
	struct hf_calls *calls;
	struct hf_run_watch watch;
	uint64_t base;	/* the first instruction of the range */
	uint64_t insns; /* from base to the present event */
	uint64_t ran;	/* instructions of finished runs */
	bool retired;	/* accesses belong to a retired instruction */
	struct hf_call_piece pieces[HF_CALL_DEPTH + 1];
	uint32_t nodes[HF_CALL_DEPTH + 1];
};

static uint64_t ordinal_of(const struct telling *t)
{
	return t->base + (t->insns ? t->insns - 1 : 0);
}

/* ---- code ---- */

static int put_run(void *ctx, const struct hf_run *run)
{
	struct telling *t = ctx;
	const struct hf_timeline_when when = {
		.first = t->base + t->ran, .end = t->base + t->ran + run->insns, .count = 1, .chunk = HF_NOWHERE};

	t->ran += run->insns;
	return t->visitor->code ? t->visitor->code(t->visitor->ctx, run, &when, 1) : 0;
}

/* ---- stacks ---- */

/* Sets nodes to those of a stack, and returns how many. Their path is no longer than the stack has frames. */
static uint32_t nodes_of(struct telling *t, const struct hf_call_stack *stack)
{
	const struct hf_call_node *tree = t->calls->tree.nodes;
	const struct hf_call_piece *pieces = t->pieces;
	const uint32_t n = hf_call_stack_pieces(stack, t->pieces);
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t depth = 0;

		for (uint32_t k = pieces[i].node; k != HF_CALL_NO_NODE; k = tree[k].parent)
			depth++;
		count += depth;
		for (uint32_t k = pieces[i].node, at = count; k != HF_CALL_NO_NODE; k = tree[k].parent)
			t->nodes[--at] = k;
		for (uint32_t k = 0; k < pieces[i].refused; k++)
			t->nodes[count++] = HF_CALL_NO_NODE;
	}
	return count;
}

static int watch_flow(void *ctx, const struct hf_event *ev, uint64_t ordinal)
{
	struct telling *t = ctx;

	return t->calls->watch.flow(t->calls->watch.ctx, ev, ordinal);
}

static int watch_begin(void *ctx, const struct hf_ev_insn *insn, uint32_t context, uint64_t ordinal)
{
	struct telling *t = ctx;
	struct hf_timeline_stack stack = {.ordinal = t->base + ordinal, .nodes = t->nodes};
	int err = t->calls->watch.begin(t->calls->watch.ctx, insn, context, ordinal);

	if (err)
		return err;
	stack.count = nodes_of(t, t->calls->stack);
	stack.beyond = t->calls->stack->calls_beyond + t->calls->stack->traps_beyond;
	stack.so_far = t->calls->tree.nodes;
	return t->visitor->stack(t->visitor->ctx, &stack);
}

static int drop_stack(void *ctx, const struct hf_call_stack *stack)
{
	(void)ctx, (void)stack;
	return 0;
}

/* ---- events ---- */

static int put_access(struct telling *t, const struct hf_event *ev)
{
	const uint64_t first = ev->mem.address, last = first + (ev->mem.size ? ev->mem.size - 1 : 0);
	const struct hf_timeline_when when = {
		.first = ordinal_of(t), .end = ordinal_of(t) + 1, .count = 1, .chunk = HF_NOWHERE};
	/* An access that wraps around at the end of memory is rare: shown up to the end only. */
	struct hf_timeline_data data = {.first = first, .last = last < first ? UINT64_MAX : last};
	int err = 0;

	if (!t->visitor->data || !t->retired || ev->flags & HF_EVF_NO_ADDRESS)
		return 0;
	if (ev->flags & HF_EVF_READ)
		err = t->visitor->data(t->visitor->ctx, &data, &when, 1);
	data.written = true;
	if (!err && ev->flags & HF_EVF_WRITE)
		err = t->visitor->data(t->visitor->ctx, &data, &when, 1);
	return err;
}

static int put_mark(struct telling *t, enum hf_rare_kind kind, bool interrupt)
{
	const struct hf_timeline_when when = {
		.first = ordinal_of(t), .end = ordinal_of(t) + 1, .count = 1, .chunk = HF_NOWHERE};

	return t->visitor->mark ? t->visitor->mark(t->visitor->ctx, kind, interrupt, &when) : 0;
}

static int put_time(struct telling *t, const struct hf_event *ev)
{
	if (!t->visitor->time || ev->flags & (HF_EVF_NO_TIME | HF_EVF_BACK))
		return 0;
	return t->visitor->time(t->visitor->ctx, t->base + t->insns, ev->time.value);
}

static int put_event(struct telling *t, const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_INSN:
		t->insns++;
		t->retired = true;
		return 0;
	case HF_EVENT_ATTEMPT:
		t->retired = false;
		return put_mark(t, HF_RARE_ATTEMPT, false);
	case HF_EVENT_MEM:
		return put_access(t, ev);
	case HF_EVENT_TRAP:
		return put_mark(t, HF_RARE_TRAP, ev->flags & HF_EVF_ASYNC);
	case HF_EVENT_CONTEXT:
		return put_mark(t, HF_RARE_CONTEXT, false);
	case HF_EVENT_GAP:
		return put_mark(t, HF_RARE_GAP, false);
	case HF_EVENT_DOUBT:
		return put_mark(t, HF_RARE_DOUBT, false);
	case HF_EVENT_DISCONTINUITY:
		return put_mark(t, HF_RARE_DISCONTINUITY, false);
	case HF_EVENT_TIMESTAMP:
		return put_time(t, ev);
	default:
		return 0;
	}
}

/* How many of the events belong to the range. *left: its instructions to come. */
static size_t cut_off(const struct hf_event *ev, size_t n, uint64_t *left, bool *ret_end)
{
	for (size_t i = 0; i < n; i++) {
		if (ev[i].kind != HF_EVENT_INSN)
			continue;
		*ret_end = !*left;
		if (*ret_end)
			return i;
		--*left;
	}
	return n;
}

static int take_events(struct telling *t, const struct hf_event *ev, size_t n, struct hf_run_cutter *cutter)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = put_event(t, &ev[i]);
	return err ? err : hf_run_cutter_put(cutter, ev, n);
}

static int take_chunk(struct telling *t, struct hf_cursor *cursor, struct hf_run_cutter *cutter, uint64_t *left,
		      struct hf_diag *diag)
{
	struct hf_event ev[HF_CURSOR_BATCH];
	bool is_end = false;
	size_t n;
	int err = 0;

	while (!err && !is_end && cursor->left) {
		err = hf_cursor_take(cursor, ev, HF_CURSOR_BATCH, &n, diag);
		if (!err)
			err = take_events(t, ev, cut_off(ev, n, left, &is_end), cutter);
	}
	if (!err)
		err = hf_run_cutter_cut(cutter);
	return !err && is_end ? HF_NOTE_END : err;
}

/* The cursor goes before the first event, or behind the first instruction, which is handled here. */
static int enter(struct telling *t, struct hf_cursor *cursor, struct hf_run_cutter *cutter, uint64_t *left,
		 struct hf_diag *diag)
{
	struct hf_event insn;
	int err;

	if (!t->base)
		return hf_cursor_enter(cursor, 0, diag);
	err = hf_cursor_seek(cursor, t->base, &insn, diag);
	--*left;
	return err ? err : take_events(t, &insn, 1, cutter);
}

static int take_all(struct telling *t, struct hf_cursor *cursor, const struct hf_timeline_range *range,
		    struct hf_diag *diag)
{
	uint64_t left = range->end - range->first;
	struct hf_run_cutter *cutter;
	int err = hf_run_cutter_new(put_run, t, &cutter);

	if (err)
		return err;
	if (t->visitor->stack)
		hf_run_cutter_watch(cutter, &t->watch);
	err = enter(t, cursor, cutter, &left, diag);
	while (!err) {
		err = range->stop && range->stop(range->ctx) ? HF_ERR_CANCELLED
							     : take_chunk(t, cursor, cutter, &left, diag);
		if (!err)
			err = hf_cursor_advance(cursor, diag);
	}
	hf_run_cutter_free(cutter);
	return err == HF_NOTE_END ? 0 : err;
}

int hf_timeline_of_events(struct hf_cursor *cursor, const struct hf_timeline_range *range,
			  const struct hf_timeline_visitor *visitor, struct hf_diag *diag)
{
	struct telling *t = calloc(1, sizeof *t);
	int err = t ? hf_calls_new(&hf_call_room_default, drop_stack, NULL, &t->calls) : HF_ERR_NOMEM;

	if (!err) {
		t->visitor = visitor;
		t->base = range->first;
		t->watch = (struct hf_run_watch){.ctx = t, .flow = watch_flow, .begin = watch_begin};
		err = take_all(t, cursor, range, diag);
		hf_calls_free(t->calls);
	}
	free(t);
	return err;
}
