/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bbv.bb and bbv-*.bb: the basic-block vectors of SimPoint, a line for each interval; bbv.map: what its numbers mean.
 *
 * Blocks (bbv_blocks.h) are numbered by address, which gives the same numbers whatever the interval is, and whatever
 * modes are wanted.
 */
#include "codecs/base/number.h"
#include "codecs/base/text.h"
#include "fs/base/modes.h"
#include "fs/profile/bbv_blocks.h"
#include "fs/profile/bbv_intervals.h"
#include "fs/profile/parallel_pair.h"

#include <inttypes.h>
#include <stdlib.h>

/* Instructions of an interval: what bbv.bb has, and the fewest that may be asked for. */
#define INTERVAL UINT64_C(100000000)
#define INTERVAL_MIN 10000
/* What is counted at a time: intervals with all their blocks. */
#define CELLS (UINT64_C(1) << 22)
/* Longer ones end with a line that says so. */
#define VECTORS_MAX (UINT64_C(64) << 20)
/* SimPoint 3.2 reads no longer lines. */
#define LINE_MAX_READ 1048574

/* ---- vectors ---- */

/* Instructions of a run that lie in one block. */
struct part {
	size_t block, insns;
};

/* Counts what was executed in some intervals, on one thread. */
struct tally {
	const struct hf_bbv_blocks *blocks;
	const struct hf_modes *modes;
	const uint64_t *at; /* of the intervals */
	uint64_t count;
	uint64_t *cell;			    /* executions, by interval and block */
	size_t parts;			    /* of the run at hand: none of one that is not wanted */
	struct part part[HF_RUN_BYTES / 2]; /* no instruction is shorter */
};

static int take_run(void *ctx, const struct hf_run *run)
{
	struct tally *t = ctx;
	const struct hf_bbv_blocks *blocks = t->blocks;
	size_t block = hf_bbv_block_of(blocks, hf_bbv_pc_of(run, 0));
	uint32_t opcode;
	unsigned size;

	t->parts = 0;
	if (t->modes->named && !(t->modes->sure >> run->key.mode & 1))
		return 0;
	for (uint32_t at = 0; (size = hf_run_opcode(run, at, &opcode)); at += size) {
		while (block + 1 < blocks->count && hf_bbv_pc_of(run, at) >= blocks->start[block + 1])
			block++;
		if (!t->parts || t->part[t->parts - 1].block != block)
			t->part[t->parts++] = (struct part){.block = block};
		t->part[t->parts - 1].insns++;
	}
	return 0;
}

static int add_executions(void *ctx, uint64_t number, uint64_t count)
{
	const struct tally *t = ctx;
	uint64_t *cell = &t->cell[number * t->blocks->count];

	for (size_t i = 0; i < t->parts; i++)
		cell[t->part[i].block] += t->part[i].insns * count;
	return 0;
}

static int add_up(void *ctx)
{
	struct tally *t = ctx;
	const struct hf_intervals intervals = {
		.at = t->at, .count = t->count, .run = take_run, .put = add_executions, .ctx = t};

	return hf_bbv_each(t->blocks->of->source, &intervals);
}

struct vectors {
	const struct hf_bbv_blocks *blocks;
	const struct hf_bbv_intervals *intervals;
	uint64_t *cell; /* of the intervals at hand */
	struct hf_sink *sink;
};

/* From number first on, so many: each half of them on its own. */
static int count_intervals(const struct vectors *v, uint64_t first, uint64_t count)
{
	const uint64_t ahead = count / 2;
	struct tally *tally = malloc(2 * sizeof *tally);
	int err;

	if (!tally)
		return HF_ERR_NOMEM;
	for (int i = 0; i < 2; i++) {
		tally[i].blocks = v->blocks;
		tally[i].modes = v->intervals->modes;
		tally[i].at = &v->intervals->at[first + (i ? ahead : 0)];
		tally[i].count = i ? count - ahead : ahead;
		tally[i].cell = &v->cell[(i ? ahead : 0) * v->blocks->count];
	}
	memset(v->cell, 0, count * v->blocks->count * sizeof *v->cell);
	err = ahead ? hf_profile_parallel_pair(v->blocks->of->source, add_up, &tally[0], &tally[1]) : add_up(&tally[1]);
	free(tally);
	return err;
}

/* "T:1:20 " and ":2:5 ": faster than printf, as these are nearly all of the text. */
static void put_cell(struct hf_sink *sink, bool first, size_t block, uint64_t count)
{
	uint8_t *p = hf_sink_room(sink, 64);

	if (first)
		*p++ = 'T';
	*p++ = ':';
	p = hf_text_put_dec(p, block + 1);
	*p++ = ':';
	p = hf_text_put_dec(p, count);
	*p++ = ' ';
	sink->p = p;
}

