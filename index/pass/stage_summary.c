/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the summary of a hart. It takes all events in order, so the result does not depend on threads. Whenever its
 * memory is full, what it has becomes rows.
 */
#include "index/pass/pass_run.h"
#include "index/summary/checkpoint.h"

#include <stdlib.h>

struct summary {
	struct hf_stage stage; /* first */
	struct hf_summary_makers m;
	uint64_t slot;	/* of its rows */
	uint64_t insns;
	uint64_t place; /* the first instruction of this chunk is one that it can go on from; HF_NOWHERE: there is none */
	bool resumed;	/* and from there it goes on: what is before is in there already */
	bool whole;	/* all of the hart is in there */
};

static int push(void *ctx, const struct hf_table *table, uint64_t number, const void *row)
{
	struct summary *s = ctx;
	struct hf_pass_run *run = s->stage.run;
	const uint64_t key = table->id == HF_TABLE_HART ? s->slot : hf_row_id(s->slot, number);
	const uint64_t head[2] = {table->id, key};

	return number > HF_NUMBER_MAX ? HF_ERR_LIMIT
				      : hf_pass_run_push(run, HF_ROW_SUMMARY, head, sizeof head, row, hf_row_used(table, row));
}

static int put_run(void *ctx, const struct hf_run *run)
{
	struct summary *s = ctx;
	int err = hf_run_table_put(s->m.table, run);

	s->insns += run->insns;
	if (err != HF_ERR_LIMIT)
		return err;
	err = hf_span_writer_put(s->m.spans, s->m.table);
	hf_run_table_reset(s->m.table);
	return err ? err : hf_run_table_put(s->m.table, run);
}

/* What it could go on from goes, if there is anything. */
static int drop_checkpoint(struct summary *s)
{
	const struct hf_summary_hart none = {0};
	int err;

	s->slot = HF_SLOT_CHECKPOINT;
	err = push(s, &hf_table_summary_hart, 0, &none);
	s->slot = s->stage.run->slot;
	return err;
}

static int end_hart(struct summary *s, const struct hf_batch *batch)
{
	struct hf_summary_hart hart = {
		.id = s->stage.run->end.hart.id, .insns = s->insns, .chunks = batch->chunk.number + 1};
	int err = drop_checkpoint(s);

	if (!err)
		err = hf_span_writer_put(s->m.spans, s->m.table);
	if (!err)
		err = hf_run_table_end(s->m.table);
	if (!err)
		err = hf_span_writer_end(s->m.spans, s->m.cutter, &hart);
	if (!err)
		err = hf_call_writer_end(s->m.calls, s->insns);
	if (!err)
		err = hf_collector_end(s->m.collector);
	return err ? err : push(s, &hf_table_summary_hart, 0, &hart);
}

/* Before the first instruction of the place. */
static int put_checkpoint(struct summary *s)
{
	struct hf_summary_hart hart = {.id = s->stage.run->end.hart.id, .insns = s->insns, .chunks = s->place};
	int err = hf_collector_settle(s->m.collector);

	if (err || !hf_checkpoint_is_possible(&s->m))
		return err;
	err = hf_call_writer_flush(s->m.calls);
	if (!err)
		err = drop_checkpoint(s);
	s->slot = HF_SLOT_CHECKPOINT;
	if (!err)
		err = hf_checkpoint_put(&s->m, &hart);
	if (!err)
		err = push(s, &hf_table_summary_hart, 0, &hart);
	s->slot = s->stage.run->slot;
	return err;
}

static int put(struct summary *s, const struct hf_event *ev, size_t n, const struct hf_stretch *stretch, size_t count)
{
	int err = hf_run_cutter_put_known(s->m.cutter, ev, n, stretch, count);

	return err ? err : hf_collector_put_known(s->m.collector, ev, n, stretch, count);
}

