/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bbv.bb and bbv-*.bb: the basic-block vectors of SimPoint, a line for each interval; bbv.map: what its numbers mean.
 *
 * A block begins where a transfer led to, and behind every instruction that can be one, and ends before the next block:
 * so an instruction is in one block, and chunks do not show. Blocks are numbered by address, which gives the same
 * numbers whatever the interval is, and whatever modes are wanted.
 */
#include "codecs/base/number.h"
#include "fs/base/list.h"
#include "fs/profile/bbv_intervals.h"
#include "index/intervals.h"

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

struct blocks {
	const struct hf_profiled *of;
	uint64_t *start; /* of each block; ascending */
	size_t count, cap;
};

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort(struct blocks *blocks)
{
	size_t kept = 0;

	if (blocks->count)
		qsort(blocks->start, blocks->count, sizeof *blocks->start, by_address);
	for (size_t i = 0; i < blocks->count; i++)
		if (!kept || blocks->start[kept - 1] != blocks->start[i])
			blocks->start[kept++] = blocks->start[i];
	blocks->count = kept;
}

static int add(struct blocks *blocks, uint64_t pc)
{
	const bool sorted = blocks->count && blocks->count == blocks->cap;

	/* The same ones come again and again. */
	if (sorted)
		sort(blocks);
	if (blocks->count == blocks->cap || (sorted && 2 * blocks->count > blocks->cap)) {
		int err = hf_array_room(&blocks->start, blocks->cap, &blocks->cap, sizeof *blocks->start);

		if (err)
			return err;
	}
	blocks->start[blocks->count++] = pc;
	return 0;
}

/* As rows of the counts have it. */
static uint64_t pc_of(const struct hf_run *run, uint32_t at)
{
	const uint64_t pc = run->key.first + at;

	return run->key.isa == HF_ISA_RV32 ? (uint32_t)pc : pc;
}

static int add_entry(void *ctx, uint64_t number, const struct hf_run *run, uint64_t count)
{
	(void)number, (void)count;
	return run->key.entered == HF_ENTERED_SEQUENCE ? 0 : add(ctx, pc_of(run, 0));
}

/* Of count intervals, one in [at[i], at[i + 1]). */
static int each_run(const struct hf_profiled *of, const uint64_t *at, uint64_t count,
		    int (*put)(void *ctx, uint64_t number, const struct hf_run *run, uint64_t count), void *ctx)
{
	const struct hf_profile_source *source = of->source;
	struct hf_cursor cursor = hf_profile_cursor(source);
	const struct hf_intervals intervals = {.cursor = &cursor,
					       .summary = source->summary,
					       .at = at,
					       .count = count,
					       .stop = source->stop,
					       .stop_ctx = source->ctx,
					       .put = put,
					       .ctx = ctx};
	struct hf_diag diag;
	int err = hf_intervals_each(&intervals, &diag);

	hf_cursor_fini(&cursor);
	return err;
}

/* Blocks without any executed instruction are none. */
static void drop_empty(struct blocks *blocks)
{
	const struct hf_counts *counts = blocks->of->counts;
	size_t kept = 0, row = 0;

	for (size_t i = 0; i < blocks->count; i++) {
		while (row < counts->n && counts->row[row].pc < blocks->start[i])
			row++;
		if (row < counts->n && (i + 1 == blocks->count || counts->row[row].pc < blocks->start[i + 1]))
			blocks->start[kept++] = blocks->start[i];
	}
	blocks->count = kept;
}

static int find_blocks(const struct hf_profiled *of, struct blocks *blocks)
{
	const struct hf_counts *counts = of->counts;
	const uint64_t all[] = {of->source->first, of->source->end};
	int err;

	*blocks = (struct blocks){.of = of};
	err = each_run(of, all, 1, add_entry, blocks);
	for (size_t i = 0; i < counts->n && !err; i++) {
		const struct hf_count *row = &counts->row[i];
		const uint8_t flow = hf_profile_flow(row);

		if (!i || row->pc > row[-1].pc + row[-1].size)
			err = add(blocks, row->pc);
		if (!err && flow != HF_FLOW_PLAIN && flow != HF_FLOW_SYNC && flow != HF_FLOW_WAIT)
			err = add(blocks, row->pc + row->size);
	}
	if (err) {
		free(blocks->start);
		return err;
	}
	sort(blocks);
	drop_empty(blocks);
	return 0;
}

/* The number of the block with that instruction, from 0. */
static size_t block_of(const struct blocks *blocks, uint64_t pc)
{
	size_t low = 0, high = blocks->count;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (blocks->start[middle] <= pc)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---- vectors ---- */

struct vectors {
	const struct blocks *blocks;
	const struct hf_bbv_intervals *intervals;
	uint64_t *cell; /* executions, by interval and block */
	struct hf_sink *sink;
};

static int add_run(void *ctx, uint64_t number, const struct hf_run *run, uint64_t count)
{
	const struct vectors *v = ctx;
	const struct blocks *blocks = v->blocks;
	uint64_t *cell = &v->cell[number * blocks->count];
	size_t block = block_of(blocks, pc_of(run, 0));
	const struct hf_modes *modes = v->intervals->modes;
	uint32_t opcode;
	unsigned size;

	if (modes->named && !(modes->sure >> run->key.mode & 1))
		return 0;
	for (uint32_t at = 0; (size = hf_run_opcode(run, at, &opcode)); at += size) {
		while (block + 1 < blocks->count && pc_of(run, at) >= blocks->start[block + 1])
			block++;
		cell[block] += count;
	}
	return 0;
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
		hf_sink_printf(v->sink, "%s:%zu:%" PRIu64 " ", first ? "T" : "", i + 1, cell[i]);
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

		memset(v->cell, 0, n * v->blocks->count * sizeof *v->cell);
		err = each_run(v->blocks->of, &v->intervals->at[done], n, add_run, v);
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
	struct blocks blocks;
	struct vectors vectors = {.blocks = &blocks, .intervals = intervals, .sink = sink};
	int err;

	hf_profile_put_head(of, sink);
	hf_bbv_intervals_put(intervals, sink);
	if (!intervals->count)
		return 0;
	err = find_blocks(of, &blocks);
	if (err)
		return err;
	err = put_vectors(&vectors);
	free(blocks.start);
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
	struct blocks blocks;
	size_t row = 0;
	int err = find_blocks(of, &blocks);

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
	free(blocks.start);
	return sink->err;
}
