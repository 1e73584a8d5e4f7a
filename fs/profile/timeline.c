/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/timeline.h"
#include "codecs/base/search.h"
#include "fs/profile/parallel_pair.h"
#include "fs/profile/timeline_source.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

/* The columns or parts in which something is. */
struct span {
	uint16_t first, last;
	bool whole; /* all of it in the first */
};

/* Where something is, in columns and in parts. Of each chunk it is found out once. */
struct spot {
	struct span columns, parts;
	bool known;
};

struct making {
	const struct hf_profiled *of;
	const struct hf_timeline_plan *plan; /* or NULL */
	struct hf_timeline *t;
	struct spot *spot; /* of each chunk of the hart */
	uint64_t chunks;
};

/* ---- columns and ordinals ---- */

static void cut_axis(const struct hf_timeline *t, uint32_t pieces, struct hf_timeline_axis *axis)
{
	axis->pieces = pieces;
	axis->scale = t->insns ? (double)pieces / (double)t->insns : 0;
	for (uint32_t i = 0; i <= pieces; i++)
		axis->start[i] = t->first + (uint64_t)(((wide)t->insns * i + pieces - 1) / pieces);
}

/* What is outside is at the first or the last. The guess is off by one at most, unless there are more pieces than
 * instructions. */
static uint32_t piece_of(const struct hf_timeline_axis *axis, uint64_t ordinal)
{
	const uint64_t *start = axis->start;
	uint32_t piece;

	if (ordinal >= start[axis->pieces])
		return axis->pieces - 1;
	if (ordinal <= start[0] && axis->scale > 0)
		return 0;
	if (axis->scale <= 0) {
		const size_t begun = HF_NUMBERS_UP_TO(start, axis->pieces, ordinal);

		return begun ? (uint32_t)begun - 1 : 0;
	}
	piece = (uint32_t)((double)(ordinal - start[0]) * axis->scale);
	piece = piece < axis->pieces ? piece : axis->pieces - 1;
	while (start[piece] > ordinal)
		piece--;
	while (start[piece + 1] <= ordinal)
		piece++;
	return piece;
}

static struct span span_of(const struct hf_timeline_axis *axis, const struct hf_timeline_when *when)
{
	const uint32_t first = piece_of(axis, when->first);
	const bool ends = when->end <= axis->start[first + 1];

	return (struct span){.first = (uint16_t)first,
			     .last = (uint16_t)(ends ? first : piece_of(axis, when->end - 1)),
			     .whole = ends && when->first >= axis->start[first]};
}

static inline const struct spot *spot_of(const struct making *m, const struct hf_timeline_when *when, struct spot *room)
{
	struct spot *spot = when->chunk < m->chunks ? &m->spot[when->chunk] : room;

	if (spot == room || !spot->known)
		*spot = (struct spot){
			.columns = span_of(&m->t->column, when), .parts = span_of(&m->t->part, when), .known = true};
	return spot;
}

/* How much of [first, end) lies in [from, to). */
static float share(const struct hf_timeline_when *when, uint64_t from, uint64_t to)
{
	const uint64_t low = when->first > from ? when->first : from, high = when->end < to ? when->end : to;

	return high > low ? (float)(high - low) / (float)(when->end - when->first) : 0;
}

/* Spreads n over the pieces of a row. */
static inline void spread(const struct hf_timeline_axis *axis, float *row, const struct hf_timeline_when *when,
			  const struct span *span, float n)
{
	if (span->whole)
		row[span->first] += n;
	else
		for (uint32_t i = span->first; i <= span->last; i++)
			row[i] += n * share(when, axis->start[i], axis->start[i + 1]);
}

/* ---- code ---- */

/* Executions of a run. */
struct executions {
	const struct hf_timeline_when *when;
	size_t n;
	float insns[HF_TIMELINE_BATCH];	     /* of each */
	struct spot spot[HF_TIMELINE_BATCH]; /* of each */
};

/* Spreads some of them over the blocks of [first, last], by their bytes. */
static int put_range(struct hf_timeline *t, uint64_t first, uint64_t last, const struct executions *of, size_t from,
		     size_t to)
{
	int err = last < first ? 0 : hf_block_map_reach(&t->code, first, last);

	if (err || last < first)
		return err;
	for (uint64_t block = first >> t->code.shift;; block++) {
		const uint64_t start = block << t->code.shift, end = start + ((UINT64_C(1) << t->code.shift) - 1);
		const uint64_t low = start > first ? start : first, high = end < last ? end : last;
		const float part = (float)(high - low) + 1, all = (float)(last - first) + 1;
		float *cell = hf_block_map_row(&t->code, block)->cell;

		for (size_t i = from; i < to; i++)
			spread(&t->column, cell, &of->when[i], &of->spot[i].columns, of->insns[i] * part / all);
		if (block == last >> t->code.shift)
			return 0;
	}
}

