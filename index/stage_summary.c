/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up what a hart executes. It sees all events in their order, so its result does not depend on threads; when its
 * memory is full, what it has becomes rows, wherever in the hart that is.
 */
#include "index/pass_run.h"
#include "index/summary/call_write.h"
#include "index/summary/collector.h"
#include "index/summary/span.h"

#include <stdlib.h>

struct summary {
	struct hf_stage stage; /* first */
	struct hf_run_cutter *cutter;
	struct hf_tally *tally;
	struct hf_span_writer *writer;
	struct hf_call_writer *calls;
	struct hf_collector *collector;
	uint64_t insns;
};

/* Bytes of a row as far as it is in use: blobs are at the end. */
static size_t used_of(const struct hf_table *table, const void *row)
{
	const struct hf_column *last = &table->column[table->count - 1];
	uint32_t n;

	if (last->type != HF_COLUMN_BLOB)
		return table->row_size;
	memcpy(&n, (const uint8_t *)row + last->max, sizeof n);
	return last->offset + n;
}

static int push(void *ctx, const struct hf_table *table, uint64_t number, const void *row)
{
	struct summary *s = ctx;
	struct hf_pass_run *run = s->stage.run;
	const uint64_t key = table->id == HF_TABLE_HART ? run->slot : hf_row_id(run->slot, number);
	const uint64_t head[2] = {table->id, key};

	return number > HF_NUMBER_MAX
		       ? HF_ERR_LIMIT
		       : hf_pass_run_push(run, HF_ROW_SUMMARY, head, sizeof head, row, used_of(table, row));
}

static int put_run(void *ctx, const struct hf_run *run)
{
	struct summary *s = ctx;
	int err = hf_tally_put(s->tally, run);

	s->insns += run->insns;
	if (err != HF_ERR_LIMIT)
		return err;
	err = hf_span_writer_put(s->writer, s->tally);
	return err ? err : hf_tally_put(s->tally, run);
}

static int end_hart(struct summary *s, const struct hf_batch *batch)
{
	struct hf_summary_hart hart = {
		.id = s->stage.run->end.hart.id, .insns = s->insns, .chunks = batch->chunk.number + 1};
	int err = hf_span_writer_put(s->writer, s->tally);

	if (!err)
		err = hf_span_writer_end(s->writer, s->cutter, &hart);
	if (!err)
		err = hf_call_writer_end(s->calls, s->insns);
	if (!err)
		err = hf_collector_end(s->collector);
	return err ? err : push(s, &hf_table_summary_hart, 0, &hart);
}

static int work(struct hf_stage *stage, struct hf_batch *batch)
{
	struct summary *s = (struct summary *)stage;
	int err = hf_run_cutter_put_known(s->cutter, batch->ev, batch->n, batch->stretch, batch->stretch_count);

	if (!err)
		err = hf_collector_put_known(s->collector, batch->ev, batch->n, batch->stretch, batch->stretch_count);
	if (!err && batch->tail != HF_TAIL_NONE)
		err = hf_run_cutter_cut(s->cutter);
	if (!err && batch->tail != HF_TAIL_NONE)
		hf_collector_cut(s->collector);
	if (!err && batch->tail == HF_TAIL_CHUNK) {
		hf_tally_next_chunk(s->tally);
		hf_calls_next_chunk(hf_call_writer_calls(s->calls));
	}
	if (!err && batch->tail == HF_TAIL_HART)
		err = end_hart(s, batch);
	return err ? err : (int)HF_STAGE_DONE;
}

static void free_summary(struct hf_stage *stage)
{
	struct summary *s = (struct summary *)stage;

	hf_run_cutter_free(s->cutter);
	hf_tally_free(s->tally);
	hf_span_writer_free(s->writer);
	hf_call_writer_free(s->calls);
	hf_collector_free(s->collector);
	free(s);
}

static const struct hf_stage_ops ops = {.work = work, .free = free_summary};

int hf_stage_summary_add(struct hf_pass_run *run)
{
	const struct hf_tally_room *room = run->pass->build->room;
	struct summary *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return HF_ERR_NOMEM;
	s->stage.ops = &ops;
	hf_pass_run_add_stage(run, &s->stage);
	err = hf_run_cutter_new(put_run, s, &s->cutter);
	if (!err)
		err = hf_tally_new(room ? room : &hf_tally_room_default, &s->tally);
	if (!err)
		err = hf_collector_new(room && room->inverse.keys ? &room->inverse : NULL, push, s, &s->collector);
	if (!err)
		err = hf_span_writer_new(push, s, &s->writer);
	if (!err)
		err = hf_call_writer_new(run->pass->build->call_room, push, s, &s->calls);
	if (!err)
		hf_run_cutter_watch(s->cutter, &hf_call_writer_calls(s->calls)->watch);
	return err;
}
