/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/array.h"
#include "index/answer/counts.h"
#include "codecs/base/errors.h"
#include "index/answer/intervals.h"
#include "index/summary/calls.h"

#include <stdlib.h>
#include <string.h>

static bool is_row(const struct hf_count *row, uint64_t pc, uint32_t opcode, unsigned size, uint8_t isa)
{
	return row->pc == pc && row->opcode == opcode && row->size == size && row->isa == isa;
}

/* Finds or adds the row of an instruction. */
static int find_row(struct hf_counts *counts, uint64_t pc, uint32_t opcode, unsigned size, uint8_t isa,
		    struct hf_count **ret_row)
{
	const uint32_t hash = hf_hash_of(pc, opcode);
	int err;

	HF_HASH_EACH(&counts->map, hash, i)
	if (is_row(*ret_row = &counts->row[i], pc, opcode, size, isa))
		return 0;
	err = counts->n < HF_COUNTS_MAX ? hf_hash_map_add_row(&counts->map, hash, &counts->row, sizeof *counts->row)
					: HF_ERR_COUNTS_LIMIT;
	if (err)
		return err;
	*ret_row = &counts->row[counts->n++];
	**ret_row = (struct hf_count){.pc = pc, .opcode = opcode, .size = (uint8_t)size, .isa = isa};
	return 0;
}

int hf_counts_add(struct hf_counts *counts, const struct hf_run *run, uint64_t count)
{
	const bool narrow = run->key.isa == HF_ISA_RV32;
	struct hf_count *row = NULL;
	uint64_t insns;
	uint32_t opcode;
	unsigned size;

	if (__builtin_mul_overflow(count, run->insns, &insns) ||
	    __builtin_add_overflow(counts->insns, insns, &counts->insns))
		return HF_ERR_STATE;
	for (uint32_t at = 0; (size = hf_run_opcode(run, at, &opcode)); at += size) {
		const uint64_t pc = run->key.first + at;
		int err = find_row(counts, narrow ? (uint32_t)pc : pc, opcode, size, run->key.isa, &row);

		if (err)
			return err;
		row->count += count;
	}
	if (row && run->key.ended == HF_ENDED_TAKEN)
		row->taken += count;
	if (row && run->key.ended == HF_ENDED_LOSS)
		row->open += count;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct hf_count *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	if (x->opcode != y->opcode)
		return x->opcode < y->opcode ? -1 : 1;
	return x->isa != y->isa ? (x->isa < y->isa ? -1 : 1) : x->size - y->size;
}

void hf_counts_end(struct hf_counts *counts)
{
	hf_hash_map_free(&counts->map);
	hf_array_fit(&counts->row, counts->n, sizeof *counts->row);
	if (counts->n)
		qsort(counts->row, counts->n, sizeof *counts->row, compare);
}

void hf_counts_free(struct hf_counts *counts)
{
	free(counts->row);
	hf_hash_map_free(&counts->map);
	*counts = (struct hf_counts){0};
}

static int end(struct hf_counts *counts, int err)
{
	if (err)
		hf_counts_free(counts);
	else
		hf_counts_end(counts);
	return err;
}

/* ---- from a summary ---- */

static int add_run(void *ctx, const struct hf_summary_run *run)
{
	return hf_counts_add(ctx, &run->run, run->count);
}

int hf_counts_of_summary(struct hf_summary *summary, uint32_t hart, struct hf_counts *ret_counts)
{
	*ret_counts = (struct hf_counts){0};
	return end(ret_counts, hf_summary_runs(summary, hart, 0, UINT64_MAX, add_run, ret_counts));
}

struct adding {
	struct hf_counts *counts;
	const struct hf_run *run;
};

static int take_run(void *ctx, const struct hf_run *run)
{
	((struct adding *)ctx)->run = run;
	return 0;
}

static int add_of_interval(void *ctx, uint64_t number, uint64_t count)
{
	const struct adding *adding = ctx;

	(void)number;
	return hf_counts_add(adding->counts, adding->run, count);
}

int hf_counts_of_range(struct hf_cursor *cursor, struct hf_summary *summary, const struct hf_insn_range *range,
		       struct hf_counts *ret_counts, struct hf_diag *diag)
{
	const uint64_t at[] = {range->first, range->end};
	struct adding adding = {.counts = ret_counts};
	const struct hf_intervals all = {.cursor = cursor,
					 .summary = summary,
					 .at = at,
					 .count = 1,
					 .stop = range->stop,
					 .stop_ctx = range->ctx,
					 .run = take_run,
					 .put = add_of_interval,
					 .ctx = &adding};

	*ret_counts = (struct hf_counts){0};
	return end(ret_counts, hf_intervals_each(&all, diag));
}

/* ---- from events ---- */

static int add_once(void *ctx, const struct hf_run *run)
{
	return hf_counts_add(ctx, run, 1);
}

static int drop_stack(void *ctx, const struct hf_call_stack *stack)
{
	(void)ctx, (void)stack;
	return 0;
}

int hf_counts_of_events(struct hf_cursor *cursor, const struct hf_insn_range *range, struct hf_counts *ret_counts,
			struct hf_summary_tree **ret_tree, struct hf_diag *diag)
{
	struct hf_run_context *contexts = NULL;
	struct hf_run_cutter *cutter;
	struct hf_calls *calls;
	size_t count = 0;
	int err = hf_calls_new(&hf_call_room_default, drop_stack, NULL, &calls);

	*ret_counts = (struct hf_counts){0};
	*ret_tree = NULL;
	if (err)
		return err;
	err = hf_run_cutter_new(add_once, ret_counts, &cutter);
	if (!err) {
		hf_run_cutter_watch(cutter, &calls->watch);
		err = hf_range_events(cursor, range, cutter, NULL, NULL, diag);
		contexts = cutter->contexts;
		count = cutter->context_count;
		cutter->contexts = NULL;
		cutter->context_count = 0;
		hf_run_cutter_free(cutter);
	}
	if (!err)
		err = hf_calls_end(calls, ret_counts->insns);
	if (!err)
		err = hf_summary_tree_of(calls, cursor->hart, ret_counts->insns, ret_tree);
	hf_calls_free(calls);
	if (*ret_tree) {
		(*ret_tree)->contexts = contexts;
		(*ret_tree)->context_count = count;
	} else {
		free(contexts);
	}
	return end(ret_counts, err);
}
