/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the summary of a hart. It takes all events in order, so the result does not depend on threads. Whenever its
 * memory is full, what it has becomes rows.
 */
#include "index/pass/pass_run.h"
#include "index/summary/call_write.h"
#include "index/summary/collector.h"
#include "index/summary/span.h"

#include <stdlib.h>

struct summary {
	struct hf_stage stage; /* first */
	struct hf_run_cutter *cutter;
	struct hf_run_table *table;
	struct hf_span_writer *writer;
	struct hf_group_writer *groups;
	struct hf_call_writer *calls;
	struct hf_collector *collector;
	uint64_t insns;
	struct hf_summary_place place; /* where it is */
	struct hf_summary_place known; /* all before this is in it already */
	bool joined;		       /* it has reached known */
	bool whole;		       /* all of the hart is in it already */
	bool failed;		       /* its state is of no use: */
	bool left;		       /*   it could not be resumed */
};

static int push(void *ctx, const struct hf_table *table, uint64_t number, const void *row)
{
	struct summary *s = ctx;
	struct hf_pass_run *run = s->stage.run;
	const uint64_t key = table->id == HF_TABLE_HART ? run->slot : hf_row_id(run->slot, number);
	const uint64_t head[2] = {table->id, key};

	return number > HF_NUMBER_MAX ? HF_ERR_LIMIT
				      : hf_pass_run_push_summed(run, head, sizeof head, row, hf_row_used(table, row));
}

static int put_run(void *ctx, const struct hf_run *run)
{
	struct summary *s = ctx;
	int err = hf_run_table_put(s->table, run);

	s->insns += run->insns;
	if (err != HF_ERR_LIMIT)
		return err;
	err = hf_span_writer_put(s->writer, s->table);
	return err ? err : hf_run_table_put(s->table, run);
}

static int end_hart(struct summary *s, const struct hf_batch *batch)
{
	struct hf_summary_hart hart = {
		.id = s->stage.run->end.hart.id, .insns = s->insns, .chunks = batch->chunk.number + 1};
	int err = hf_span_writer_put(s->writer, s->table);

	if (!err)
		err = hf_run_table_end(s->table);
	if (!err)
		err = hf_span_writer_end(s->writer, s->cutter, &hart);
	if (!err)
		err = hf_call_writer_end(s->calls, s->insns);
	if (!err)
		err = hf_collector_end(s->collector);
	return err ? err : push(s, &hf_table_summary_hart, 0, &hart);
}

static int put_batch(struct summary *s, const struct hf_batch *batch)
{
	int err = hf_run_cutter_put_known(s->cutter, batch->ev, batch->n, batch->stretch, batch->stretch_count);

	if (!err)
		err = hf_collector_put_known(s->collector, batch->ev, batch->n, batch->stretch, batch->stretch_count);
	if (!err && batch->tail != HF_TAIL_NONE)
		err = hf_run_cutter_cut(s->cutter);
	if (!err && batch->tail != HF_TAIL_NONE)
		err = hf_run_table_cut(s->table);
	if (!err && batch->tail != HF_TAIL_NONE)
		hf_collector_cut(s->collector);
	if (!err && batch->tail == HF_TAIL_CHUNK)
		hf_calls_next_chunk(hf_call_writer_calls(s->calls));
	return !err && batch->tail == HF_TAIL_HART ? end_hart(s, batch) : err;
}

/* Before a batch. A chunk always has the same batches, so a place is between two of them. */
static void meet(struct hf_summary_place *place, const struct hf_batch *batch)
{
	if (batch->chunk.number != place->chunk)
		place->events = 0;
	place->chunk = batch->chunk.number;
}

static void go_on(struct hf_summary_place *place, const struct hf_batch *batch)
{
	place->events += batch->n;
	if (batch->tail != HF_TAIL_CHUNK)
		return;
	place->before += place->events;
	place->events = 0;
	place->chunk++;
}

static bool is_before(const struct hf_summary_place *a, const struct hf_summary_place *b)
{
	return a->chunk < b->chunk || (a->chunk == b->chunk && a->events < b->events);
}

static bool is_same(const struct hf_summary_place *a, const struct hf_summary_place *b)
{
	return a->chunk == b->chunk && a->events == b->events && a->before == b->before;
}

