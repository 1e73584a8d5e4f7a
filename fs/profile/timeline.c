/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/timeline.h"
#include "fs/profile/course.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

struct making {
	const struct hf_profiled *of;
	struct hf_timeline *t;
};

/* ---- columns and ordinals ---- */

/* Most are small enough for the quicker division. */
static uint64_t start_of(uint64_t insns, uint32_t pieces, uint32_t piece)
{
	if (insns < UINT64_MAX / HF_TIMELINE_COLUMNS - 1)
		return (insns * piece + pieces - 1) / pieces;
	return (uint64_t)(((wide)insns * piece + pieces - 1) / pieces);
}

/* What is outside is at the first or the last. */
static uint32_t piece_of(const struct hf_timeline *t, uint32_t pieces, uint64_t place)
{
	const uint64_t insns = t->insns, ordinal = place > t->first ? place - t->first : 0;

	if (ordinal >= insns)
		return pieces - 1;
	if (ordinal < UINT64_MAX / HF_TIMELINE_COLUMNS)
		return (uint32_t)(ordinal * pieces / insns);
	return (uint32_t)((wide)ordinal * pieces / insns);
}

uint64_t hf_timeline_start(const struct hf_timeline *timeline, uint32_t column)
{
	return timeline->first + start_of(timeline->insns, timeline->columns, column);
}

uint64_t hf_timeline_part(const struct hf_timeline *timeline, uint32_t part)
{
	return timeline->first + start_of(timeline->insns, HF_BUSY_PARTS, part);
}

/* How much of [first, end) lies in [from, to). */
static float share(const struct hf_course_when *when, uint64_t from, uint64_t to)
{
	const uint64_t low = when->first > from ? when->first : from, high = when->end < to ? when->end : to;

	return high > low ? (float)(high - low) / (float)(when->end - when->first) : 0;
}

/* Spreads n over the columns of a row. */
static void spread(const struct hf_timeline *t, float *row, const struct hf_course_when *when, float n)
{
	const uint32_t first = piece_of(t, t->columns, when->first), last = piece_of(t, t->columns, when->end - 1);

	const bool within = when->first >= t->first && when->end <= t->first + t->insns;

	for (uint32_t c = first; c <= last; c++)
		row[c] += first == last && within ? n : n * share(when, hf_timeline_start(t, c), hf_timeline_start(t, c + 1));
}

/* ---- code ---- */

/* Spreads insns over the blocks of [first, last], by their bytes. */
static int put_range(struct hf_timeline *t, uint64_t first, uint64_t last, const struct hf_course_when *when, float insns)
{
	int err = last < first ? 0 : hf_block_map_reach(&t->code, first, last);

	if (err || last < first)
		return err;
	for (uint64_t block = first >> t->code.shift;; block++) {
		const uint64_t from = block << t->code.shift, to = from + ((UINT64_C(1) << t->code.shift) - 1);
		const uint64_t low = from > first ? from : first, high = to < last ? to : last;

		spread(t, hf_block_map_row(&t->code, block)->cell, when,
		       insns * ((float)(high - low) + 1) / ((float)(last - first) + 1));
		if (block == last >> t->code.shift)
			return 0;
	}
}

/* Whether one execution is in several blocks and columns: which instruction is where has to be looked at. */
static bool is_across(const struct hf_timeline *t, const struct hf_run *run, const struct hf_course_when *when)
{
	const uint64_t last = run->key.first + run->bytes - 1;

	return when->count == 1 && when->end - when->first == run->insns &&
	       run->key.first >> t->code.shift != last >> t->code.shift &&
	       piece_of(t, t->columns, when->first) != piece_of(t, t->columns, when->end - 1);
}

static int put_blocks(struct hf_timeline *t, const struct hf_run *run, const struct hf_course_when *when, float insns)
{
	uint64_t pc = run->key.first, ordinal = when->first;
	uint32_t opcode;
	unsigned size;
	int err = 0;

	if (!is_across(t, run, when))
		return run->bytes ? put_range(t, pc, pc + run->bytes - 1, when, insns) : 0;
	for (uint32_t at = 0; !err && (size = hf_run_opcode(run, at, &opcode)); at += size, pc += size, ordinal++)
		err = put_range(t, pc, pc + size - 1, &(struct hf_course_when){ordinal, ordinal + 1, 1}, 1);
	return err;
}

static int put_busy(const struct making *m, const struct hf_run *run, const struct hf_course_when *when, float insns)
{
	struct hf_timeline *t = m->t;
	const uint32_t first = piece_of(t, HF_BUSY_PARTS, when->first),
		       last = piece_of(t, HF_BUSY_PARTS, when->end - 1);
	int err = 0;

	for (uint32_t p = first; p <= last && !err; p++)
		err = hf_busy_put(&t->busy, m->of->symbols, run->key.first, p,
				  insns * share(when, hf_timeline_part(t, p), hf_timeline_part(t, p + 1)));
	return err;
}

