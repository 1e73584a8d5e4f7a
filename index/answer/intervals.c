/* SPDX-License-Identifier: Apache-2.0 */
#include "index/answer/intervals.h"

#include "codecs/base/search.h"
#include "index/read/decode_index.h"

#include <stdlib.h>

/* The bounds of intervals: where one begins, and where the last one ends. */
struct limit {
	uint64_t chunk;	     /* of this instruction; at the end of the hart the number of chunks */
	uint64_t first, end; /* instructions of that chunk, if cut */
	bool cut;	     /* the bound is not at its beginning */
};

static bool stopped(const struct hf_intervals *in)
{
	return in->stop && in->stop(in->stop_ctx);
}

/* The interval with that instruction. */
static uint64_t number_of(const struct hf_intervals *in, uint64_t ordinal)
{
	return HF_NUMBERS_UP_TO(in->at + 1, in->count - 1, ordinal);
}

/* ---- by decoding ---- */

struct decoding {
	const struct hf_intervals *in;
	struct hf_run_cutter *cutter;
	uint64_t number;    /* of the present interval; HF_NOWHERE: before the first */
	uint64_t ordinal;   /* of the next instruction */
	uint64_t next, end; /* where the next interval begins; where all ends */
};

static int put_once(void *ctx, const struct hf_run *run)
{
	const struct decoding *d = ctx;
	int err = d->number == HF_NOWHERE ? 0 : d->in->run(d->in->ctx, run);

	return err || d->number == HF_NOWHERE ? err : d->in->put(d->in->ctx, d->number, 1);
}

/* At an instruction with which an interval begins. */
static int turn(struct decoding *d)
{
	int err = hf_run_cutter_cut(d->cutter);

	d->number = d->number == HF_NOWHERE ? number_of(d->in, d->ordinal) : d->number + 1;
	d->next = d->in->at[d->number + 1];
	if (d->next > d->end)
		d->next = d->end;
	return err;
}

static int put_events(struct decoding *d, const struct hf_event *ev, size_t n)
{
	size_t from = 0;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (ev[i].kind != HF_EVENT_INSN)
			continue;
		if (d->ordinal == d->next) {
			err = hf_run_cutter_put(d->cutter, &ev[from], i - from);
			from = i;
			if (d->ordinal == d->end)
				return err;
			if (!err)
				err = turn(d);
		}
		d->ordinal++;
	}
	return err ? err : hf_run_cutter_put(d->cutter, &ev[from], n - from);
}

static int decode_events(struct decoding *d, struct hf_diag *diag)
{
	struct hf_cursor *cursor = d->in->cursor;
	struct hf_event ev[HF_CURSOR_BATCH];
	size_t n;
	int err = 0;

	while (!err && d->ordinal < d->end) {
		if (cursor->left) {
			err = hf_cursor_take(cursor, ev, HF_CURSOR_BATCH, &n, diag);
			if (!err)
				err = put_events(d, ev, n);
			continue;
		}
		err = stopped(d->in) ? HF_ERR_CANCELLED : hf_cursor_advance(cursor, diag);
	}
	if (err)
		return err == HF_NOTE_END ? HF_ERR_MISMATCH : err;
	return hf_run_cutter_cut(d->cutter);
}

/* Instructions [first, end) to decode; they may be in many intervals. */
struct stretch {
	uint64_t first, end;
	uint64_t chunk; /* that begins with first; HF_NOWHERE: not known */
};

/* Goes to the first one. How it was entered only the instruction before tells: for that a whole chunk before it may be
 * decoded. */
static int go_to(const struct hf_intervals *in, struct hf_run_cutter *cutter, const struct stretch *stretch,
		 struct hf_diag *diag)
{
	struct hf_event before;
	int err;

	if (!stretch->first || (!in->entered && stretch->chunk != HF_NOWHERE))
		return hf_cursor_enter(in->cursor, stretch->first ? stretch->chunk : 0, diag);
	err = hf_cursor_seek(in->cursor, stretch->first - 1, &before, diag);
	return err ? err : hf_run_cutter_put(cutter, &before, 1);
}

