/* SPDX-License-Identifier: Apache-2.0 */
#include "index/answer/range.h"

struct taking {
	struct hf_cursor *cursor;
	struct hf_run_cutter *cutter;
	int (*fn)(void *ctx, const struct hf_event *ev, size_t n);
	void *ctx;
	uint64_t left; /* instructions to come */
};

static int put(struct taking *t, const struct hf_event *ev, size_t n)
{
	int err = t->fn ? t->fn(t->ctx, ev, n) : 0;

	return err ? err : hf_run_cutter_put(t->cutter, ev, n);
}

/* How many of the events are before the instruction behind the last one. */
static size_t cut_off(struct taking *t, const struct hf_event *ev, size_t n, bool *ret_end)
{
	for (size_t i = 0; i < n; i++) {
		if (ev[i].kind != HF_EVENT_INSN)
			continue;
		*ret_end = !t->left;
		if (*ret_end)
			return i;
		t->left--;
	}
	return n;
}

static int take_chunk(struct taking *t, struct hf_diag *diag)
{
	struct hf_event ev[HF_CURSOR_BATCH];
	bool is_end = false;
	size_t n;
	int err = 0;

	while (!err && !is_end && t->cursor->left) {
		err = hf_cursor_take(t->cursor, ev, HF_CURSOR_BATCH, &n, diag);
		if (!err)
			err = put(t, ev, cut_off(t, ev, n, &is_end));
	}
	if (!err)
		err = hf_run_cutter_cut(t->cutter);
	return !err && is_end ? HF_NOTE_END : err;
}

/* The cursor before the first event, or behind the first instruction, which was put then. */
static int enter(struct taking *t, uint64_t first, struct hf_diag *diag)
{
	struct hf_event insn;
	int err;

	if (!first)
		return hf_cursor_enter(t->cursor, 0, diag);
	err = hf_cursor_seek(t->cursor, first, &insn, diag);
	t->left--;
	return err ? err : put(t, &insn, 1);
}

int hf_range_events(struct hf_cursor *cursor, const struct hf_insn_range *range, struct hf_run_cutter *cutter,
		    int (*fn)(void *ctx, const struct hf_event *ev, size_t n), void *ctx, struct hf_diag *diag)
{
	struct taking t = {
		.cursor = cursor, .cutter = cutter, .fn = fn, .ctx = ctx, .left = range->end - range->first};
	int err = enter(&t, range->first, diag);

	while (!err) {
		err = range->stop && range->stop(range->ctx) ? HF_ERR_CANCELLED : take_chunk(&t, diag);
		if (!err)
			err = hf_cursor_advance(cursor, diag);
	}
	if (err != HF_NOTE_END)
		return err;
	return t.left ? HF_ERR_MISMATCH : 0;
}