static int put_code(void *ctx, const struct hf_run *run, const struct hf_course_when *when)
{
	struct making *m = ctx;
	const float insns = (float)when->count * (float)run->insns;
	int err = put_blocks(m->t, run, when, insns);

	if (run->key.mode < HF_MODE_COUNT)
		spread(m->t, m->t->mode[run->key.mode], when, insns);
	return err ? err : put_busy(m, run, when, insns);
}

/* ---- data ---- */

static int put_data(void *ctx, const struct hf_course_data *data, const struct hf_course_when *when)
{
	struct hf_timeline *t = ((struct making *)ctx)->t;
	const uint32_t first = piece_of(t, t->columns, when->first), last = piece_of(t, t->columns, when->end - 1);
	const unsigned bit = data->written ? HF_TIMELINE_WRITTEN : HF_TIMELINE_READ;
	int err = hf_block_map_reach(&t->data, data->first, data->last);

	for (uint64_t block = data->first >> t->data.shift; !err; block++) {
		float *cell = hf_block_map_row(&t->data, block)->cell;

		for (uint32_t c = first; c <= last; c++)
			cell[c] = (float)((unsigned)cell[c] | bit);
		if (block == data->last >> t->data.shift)
			break;
	}
	return err;
}

/* ---- marks ---- */

static int put_mark(void *ctx, enum hf_rare_kind kind, bool interrupt, const struct hf_course_when *when)
{
	struct hf_timeline *t = ((struct making *)ctx)->t;
	enum hf_timeline_mark mark;

	switch (kind) {
	case HF_RARE_TRAP:
		mark = interrupt ? HF_TIMELINE_INTERRUPTS : HF_TIMELINE_EXCEPTIONS;
		break;
	case HF_RARE_CONTEXT:
		mark = HF_TIMELINE_CONTEXTS;
		break;
	case HF_RARE_DISCONTINUITY:
		mark = HF_TIMELINE_JUMPS;
		break;
	case HF_RARE_GAP:
		mark = HF_TIMELINE_GAPS;
		break;
	case HF_RARE_DOUBT:
		mark = HF_TIMELINE_DOUBTS;
		break;
	default:
		return 0;
	}
	t->marks[mark] += when->count;
	spread(t, t->mark[mark], when, (float)when->count);
	return 0;
}

/* ---- depth ---- */

/* From depth_from to that ordinal it was depth_now. */
static void draw_depth(struct hf_timeline *t, uint64_t ordinal)
{
	const uint32_t first = piece_of(t, t->columns, t->depth_from);

	for (uint32_t c = first; c < t->columns && hf_timeline_start(t, c) < ordinal; c++)
		if (t->depth_now > t->depth[c])
			t->depth[c] = t->depth_now;
	if (t->depth_now > t->deepest)
		t->deepest = t->depth_now;
}

static int put_stack(void *ctx, const struct hf_course_stack *stack)
{
	struct hf_timeline *t = ((struct making *)ctx)->t;
	const uint64_t depth = (stack->count ? stack->count - 1 : 0) + stack->beyond;

	draw_depth(t, stack->ordinal);
	t->depth_from = stack->ordinal;
	t->depth_now = depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
	return 0;
}

/* ---- all of it ---- */

static int make(const struct hf_profiled *of, struct hf_timeline *t)
{
	struct making m = {.of = of, .t = t};
	const struct hf_course course = {
		.ctx = &m, .code = put_code, .data = put_data, .mark = put_mark, .stack = put_stack};
	int err;

	t->first = of->source->first;
	t->depth_from = t->first;
	t->insns = of->counts->insns;
	t->columns = t->insns < HF_TIMELINE_COLUMNS ? (uint32_t)t->insns : HF_TIMELINE_COLUMNS;
	t->columns += !t->columns;
	err = hf_block_map_init(&t->code, t->columns, true);
	if (!err)
		err = hf_block_map_init(&t->data, t->columns, false);
	if (!err)
		err = hf_profile_course(of, &course, &t->exact);
	if (err)
		return err;
	draw_depth(t, t->first + t->insns);
	hf_block_map_sort(&t->code);
	hf_block_map_sort(&t->data);
	return 0;
}

int hf_timeline_make(const struct hf_profiled *of, struct hf_timeline **ret_timeline)
{
	struct hf_timeline *t = calloc(1, sizeof *t);
	int err = t ? make(of, t) : HF_ERR_NOMEM;

	if (err)
		hf_timeline_free(t);
	*ret_timeline = err ? NULL : t;
	return err;
}

void hf_timeline_free(struct hf_timeline *timeline)
{
	if (!timeline)
		return;
	hf_block_map_free(&timeline->code);
	hf_block_map_free(&timeline->data);
	hf_busy_free(&timeline->busy);
	free(timeline);
}
