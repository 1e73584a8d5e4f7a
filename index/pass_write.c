/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that called hf_build_run: it writes what the stages found out into the tables, run after run. */
#include "index/pass_workers.h"

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
	/* If that fails, the whole window is kept. */
	if (point.window_size && box->thin_window && hf_index_part_wants_point(pass->index, &point))
		box->thin_window(box, pass->in.file, &point, window);
	err = hf_index_part_add_point(pass->index, &point, window);
	return err ? err : hf_pass_tick(pass, pass->offset, false);
}

static int write_problem(struct hf_pass_run *run, const uint8_t *bytes)
{
	struct hf_index_problem problem;
	uint64_t number;

	memcpy(&number, bytes, sizeof number);
	memcpy(&problem, bytes + sizeof number, sizeof problem);
	return hf_index_part_add_problem(run->pass->index, hf_row_id(run->slot, number), &problem);
}

static int write_view(struct hf_pass_run *run, const uint8_t *bytes, size_t size)
{
	struct hf_row_place place;
	struct hf_view_row row;

	memcpy(&place, bytes, sizeof place);
	memcpy(&row, bytes + sizeof place, size - sizeof place);
	return hf_view_part_add_chunk(&run->pass->views[place.view], hf_row_id(run->slot, place.number), &row);
}

static int write_view_end(struct hf_pass_run *run, const uint8_t *bytes)
{
	struct hf_row_place place;
	uint64_t size;

	memcpy(&place, bytes, sizeof place);
	memcpy(&size, bytes + sizeof place, sizeof size);
	return hf_view_part_add_hart(&run->pass->views[place.view], run->slot, run->end.hart.id, size,
				     place.number + 1);
}

static int write_chunk(struct hf_pass_run *run, const uint8_t *bytes, size_t size)
{
	struct hf_row_counts counts;
	struct hf_chunk_row row;
	int err = 0;

	memcpy(&counts, bytes, sizeof counts);
	memcpy(&row.chunk, bytes + sizeof counts, size - sizeof counts);
	row.attempts = counts.attempts;
	row.problems = counts.problems;
	/* Of an index that is there only views are made. */
	if (run->pass->index)
		err = hf_index_part_add_chunk(run->pass->index, run->slot, &row);
	if (err || row.chunk.last)
		return err;
	return hf_pass_tick(run->pass, row.chunk.stream_offset, true);
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
	uint32_t id;

	switch ((enum hf_row_kind)row->kind) {
	case HF_ROW_POINT:
		return write_point(run->pass, bytes);
	case HF_ROW_PROBLEM:
		return write_problem(run, bytes);
	case HF_ROW_ID:
		memcpy(&id, bytes, sizeof id);
		return hf_pass_add_id(run->pass, id);
	case HF_ROW_VIEW:
		return write_view(run, bytes, row->size);
	case HF_ROW_VIEW_END:
		return write_view_end(run, bytes);
	case HF_ROW_CHUNK:
		return write_chunk(run, bytes, row->size);
	case HF_ROW_END:
		return write_end(run);
	}
	return HF_ERR_BUG;
}

/* Writes what the run whose turn it is has ready. */
static int write_some(struct hf_pass *pass)
{
	struct hf_pass_run *run = hf_pass_workers_turn(pass->workers);
	const struct hf_row *row;
	struct hf_row_queue rows;
	int err = 0;

	if (!run)
		return 0;
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
