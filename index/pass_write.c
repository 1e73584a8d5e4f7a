/* SPDX-License-Identifier: Apache-2.0 */
/* What the lanes found out, into the tables. */
#include "index/pass_workers.h"

static int write_point(struct hf_builder *b, const uint8_t *bytes)
{
	const struct hf_box *box = b->in.box;
	uint8_t window[HF_WINDOW_MAX];
	struct hf_point point;
	int err;

	memcpy(&point, bytes, sizeof point);
	if (point.window_size > sizeof window)
		return HF_ERR_BUG;
	memcpy(window, bytes + sizeof point, point.window_size);
	/* If that fails, the whole window is kept. */
	if (point.window_size && box->thin_window && hf_index_part_wants_point(b->index, &point))
		box->thin_window(b->in.file, &point, window);
	err = hf_index_part_add_point(b->index, &point, window);
	return err ? err : hf_builder_tick(b, b->offset, false);
}

static int write_problem(struct hf_lane *lane, const uint8_t *bytes)
{
	struct hf_index_problem problem;
	uint64_t number;

	memcpy(&number, bytes, sizeof number);
	memcpy(&problem, bytes + sizeof number, sizeof problem);
	return hf_index_part_add_problem(lane->b->index, hf_row_id(lane->slot, number), &problem);
}

static int write_view(struct hf_lane *lane, const uint8_t *bytes, size_t size)
{
	struct hf_lane_place place;
	struct hf_view_row row;

	memcpy(&place, bytes, sizeof place);
	memcpy(&row, bytes + sizeof place, size - sizeof place);
	return hf_view_part_add_chunk(&lane->b->views[place.view], hf_row_id(lane->slot, place.number), &row);
}

static int write_view_end(struct hf_lane *lane, const uint8_t *bytes)
{
	struct hf_lane_place place;
	uint64_t size;

	memcpy(&place, bytes, sizeof place);
	memcpy(&size, bytes + sizeof place, sizeof size);
	return hf_view_part_add_hart(&lane->b->views[place.view], lane->slot, lane->end.hart.id, size,
				     place.number + 1);
}

static int write_chunk(struct hf_lane *lane, const uint8_t *bytes, size_t size)
{
	struct hf_lane_chunk counts;
	struct hf_chunk_row row;
	int err = 0;

	memcpy(&counts, bytes, sizeof counts);
	memcpy(&row.chunk, bytes + sizeof counts, size - sizeof counts);
	row.attempts = counts.attempts;
	row.problems = counts.problems;
	/* Of an index that is there only views are made. */
	if (lane->b->index)
		err = hf_index_part_add_chunk(lane->b->index, lane->slot, &row);
	if (err || row.chunk.last)
		return err;
	return hf_builder_tick(lane->b, row.chunk.stream_offset, true);
}

static int write_end(struct hf_lane *lane)
{
	const struct hf_lane_code *code = &lane->code;

	lane->finished = true;
	if (!lane->b->index || !code->image || !lane->end.hart.chunks)
		return 0;
	return hf_index_part_set_image(lane->b->index, lane->slot, code->events, code->image);
}

int hf_lane_write(struct hf_lane *lane, const struct hf_tape_record *record)
{
	const uint8_t *bytes = hf_tape_bytes(record);
	uint32_t id;

	switch ((enum hf_lane_record)record->kind) {
	case HF_REC_POINT:
		return write_point(lane->b, bytes);
	case HF_REC_PROBLEM:
		return write_problem(lane, bytes);
	case HF_REC_ID:
		memcpy(&id, bytes, sizeof id);
		return hf_builder_add_id(lane->b, id);
	case HF_REC_VIEW:
		return write_view(lane, bytes, record->size);
	case HF_REC_VIEW_END:
		return write_view_end(lane, bytes);
	case HF_REC_CHUNK:
		return write_chunk(lane, bytes, record->size);
	case HF_REC_END:
		return write_end(lane);
	}
	return HF_ERR_BUG;
}