/* Whether one execution is in several blocks and columns: which instruction is where has to be looked at. */
static bool is_across(const struct hf_timeline *t, const struct hf_run *run, const struct hf_timeline_when *when,
		      const struct span *columns)
{
	const uint64_t last = run->key.first + run->bytes - 1;

	return when->count == 1 && when->end - when->first == run->insns && columns->first != columns->last &&
	       run->key.first >> t->code.shift != last >> t->code.shift;
}

static int put_each_instruction(struct hf_timeline *t, const struct hf_run *run, uint64_t ordinal)
{
	struct executions one = {.n = 1, .insns = {1}};
	uint64_t pc = run->key.first;
	uint32_t opcode;
	unsigned size;
	int err = 0;

	for (uint32_t at = 0; !err && (size = hf_run_opcode(run, at, &opcode)); at += size, pc += size, ordinal++) {
		const struct hf_timeline_when when = {ordinal, ordinal + 1, 1, HF_NOWHERE};

		one.when = &when;
		one.spot[0].columns = span_of(&t->column, &when);
		err = put_range(t, pc, pc + size - 1, &one, 0, 1);
	}
	return err;
}

static int put_blocks(struct hf_timeline *t, const struct hf_run *run, const struct executions *of)
{
	const uint64_t pc = run->key.first, last = pc + run->bytes - 1;
	int err = 0;

	if (!run->bytes)
		return 0;
	/* Most lie in one, and stay there. */
	if (pc >> t->code.shift == last >> t->code.shift)
		return put_range(t, pc, last, of, 0, of->n);
	for (size_t i = 0, from; i < of->n && !err;) {
		for (from = i; i < of->n && !is_across(t, run, &of->when[i], &of->spot[i].columns);)
			i++;
		if (from < i)
			err = put_range(t, pc, last, of, from, i);
		if (!err && i < of->n)
			err = put_each_instruction(t, run, of->when[i++].first);
	}
	return err;
}

static void put_kinds(const struct making *m, struct hf_hottest_function *function, const struct executions *of)
{
	if (function && function->all <= 0)
		function->kind = m->plan->kind(m->plan->ctx, function);
	for (size_t i = 0; i < of->n; i++)
		spread(&m->t->column, m->t->kind[function ? function->kind : 0], &of->when[i], &of->spot[i].columns, of->insns[i]);
}

static int put_busy(const struct making *m, const struct hf_run *run, const struct executions *of)
{
	const struct hf_timeline_axis *part = &m->t->part;
	struct hf_hottest_function *function;
	float all;
	int err = hf_hottest_find(&m->t->hottest, m->of->symbols, run->key.first, &function);

	if (!err && m->plan)
		put_kinds(m, function, of);
	if (err || !function)
		return err;
	all = function->all;
	for (size_t i = 0; i < of->n; i++) {
		const struct hf_timeline_when *when = &of->when[i];
		const struct span span = of->spot[i].parts;

		for (uint32_t p = span.first; p <= span.last; p++) {
			const float insns = span.whole ? of->insns[i]
						       : of->insns[i] * share(when, part->start[p], part->start[p + 1]);

			all += insns;
			function->part[p] += insns;
		}
	}
	function->all = all;
	return 0;
}

static int put_code(void *ctx, const struct hf_run *run, const struct hf_timeline_when *when, size_t n)
{
	struct making *m = ctx;
	struct hf_timeline *t = m->t;
	struct executions of;
	struct spot room;
	int err;

	of.when = when;
	of.n = n;
	for (size_t i = 0; i < n; i++) {
		of.insns[i] = (float)when[i].count * (float)run->insns;
		of.spot[i] = *spot_of(m, &when[i], &room);
	}
	err = m->plan ? 0 : put_blocks(t, run, &of);
	for (size_t i = 0; i < n && run->key.mode < HF_MODE_COUNT; i++)
		spread(&t->column, t->mode[run->key.mode], &when[i], &of.spot[i].columns, of.insns[i]);
	return err ? err : put_busy(m, run, &of);
}

/* ---- data ---- */

static unsigned bit_of(const struct hf_timeline_data *data)
{
	return data->written ? HF_TIMELINE_WRITTEN : HF_TIMELINE_READ;
}

static int put_data(void *ctx, const struct hf_timeline_data *data, const struct hf_timeline_when *when, size_t n)
{
	const struct making *m = ctx;
	struct hf_timeline *t = m->t;
	const unsigned bit = bit_of(data);
	struct spot room;
	int err = hf_block_map_reach(&t->data, data->first, data->last);

	for (uint64_t block = data->first >> t->data.shift; !err; block++) {
		float *cell = hf_block_map_row(&t->data, block)->cell;

		for (size_t i = 0; i < n; i++) {
			const struct span *columns = &spot_of(m, &when[i], &room)->columns;

			for (uint32_t c = columns->first; c <= columns->last; c++)
				cell[c] = (float)((unsigned)cell[c] | bit);
		}
		if (block == data->last >> t->data.shift)
			break;
	}
	return err;
}

