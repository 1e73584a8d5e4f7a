/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/track_source.h"
#include "codecs/base/search.h"
#include "fs/base/views.h"
#include "index/read/merge.h"
#include "index/summary/rare.h"

#include <stdlib.h>

/* ---- the merged listing ---- */

static struct hf_view_table *table_of(const struct hf_open *open)
{
	const size_t view = hf_views_merged();

	return view == HF_VIEW_COUNT ? NULL : open->table[view];
}

/* From the run on that holds an offset. */
static int begin(struct hf_open *open, bool last, struct hf_merge **ret_merge)
{
	struct hf_view_table *table = table_of(open);
	const uint64_t size = table ? hf_view_table_merged(table) : HF_NOWHERE;

	*ret_merge = NULL;
	if (size == HF_NOWHERE || !size)
		return HF_ERR_NOT_FOUND;
	return hf_view_table_merge(table, last ? size - 1 : 0, ret_merge);
}

int hf_track_span(struct hf_open *open, struct hf_track_span *ret_span)
{
	struct hf_merge_run run = {.kind = HF_MERGE_UNKNOWN};
	struct hf_merge *merge;
	uint64_t last = 0;
	int err = begin(open, true, &merge);

	while (!err && !(err = hf_merge_next(merge, &run)))
		last = run.kind == HF_MERGE_UNKNOWN ? last : run.time;
	hf_merge_free(merge);
	merge = NULL;
	if (err == HF_NOTE_END)
		err = begin(open, false, &merge);
	run.kind = HF_MERGE_UNKNOWN;
	while (!err && run.kind == HF_MERGE_UNKNOWN)
		err = hf_merge_next(merge, &run);
	hf_merge_free(merge);
	if (!err && last < run.time)
		err = HF_ERR_STATE;
	if (!err)
		*ret_span = (struct hf_track_span){run.time, last - run.time + (last - run.time < UINT64_MAX)};
	return err == HF_NOTE_END ? HF_ERR_STATE : err;
}

/* The chunk of a hart in which the last line was. */
struct place {
	uint64_t offset, size; /* in the listing */
	uint64_t ordinal, insns;
};

struct reading {
	struct hf_open *open;
	struct hf_view_chunk row;
	struct hf_chunk chunk;
};

static int enter(struct reading *r, uint32_t hart, uint64_t offset, struct place *place)
{
	int err;

	if (offset - place->offset < place->size)
		return 0;
	err = hf_view_table_chunk_of(table_of(r->open), hart, offset, &r->row);
	if (!err)
		err = hf_index_chunk(r->open->index, hart, r->row.chunk, &r->chunk);
	if (!err)
		*place = (struct place){r->row.offset, r->row.size, r->chunk.ordinal, r->chunk.insns};
	return err;
}

static int put(struct reading *r, const struct hf_merge_run *run, struct place *place, struct hf_track_axis *axis)
{
	int err = enter(r, run->hart, run->from, place);
	uint64_t ordinal;

	if (err)
		return err;
	ordinal = place->ordinal +
		  (uint64_t)((double)(run->from - place->offset) / (double)place->size * (double)place->insns);
	ordinal = ordinal < axis->ordinal ? axis->ordinal : ordinal;
	hf_track_axis_put(axis, ordinal, run->time - (run->kind == HF_MERGE_BACK && run->time));
	return 0;
}

int hf_track_axes(struct hf_open *open, const uint32_t *harts, struct hf_track_axis *const *axes, size_t count)
{
	struct place *place = calloc(count + 1, sizeof *place);
	struct reading *r = calloc(1, sizeof *r);
	struct hf_merge_run run;
	struct hf_merge *merge = NULL;
	int err = place && r ? begin(open, false, &merge) : HF_ERR_NOMEM;

	if (r)
		r->open = open;
	while (!err && !(err = hf_merge_next(merge, &run))) {
		size_t at = 0;

		while (at < count && harts[at] != run.hart)
			at++;
		if (at < count && axes[at] && run.kind != HF_MERGE_UNKNOWN)
			err = put(r, &run, &place[at], axes[at]);
	}
	hf_merge_free(merge);
	free(place);
	free(r);
	return err == HF_NOTE_END ? 0 : err;
}

/* ---- events ---- */

struct decoding {
	struct hf_track_axis *axis; /* NULL: up to the first instruction */
	struct hf_track_thread *thread;
	uint64_t ordinal;
};

static void take_context(struct hf_track_thread *thread, const struct hf_event *ev)
{
	const struct hf_ev_context *context = &ev->context;

	thread->changes |= ev->fields & HF_CONTEXT_STATE && ev->state & HF_STATE_NO_TID;
	if (!(ev->fields & HF_CONTEXT_TID))
		return;
	thread->changes |= thread->told && thread->tid != context->tid;
	thread->tid = context->tid;
	thread->pid = ev->fields & HF_CONTEXT_PID ? context->pid : thread->pid;
	thread->told++;
}

static int take_events(struct decoding *d, const struct hf_event *ev, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ev[i].kind == HF_EVENT_CONTEXT)
			take_context(d->thread, &ev[i]);
		else if (ev[i].kind == HF_EVENT_INSN && !d->axis)
			return HF_NOTE_END;
		else if (ev[i].kind == HF_EVENT_INSN)
			d->ordinal++;
		else if (ev[i].kind == HF_EVENT_TIMESTAMP && d->axis && !(ev[i].flags & (HF_EVF_NO_TIME | HF_EVF_BACK)))
			hf_track_axis_put(d->axis, d->ordinal, ev[i].time.value);
	}
	return 0;
}

static int decode(const struct hf_profiled *of, struct decoding *d)
{
	struct hf_cursor cursor = hf_profile_cursor(of->source);
	struct hf_event ev[HF_CURSOR_BATCH];
	int err = hf_cursor_enter(&cursor, 0, NULL);

	*d->thread = (struct hf_track_thread){0};
	while (!err) {
		size_t n = 0;

		if (cursor.left)
			err = hf_cursor_take(&cursor, ev, HF_CURSOR_BATCH, &n, NULL);
		else if (of->source->stop(of->source->ctx))
			err = HF_ERR_CANCELLED;
		else
			err = hf_cursor_advance(&cursor, NULL);
		if (!err)
			err = take_events(d, ev, n);
	}
	hf_cursor_fini(&cursor);
	return err == HF_NOTE_END ? 0 : err;
}

int hf_track_decode(const struct hf_profiled *of, struct hf_track_axis *axis, struct hf_track_thread *ret_thread)
{
	struct decoding d = {.axis = axis, .thread = ret_thread};

	return decode(of, &d);
}

static int count_hit(void *ctx, const struct hf_rare_hit *hit)
{
	*(uint64_t *)ctx += hit->count;
	return 0;
}

int hf_track_thread(const struct hf_profiled *of, struct hf_track_thread *ret_thread)
{
	const struct hf_rare_question question = {
		.kind = HF_RARE_CONTEXT, .detail = 1 + __builtin_ctz(HF_CONTEXT_TID), .any_value = true};
	struct decoding d = {.thread = ret_thread};
	struct hf_rare *rare = NULL;
	uint64_t told = 0;
	int err = decode(of, &d);

	if (!err)
		err = hf_rare_find(of->source->summary, of->hart, &question, &rare);
	if (!err)
		err = hf_rare_each(rare, count_hit, &told);
	hf_rare_free(rare);
	ret_thread->changes |= told != ret_thread->told;
	return err;
}
