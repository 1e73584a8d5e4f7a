/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/bbv_blocks.h"
#include "codecs/base/array.h"
#include "codecs/base/search.h"
#include "fs/stream/read_limit.h"

#include <stdlib.h>

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort(struct hf_bbv_blocks *blocks)
{
	size_t kept = 0;

	if (blocks->count)
		qsort(blocks->start, blocks->count, sizeof *blocks->start, by_address);
	for (size_t i = 0; i < blocks->count; i++)
		if (!kept || blocks->start[kept - 1] != blocks->start[i])
			blocks->start[kept++] = blocks->start[i];
	blocks->count = kept;
}

static int add(struct hf_bbv_blocks *blocks, uint64_t pc)
{
	const bool sorted = blocks->count && blocks->count == blocks->cap;

	/* The same ones come again and again. */
	if (sorted)
		sort(blocks);
	if (blocks->count == blocks->cap || (sorted && 2 * blocks->count > blocks->cap)) {
		int err = hf_array_reserve(&blocks->start, blocks->cap + 1, &blocks->cap, sizeof *blocks->start);

		if (err)
			return err;
	}
	blocks->start[blocks->count++] = pc;
	return 0;
}

static int add_entry(void *ctx, const struct hf_run *run)
{
	return run->key.entered == HF_ENTERED_SEQUENCE ? 0 : add(ctx, hf_bbv_pc_of(run, 0));
}

static int add_nothing(void *ctx, uint64_t number, uint64_t count)
{
	(void)ctx, (void)number, (void)count;
	return 0;
}

int hf_bbv_each(const struct hf_profile_source *source, const struct hf_intervals *of)
{
	struct hf_cursor cursor = hf_profile_cursor(source);
	struct hf_intervals intervals = *of;
	struct hf_read_limit limit;
	struct hf_diag diag;
	int err;

	hf_read_limit_init(&limit, source->open->source);
	limit.through = true;
	cursor.src = &limit.src;
	intervals.cursor = &cursor;
	intervals.own_source = true;
	intervals.summary = source->summary;
	intervals.stop = source->stop;
	intervals.stop_ctx = source->ctx;
	err = hf_intervals_each(&intervals, &diag);
	hf_cursor_fini(&cursor);
	return err;
}

/* Blocks without any executed instruction are none. */
static void drop_empty(struct hf_bbv_blocks *blocks)
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

int hf_bbv_blocks_find(const struct hf_profiled *of, struct hf_bbv_blocks *ret_blocks)
{
	const struct hf_counts *counts = of->counts;
	const uint64_t at[] = {of->source->first, of->source->end};
	const struct hf_intervals all = {
		.at = at, .count = 1, .entered = true, .run = add_entry, .put = add_nothing, .ctx = ret_blocks};
	int err;

	*ret_blocks = (struct hf_bbv_blocks){.of = of};
	err = hf_bbv_each(of->source, &all);
	for (size_t i = 0; i < counts->n && !err; i++) {
		const struct hf_count *row = &counts->row[i];
		const uint8_t flow = hf_profile_flow(row, of->extensions);

		if (!i || row->pc > row[-1].pc + row[-1].size)
			err = add(ret_blocks, row->pc);
		if (!err && flow != HF_FLOW_PLAIN && flow != HF_FLOW_SYNC && flow != HF_FLOW_WAIT)
			err = add(ret_blocks, row->pc + row->size);
	}
	if (err) {
		hf_bbv_blocks_free(ret_blocks);
		return err;
	}
	sort(ret_blocks);
	drop_empty(ret_blocks);
	return 0;
}

void hf_bbv_blocks_free(struct hf_bbv_blocks *blocks)
{
	free(blocks->start);
	*blocks = (struct hf_bbv_blocks){0};
}

size_t hf_bbv_block_of(const struct hf_bbv_blocks *blocks, uint64_t pc)
{
	const size_t n = HF_NUMBERS_UP_TO(blocks->start, blocks->count, pc);

	return n ? n - 1 : 0;
}