/* ---- marks ---- */

static int put_mark(void *ctx, enum hf_rare_kind kind, bool interrupt, const struct hf_timeline_when *when)
{
	struct hf_timeline *t = ((struct making *)ctx)->t;
	const struct span columns = span_of(&t->column, when);
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
	spread(&t->column, t->mark[mark], when, &columns, (float)when->count);
	return 0;
}

/* ---- depth ---- */

/* From depth_from to that ordinal it was depth_now. */
static void draw_depth(struct hf_timeline *t, uint64_t ordinal)
{
	const uint32_t first = piece_of(&t->column, t->depth_from);

	for (uint32_t c = first; c < t->columns && t->column.start[c] < ordinal; c++)
		if (t->depth_now > t->depth[c])
			t->depth[c] = t->depth_now;
	if (t->depth_now > t->deepest)
		t->deepest = t->depth_now;
}

static int put_stack(void *ctx, const struct hf_timeline_stack *stack)
{
	struct hf_timeline *t = ((struct making *)ctx)->t;
	const uint64_t depth = (stack->count ? stack->count - 1 : 0) + stack->beyond;

	draw_depth(t, stack->ordinal);
	t->depth_from = stack->ordinal;
	t->depth_now = depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
	return 0;
}

/* ---- all of it ---- */

static uint64_t count_chunks(const struct hf_profiled *of)
{
	const struct hf_index_hart *harts;
	const size_t n = hf_index_harts(of->source->open->index, &harts);

	for (size_t i = 0; i < n; i++)
		if (harts[i].id == of->hart)
			return harts[i].chunks;
	return 0;
}

/* What a picture takes of the timeline. */
struct part {
	const struct hf_profiled *of;
	const struct hf_timeline_plan *plan;
	struct hf_timeline *t;
	bool data, others;
};

static int take_part(void *ctx)
{
	const struct part *part = ctx;
	struct making m = {.of = part->of, .plan = part->plan, .t = part->t, .chunks = count_chunks(part->of)};
	const struct hf_timeline_visitor visitor = {.ctx = &m,
						    .code = part->others ? put_code : NULL,
						    .data = part->data ? put_data : NULL,
						    .mark = part->others ? put_mark : NULL,
						    .stack = part->others && !part->plan ? put_stack : NULL};
	int err;

	m.spot = calloc((size_t)m.chunks + 1, sizeof *m.spot);
	err = m.spot ? hf_profile_timeline(part->of, &visitor) : HF_ERR_NOMEM;
	free(m.spot);
	return err;
}

/* Of a summary half of it is what memory was accessed, which nothing else is about; events are decoded only once. */
static int take_course(const struct hf_profiled *of, const struct hf_timeline_plan *plan, struct hf_timeline *t)
{
	struct part all = {.of = of, .plan = plan, .t = t, .data = !plan, .others = true}, data = all;

	if (t->exact || plan)
		return take_part(&all);
	all.data = data.others = false;
	return hf_profile_parallel_pair(of->source, take_part, &all, &data);
}

static int make_planned(const struct hf_profiled *of, const struct hf_timeline_plan *plan, struct hf_timeline *t)
{
	t->column = *plan->column;
	t->part = *plan->part;
	t->columns = t->column.pieces;
	return take_course(of, plan, t);
}

static int make(const struct hf_profiled *of, const struct hf_timeline_plan *plan, struct hf_timeline *t)
{
	int err;

	t->exact = hf_profile_timeline_is_exact(of);
	t->first = of->source->first;
	t->depth_from = t->first;
	t->insns = of->counts->insns;
	if (plan)
		return make_planned(of, plan, t);
	t->columns = t->insns < HF_TIMELINE_COLUMNS ? (uint32_t)t->insns : HF_TIMELINE_COLUMNS;
	t->columns += !t->columns;
	cut_axis(t, t->columns, &t->column);
	cut_axis(t, HF_HOTTEST_PARTS, &t->part);
	err = hf_block_map_init(&t->code, t->columns, true);
	if (!err)
		err = hf_block_map_init(&t->data, t->columns, false);
	if (!err)
		err = take_course(of, NULL, t);
	if (err)
		return err;
	draw_depth(t, t->first + t->insns);
	hf_block_map_sort(&t->code);
	hf_block_map_sort(&t->data);
	return 0;
}

int hf_timeline_make(const struct hf_profiled *of, const struct hf_timeline_plan *plan, struct hf_timeline **ret_timeline)
{
	struct hf_timeline *t = calloc(1, sizeof *t);
	int err = t ? make(of, plan, t) : HF_ERR_NOMEM;

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
	hf_hottest_free(&timeline->hottest);
	free(timeline);
}