static void put_vector(const struct vectors *v, uint64_t number, const uint64_t *cell)
{
	const uint64_t *at = &v->intervals->at[number];
	uint64_t before;
	bool first = true;

	/* Else they are all of one length. */
	if (v->intervals->modes->named)
		hf_sink_printf(v->sink, "# interval %" PRIu64 ": at/%" PRIu64 "-%" PRIu64 "\n", number, at[0],
			       at[1] - 1);
	before = hf_sink_total(v->sink);
	for (size_t i = 0; i < v->blocks->count; i++) {
		if (!cell[i])
			continue;
		put_cell(v->sink, first, i, cell[i]);
		first = false;
	}
	hf_sink_printf(v->sink, "\n");
	if (hf_sink_total(v->sink) - before > LINE_MAX_READ)
		hf_sink_printf(v->sink,
			       "# the line of interval %" PRIu64
			       " has more than %d bytes, which SimPoint 3.2 does not read\n",
			       number, LINE_MAX_READ);
}

/* As many at a time as there are cells for. */
static int put_vectors(struct vectors *v)
{
	const uint64_t room = CELLS / v->blocks->count, most = room > 1 ? room : 1, intervals = v->intervals->count;
	uint64_t done = 0;
	int err = 0;

	v->cell = malloc(most * v->blocks->count * sizeof *v->cell);
	if (!v->cell)
		return HF_ERR_NOMEM;
	while (!err && done < intervals && hf_sink_total(v->sink) < VECTORS_MAX) {
		const uint64_t n = intervals - done < most ? intervals - done : most;

		err = count_intervals(v, done, n);
		for (uint64_t i = 0; !err && i < n && hf_sink_total(v->sink) < VECTORS_MAX; i++)
			put_vector(v, done++, &v->cell[i * v->blocks->count]);
	}
	free(v->cell);
	if (!err && done < intervals)
		hf_sink_printf(v->sink,
			       "# left out: %" PRIu64 " intervals, from number %" PRIu64
			       " on, as the file is too long\n",
			       intervals - done, done);
	return err;
}

/* What was asked for: decimal, without leading zeros. False: no such interval. */
static bool read_interval(const char *text, uint64_t *ret_length)
{
	const char *end;

	*ret_length = INTERVAL;
	if (!text)
		return true;
	return *text >= '1' && *text <= '9' && strspn(text, "0123456789") == strlen(text) &&
	       hf_number_parse(text, ret_length, &end) && !*end && *ret_length >= INTERVAL_MIN;
}

static int write_vectors(const struct hf_profiled *of, const struct hf_bbv_intervals *intervals, struct hf_sink *sink)
{
	struct hf_bbv_blocks blocks;
	struct vectors vectors = {.blocks = &blocks, .intervals = intervals, .sink = sink};
	int err;

	hf_profile_put_head(of, sink);
	hf_bbv_intervals_put(intervals, sink);
	if (!intervals->count)
		return 0;
	err = hf_bbv_blocks_find(of, &blocks);
	if (err)
		return err;
	err = put_vectors(&vectors);
	hf_bbv_blocks_free(&blocks);
	return err;
}

int hf_profile_bbv(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct hf_bbv_intervals intervals;
	uint64_t length;
	int err;

	if (!read_interval(of->about, &length))
		return HF_ERR_NOT_FOUND;
	err = hf_bbv_intervals_find(of, length, &intervals);
	if (err)
		return err;
	err = write_vectors(of, &intervals, sink);
	hf_bbv_intervals_free(&intervals);
	return err ? err : sink->err;
}

/* ---- what the numbers mean ---- */

int hf_profile_bbv_map(const struct hf_profiled *of, struct hf_sink *sink)
{
	const struct hf_counts *counts = of->counts;
	struct hf_bbv_blocks blocks;
	size_t row = 0;
	int err = hf_bbv_blocks_find(of, &blocks);

	if (err)
		return err;
	hf_profile_put_head(of, sink);
	hf_sink_printf(sink, "#   id address          instructions place\n");
	for (size_t i = 0; i < blocks.count; i++) {
		uint64_t insns = 0;

		for (; row < counts->n && (i + 1 == blocks.count || counts->row[row].pc < blocks.start[i + 1]); row++)
			insns += !row || counts->row[row].pc != counts->row[row - 1].pc;
		hf_sink_printf(sink, "%6zu %016" PRIx64 " %12" PRIu64 " ", i + 1, blocks.start[i], insns);
		hf_profile_put_place(of, blocks.start[i], sink);
		hf_sink_printf(sink, "\n");
	}
	hf_bbv_blocks_free(&blocks);
	return sink->err;
}