/* Whether the batch is before known. Chunks may differ from the earlier build's: where the limit on bytes ends them, a
 * decoder that was entered elsewhere may be a few bytes off. */
static bool is_known(struct summary *s, const struct hf_batch *batch)
{
	if (s->joined)
		return false;
	if (is_before(&s->place, &s->known)) {
		s->left = batch->tail == HF_TAIL_HART;
		return true;
	}
	s->joined = is_same(&s->place, &s->known);
	s->left = !s->joined;
	return s->left;
}

static int work(struct hf_stage *stage, struct hf_batch *batch)
{
	struct summary *s = (struct summary *)stage;
	int err = 0;

	if (s->whole || s->left)
		return HF_STAGE_DONE;
	meet(&s->place, batch);
	if (!is_known(s, batch)) {
		err = put_batch(s, batch);
		s->whole = batch->tail == HF_TAIL_HART;
	}
	go_on(&s->place, batch);
	s->failed = err < 0 || s->left;
	/* For a published index this was checked before. */
	if (s->left && !stage->run->pass->index)
		err = HF_ERR_STATE;
	return err ? err : (int)HF_STAGE_DONE;
}

/* ---- to a file and back ---- */

static void keep_all(void *ctx, struct hf_keep *k)
{
	struct summary *s = ctx;

	HF_KEEP(k, s->insns, HF_COUNT_MAX);
	hf_run_cutter_keep(s->cutter, k);
	hf_run_table_keep(s->table, k);
	hf_span_writer_keep(s->writer, k);
	hf_call_writer_keep(s->calls, s->place.chunk + 1, k);
	hf_collector_keep(s->collector, k);
}

/* Stores the state behind the rows pushed so far. For a finished hart the rows are all. */
static int keep(struct hf_stage *stage, bool end)
{
	struct summary *s = (struct summary *)stage;
	struct hf_pass *pass = stage->run->pass;
	int err = hf_pass_write_summary(stage->run);

	if (err)
		return err;
	if (s->left)
		hf_pass_leave_summary(pass);
	if (end || s->failed || s->whole || !s->joined || !pass->summary.store)
		return 0;
	s->place.slot = stage->run->slot;
	hf_summary_part_keep(&pass->summary, &s->place, keep_all, s);
	return 0;
}

static int resume(struct summary *s, uint64_t before)
{
	struct hf_pass_run *run = s->stage.run;
	struct hf_summary_part *part = &run->pass->summary;
	int err = hf_summary_part_has_hart(part, run->slot);

	s->whole = err == 1;
	if (err)
		return err < 0 ? err : 0;
	if (part->has_state && part->place.slot == run->slot)
		s->known = part->place;
	/* The number of chunks that may wait for their stacks is bounded. */
	s->place.chunk = s->known.chunk;
	err = hf_summary_part_load(part, run->slot, keep_all, s);
	s->place = (struct hf_summary_place){.before = before};
	return err == HF_NOTE_END ? 0 : err;
}

static void free_summary(struct hf_stage *stage)
{
	struct summary *s = (struct summary *)stage;

	hf_run_cutter_free(s->cutter);
	hf_run_table_free(s->table);
	hf_span_writer_free(s->writer);
	hf_call_writer_free(s->calls);
	hf_collector_free(s->collector);
	hf_group_writer_free(s->groups);
	free(s);
}

static const struct hf_stage_ops ops = {.work = work, .keep = keep, .free = free_summary};

int hf_stage_summary_add(struct hf_pass_run *run, uint64_t before)
{
	const struct hf_run_table_room *room = run->pass->build->room;
	struct summary *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return HF_ERR_NOMEM;
	s->stage.ops = &ops;
	hf_pass_run_add_stage(run, &s->stage);
	err = hf_run_cutter_new(put_run, s, &s->cutter);
	if (!err)
		err = hf_group_writer_new(push, s, &s->groups);
	if (!err)
		err = hf_run_table_new(room ? room : &hf_run_table_room_default, s->groups, &s->table);
	if (!err)
		err = hf_collector_new(room, s->groups, &s->collector);
	if (!err)
		err = hf_span_writer_new(push, s, &s->writer);
	if (!err)
		err = hf_call_writer_new(run->pass->build->call_room, push, s, &s->calls);
	if (!err)
		hf_run_cutter_watch(s->cutter, &hf_call_writer_calls(s->calls)->watch);
	return err ? err : resume(s, before);
}