/* Of a place's chunk. What is before its first instruction was put before, if it was. */
static int put_place(struct summary *s, const struct hf_batch *batch)
{
	size_t n = 0;
	int err;

	while (n < batch->n && batch->ev[n].kind != HF_EVENT_INSN)
		n++;
	err = s->resumed ? 0 : put(s, batch->ev, n, NULL, 0);
	if (err || n == batch->n)
		return err;
	err = s->resumed ? 0 : put_checkpoint(s);
	s->resumed = false;
	s->place = HF_NOWHERE;
	return err ? err : put(s, batch->ev + n, batch->n - n, NULL, 0);
}

static int put_tail(struct summary *s, const struct hf_batch *batch)
{
	const uint64_t next = batch->chunk.number + 1;
	int err = hf_run_cutter_cut(s->m.cutter);

	if (!err)
		err = hf_run_table_cut(s->m.table);
	if (err)
		return err;
	hf_collector_cut(s->m.collector);
	s->whole = batch->tail == HF_TAIL_HART;
	if (s->whole)
		return end_hart(s, batch);
	hf_calls_next_chunk(s->m.calls->calls);
	if (next % HF_CHECKPOINT_CHUNKS == 0)
		s->place = next;
	return 0;
}

static int work(struct hf_stage *stage, struct hf_batch *batch)
{
	struct summary *s = (struct summary *)stage;
	int err;

	if (s->whole || (s->resumed && batch->chunk.number < s->place))
		return HF_STAGE_DONE;
	err = batch->chunk.number == s->place
		      ? put_place(s, batch)
		      : put(s, batch->ev, batch->n, batch->stretch, batch->stretch_count);
	/* It is a place that has none. */
	if (!err && s->resumed && batch->tail != HF_TAIL_NONE)
		err = HF_ERR_STATE;
	if (!err && batch->tail != HF_TAIL_NONE)
		err = put_tail(s, batch);
	return err ? err : (int)HF_STAGE_DONE;
}

static int resume(struct summary *s)
{
	const struct hf_pass_run *run = s->stage.run;
	struct hf_summary_part *part = &run->pass->summary;
	struct hf_summary_hart hart;
	int err = hf_summary_part_has_hart(part, run->slot);

	s->whole = err == 1;
	if (err)
		return err < 0 ? err : 0;
	/* An index that is begun has chunks from its first one on. */
	if (run->pass->index || !hf_summary_part_checkpoint(part, run->end.hart.id, &hart))
		return 0;
	s->resumed = true;
	s->place = hart.chunks;
	s->insns = hart.insns;
	return hf_checkpoint_load(&s->m, part->store, &hart);
}

static void free_summary(struct hf_stage *stage)
{
	struct summary *s = (struct summary *)stage;

	hf_run_cutter_free(s->m.cutter);
	hf_run_table_free(s->m.table);
	hf_span_writer_free(s->m.spans);
	hf_call_writer_free(s->m.calls);
	hf_collector_free(s->m.collector);
	hf_group_writer_free(s->m.groups);
	free(s);
}

static const struct hf_stage_ops ops = {.work = work, .free = free_summary};

int hf_stage_summary_add(struct hf_pass_run *run)
{
	const struct hf_run_table_room *room = run->pass->build->room;
	struct summary *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return HF_ERR_NOMEM;
	s->stage.ops = &ops;
	s->slot = run->slot;
	s->place = HF_NOWHERE;
	hf_pass_run_add_stage(run, &s->stage);
	err = hf_run_cutter_new(put_run, s, &s->m.cutter);
	if (!err)
		err = hf_group_writer_new(push, s, &s->m.groups);
	if (!err)
		err = hf_run_table_new(room ? room : &hf_run_table_room_default, s->m.groups, &s->m.table);
	if (!err)
		err = hf_collector_new(room, s->m.groups, &s->m.collector);
	if (!err)
		err = hf_span_writer_new(push, s, &s->m.spans);
	if (!err)
		err = hf_call_writer_new(run->pass->build->call_room, push, s, &s->m.calls);
	if (!err)
		hf_run_cutter_watch(s->m.cutter, &s->m.calls->calls->watch);
	return err ? err : resume(s);
}
