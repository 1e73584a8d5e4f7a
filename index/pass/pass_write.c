/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that called hf_build_run writes the rows of the stages into the tables, run after run. */
#include "index/pass/pass_workers.h"

#include <errno.h>

static int write_point(struct hf_pass *pass, const uint8_t *bytes)
{
	const struct hf_box *box = pass->in.box;
	uint8_t window[HF_WINDOW_MAX];
	struct hf_point point;
	int err;

	memcpy(&point, bytes, sizeof point);
	if (point.window_size > sizeof window)
		return HF_ERR_BUG;
	memcpy(window, bytes + sizeof point, point.window_size);
	/* If that fails, the whole window is stored. */
	if (point.window_size && box->thin_window && hf_index_part_wants_point(pass->index, &point))
		box->thin_window(box, pass->in.file, &point, window);
	err = hf_index_part_add_point(pass->index, &point, window);
	return err ? err : hf_pass_tick(pass, pass->offset, false);
}

static int write_view(struct hf_pass_run *run, const uint8_t *bytes, size_t size)
{
	struct hf_view_chunk chunk;
	uint64_t view;

	memcpy(&view, bytes, sizeof view);
	memcpy(&chunk, bytes + sizeof view, size - sizeof view);
	return hf_view_part_add_chunk(&run->pass->views[view], hf_row_id(run->slot, chunk.number), &chunk);
}

static int write_times(struct hf_pass_run *run, const uint8_t *bytes, size_t size)
{
	struct hf_view_times times;
	uint64_t head[3];

	memcpy(head, bytes, sizeof head);
	memcpy(&times, bytes + sizeof head, size - sizeof head);
	return hf_view_part_add_times(&run->pass->views[head[0]], hf_row_id(run->slot, head[1]), head[2], &times);
}

static void write_view_end(struct hf_pass_run *run, const uint8_t *bytes)
{
	uint64_t end[3];

	memcpy(end, bytes, sizeof end);
	hf_view_part_add_hart(&run->pass->views[end[0]], run->slot, run->end.hart.id, end[2], end[1]);
}

/* After all rows of a chunk: lets the views write theirs. */
static int settle_views(struct hf_pass_run *run, uint64_t number)
{
	int err = 0;

	for (size_t i = 0; i < run->pass->view_count && !err; i++)
		if (hf_view_part_is_for(&run->pass->views[i], run->end.hart.id))
			err = hf_view_part_settle(&run->pass->views[i], hf_row_id(run->slot, number));
	return err;
}

static int write_chunk(struct hf_pass_run *run, const uint8_t *bytes, size_t size)
{
	struct hf_chunk chunk;
	int err = 0;

	memcpy(&chunk, bytes, size);
	if (run->slot != HF_SLOT_RECORDS && hf_pass_outgrows_pack(run->pass, chunk.number))
		return hf_fault_set("keeping in memory", NULL, E2BIG);
	/* NULL: only views are made. */
	if (run->pass->index)
		err = hf_index_part_add_chunk(run->pass->index, run->slot, &chunk);
	if (!err)
		err = settle_views(run, chunk.number);
	if (err || chunk.last)
		return err;
	return hf_pass_tick(run->pass, chunk.stream_offset, true);
}

static int write_end(struct hf_pass_run *run)
{
	int err = 0;

	run->finished = true;
	for (size_t i = 0; run->end.hart.chunks && i < run->stage_count && !err; i++)
		if (run->stages[i]->ops->keep)
			err = run->stages[i]->ops->keep(run->stages[i], true);
	return err;
}

static int write_row(struct hf_pass_run *run, const struct hf_row *row)
{
	const uint8_t *bytes = hf_row_bytes(row);
	struct hf_index_problem problem;
	uint32_t id;

	switch ((enum hf_row_kind)row->kind) {
	case HF_ROW_POINT:
		return write_point(run->pass, bytes);
	case HF_ROW_PROBLEM:
		memcpy(&problem, bytes, sizeof problem);
		return hf_index_part_add_problem(run->pass->index, &problem);
	case HF_ROW_ID:
		memcpy(&id, bytes, sizeof id);
		return hf_pass_add_id(run->pass, id);
	case HF_ROW_VIEW:
		return write_view(run, bytes, row->size);
	case HF_ROW_TIMES:
		return write_times(run, bytes, row->size);
	case HF_ROW_VIEW_END:
		write_view_end(run, bytes);
		return 0;
	case HF_ROW_CHUNK:
		return write_chunk(run, bytes, row->size);
	case HF_ROW_END:
		return write_end(run);
	}
	return HF_ERR_BUG;
}

/* Writes the rows that the present run has ready. */
static int write_some(struct hf_pass *pass)
{
	struct hf_pass_run *run = hf_pass_workers_turn(pass->workers);
	const struct hf_row *row;
	struct hf_row_queue rows;
	int err;

	if (!run)
		return 0;
	err = hf_pass_write_summary(run);
	hf_row_queue_init(&rows);
	hf_pass_workers_take_rows(pass->workers, &rows);
	while (!err && (row = hf_row_queue_pop(&rows)))
		err = write_row(run, row);
	hf_row_queue_fini(&rows);
	return err;
}

static int pump(struct hf_pass *pass)
{
	int err;

	if (!hf_pass_workers_are_ours(pass->workers))
		return 0;
	err = write_some(pass);
	return err ? err : hf_pass_tick(pass, pass->offset, false);
}

int hf_pass_begin_runs(struct hf_pass *pass)
{
	pass->pump = pump;
	return hf_pass_workers_new(pass, &pass->workers);
}

int hf_pass_finish_run(struct hf_pass *pass, struct hf_pass_run *run, struct hf_run_end *ret_end)
{
	int err = 0;

	hf_pass_workers_set_turn(pass->workers, run);
	while (!err && !run->finished) {
		err = hf_pass_workers_work(pass->workers);
		if (!err)
			err = pump(pass);
	}
	if (err)
		return err;
	hf_pass_workers_remove(pass->workers, run);
	*ret_end = run->end;
	hf_pass_run_free(run);
	pass->insns += ret_end->hart.insns;
	pass->runs_done++;
	return 0;
}