static int decode(const struct hf_intervals *in, const struct stretch *stretch, struct hf_diag *diag)
{
	struct decoding d = {
		.in = in, .number = HF_NOWHERE, .ordinal = stretch->first, .next = stretch->first, .end = stretch->end};
	int err = stopped(in) ? HF_ERR_CANCELLED : hf_run_cutter_new(put_once, &d, &d.cutter);

	if (err)
		return err;
	err = go_to(in, d.cutter, stretch, diag);
	if (!err)
		err = decode_events(&d, diag);
	hf_run_cutter_free(d.cutter);
	return err;
}

/* ---- from the summary ---- */

/* Bytes for sums: so many intervals are counted at a time. */
#define SUMS_MAX (UINT64_C(64) << 20)

struct listed {
	const struct hf_intervals *in;
	const struct limit *limit;
	struct hf_summary_book book;
	uint64_t base, end;   /* intervals that are counted now */
	uint64_t low, high;   /* chunks of these */
	uint32_t *interval;   /* of each chunk from low on: its interval - base, plus 1; 0: it is cut */
	uint64_t *sums;	      /* of each run in each of these intervals */
};

static int add_postings(void *ctx, uint64_t run, const struct hf_posting *posting, size_t n)
{
	const struct listed *l = ctx;
	uint64_t *sums = &l->sums[run * (l->end - l->base)];

	if (stopped(l->in))
		return HF_ERR_CANCELLED;
	for (size_t i = 0; i < n; i++) {
		const uint32_t interval = l->interval[posting[i].chunk - l->low];

		if (interval && __builtin_add_overflow(sums[interval - 1], posting[i].count, &sums[interval - 1]))
			return HF_ERR_STATE;
	}
	return 0;
}

static int put_sums(const struct listed *l, uint64_t run)
{
	const struct hf_intervals *in = l->in;
	const uint64_t n = l->end - l->base, *sums = &l->sums[run * n];
	bool told = false;
	int err = 0;

	for (uint64_t i = 0; i < n && !err; i++) {
		if (!sums[i])
			continue;
		err = told ? 0 : !l->book.run[run].run.insns ? HF_ERR_STATE : in->run(in->ctx, &l->book.run[run].run);
		told = true;
		if (!err)
			err = in->put(in->ctx, l->base + i, sums[i]);
	}
	return err;
}

/* Finds the interval of each chunk. */
static int find_intervals(struct listed *l)
{
	l->low = l->limit[l->base].chunk + l->limit[l->base].cut;
	l->high = l->limit[l->end].chunk;
	if (l->low >= l->high)
		return 0;
	l->interval = calloc((size_t)(l->high - l->low), sizeof *l->interval);
	if (!l->interval)
		return HF_ERR_NOMEM;
	for (uint64_t i = l->base; i < l->end; i++)
		for (uint64_t chunk = l->limit[i].chunk + l->limit[i].cut; chunk < l->limit[i + 1].chunk; chunk++)
			l->interval[chunk - l->low] = (uint32_t)(i - l->base) + 1;
	return 0;
}

static int sum_up(struct listed *l)
{
	const uint64_t runs = l->book.count;
	int err = find_intervals(l);

	if (err || l->low >= l->high)
		return err;
	l->sums = calloc((size_t)(runs * (l->end - l->base) + 1), sizeof *l->sums);
	err = l->sums ? hf_summary_postings(l->in->summary, l->in->cursor->hart, l->low, l->high, NULL, add_postings, l)
		      : HF_ERR_NOMEM;
	for (uint64_t run = 0; run < runs && !err; run++)
		err = put_sums(l, run);
	free(l->sums);
	free(l->interval);
	l->interval = NULL;
	return err;
}

/* If the whole hart is one interval. */
static int put_total(void *ctx, const struct hf_summary_run *run)
{
	const struct listed *l = ctx;
	int err = stopped(l->in) ? HF_ERR_CANCELLED : l->in->run(l->in->ctx, &run->run);

	return err ? err : l->in->put(l->in->ctx, 0, run->count);
}

static int put_listed(struct listed *l, const struct hf_index_hart *hart)
{
	const struct hf_intervals *in = l->in;
	uint64_t step;
	int err;

	if (in->count == 1 && l->limit[0].chunk == 0 && !l->limit[0].cut && l->limit[1].chunk == hart->chunks)
		return hf_summary_runs(in->summary, hart->id, 0, UINT64_MAX, put_total, l);
	err = hf_summary_book_load(in->summary, hart->id, &l->book);
	step = SUMS_MAX / sizeof *l->sums / (l->book.count + 1) + 1;
	for (l->base = 0; l->base < in->count && !err; l->base = l->end) {
		l->end = in->count - l->base < step ? in->count : l->base + step;
		err = sum_up(l);
	}
	hf_summary_book_free(&l->book);
	return err;
}

static int find_limit(const struct hf_intervals *in, const struct hf_index_hart *hart, uint64_t ordinal,
		      struct limit *ret_limit)
{
	struct hf_chunk chunk;
	int err;

	*ret_limit = (struct limit){.chunk = hart->chunks};
	if (ordinal == hart->insns)
		return 0;
	err = hf_index_chunk_of(in->cursor->index, hart->id, ordinal, &chunk);
	if (err)
		return err;
	*ret_limit = (struct limit){.chunk = chunk.number,
				    .first = chunk.ordinal,
				    .end = chunk.ordinal + chunk.insns,
				    .cut = chunk.ordinal != ordinal};
	return 0;
}

static const struct hf_index_hart *find_hart(const struct hf_cursor *cursor)
{
	const struct hf_index_hart *harts;
	const size_t n = hf_index_harts(cursor->index, &harts);

	for (size_t i = 0; i < n; i++)
		if (harts[i].id == cursor->hart)
			return &harts[i];
	return NULL;
}

/* Bytes behind a chunk that decoders usually read. */
#define LOOK_AHEAD 4096

/* Sets until, so that the container need not decompress what is behind the chunk. */
static int tell_source(const struct hf_intervals *in, uint64_t chunk)
{
	const struct hf_cursor *cursor = in->cursor;
	struct hf_chunk next;
	int err = hf_index_chunk(cursor->index, cursor->hart, chunk + 1, &next);

	cursor->src->until = err ? 0 : next.stream_offset + LOOK_AHEAD;
	return err == HF_ERR_NOT_FOUND ? 0 : err;
}

/* Decodes each cut chunk, once. */
static int decode_cut(const struct hf_intervals *in, const struct limit *limit, uint64_t n, struct hf_diag *diag)
{
	int err = 0;

	for (uint64_t i = 0; i < n && !err; i++) {
		const uint64_t end = limit[i].end < in->at[in->count] ? limit[i].end : in->at[in->count];
		struct stretch stretch = {.first = limit[i].first, .end = end, .chunk = limit[i].chunk};

		if (stretch.first < in->at[0])
			stretch = (struct stretch){.first = in->at[0], .end = end, .chunk = HF_NOWHERE};
		if (!limit[i].cut || (i && limit[i - 1].cut && limit[i - 1].chunk == limit[i].chunk))
			continue;
		err = in->own_source ? tell_source(in, limit[i].chunk) : 0;
		if (!err)
			err = decode(in, &stretch, diag);
	}
	return err;
}

static int each_by_summary(const struct hf_intervals *in, struct hf_diag *diag)
{
	const struct hf_index_hart *hart = find_hart(in->cursor);
	struct listed listed = {.in = in};
	struct limit *limit = hart ? calloc(in->count + 1, sizeof *limit) : NULL;
	int err = limit ? 0 : hart ? HF_ERR_NOMEM : HF_ERR_NOT_FOUND;

	for (uint64_t i = 0; i <= in->count && !err; i++)
		err = find_limit(in, hart, in->at[i], &limit[i]);
	listed.limit = limit;
	if (!err)
		err = put_listed(&listed, hart);
	if (!err)
		err = decode_cut(in, limit, in->count + 1, diag);
	free(limit);
	return err;
}

int hf_intervals_each(const struct hf_intervals *in, struct hf_diag *diag)
{
	const struct stretch all = {.first = in->at[0], .end = in->at[in->count], .chunk = HF_NOWHERE};

	if (all.first == all.end)
		return 0;
	return in->summary ? each_by_summary(in, diag) : decode(in, &all, diag);
}
