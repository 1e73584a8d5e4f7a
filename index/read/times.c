/* SPDX-License-Identifier: Apache-2.0 */
#include "index/read/times.h"

#include "codecs/base/bytes.h"

/* Most bytes of a line: two varints. */
enum { LINE_MAX_BYTES = 20 };

bool hf_times_is_full(const struct hf_times_writer *w)
{
	return w->row.n + LINE_MAX_BYTES > HF_TIMES_BYTES;
}

static void put(struct hf_times_writer *w, uint64_t offset, uint64_t rise)
{
	struct hf_view_times *row = &w->row;
	uint8_t *p;

	if (!row->n) {
		row->offset = w->at = offset;
		row->before = w->state.max;
		row->known = w->state.known;
		row->behind = w->state.behind;
	}
	p = hf_put_varint(row->data + row->n, offset - w->at);
	p = hf_put_varint(p, rise);
	row->n = (uint32_t)(p - row->data);
	w->at = offset;
}

void hf_times_put(struct hf_times_writer *w, uint64_t offset, uint64_t time)
{
	struct hf_times_state *state = &w->state;

	if (!state->known || time > state->max) {
		put(w, offset, state->known ? time - state->max : time);
		*state = (struct hf_times_state){.max = time, .known = true};
	} else if (time < state->max && !state->behind) {
		put(w, offset, 0);
		state->behind = true;
	}
}

void hf_times_begin(struct hf_times_reader *r, const struct hf_view_times *row, const uint8_t *data, size_t n)
{
	*r = (struct hf_times_reader){.state = {.max = row->before, .known = row->known, .behind = row->behind},
				      .at = row->offset,
				      .p = data,
				      .end = data + n,
				      .first = true};
}

int hf_times_next(struct hf_times_reader *r, struct hf_time_line *ret_line)
{
	struct hf_times_state *state = &r->state;
	uint64_t step, rise;

	if (r->p == r->end)
		return HF_NOTE_END;
	r->p = hf_get_varint(r->p, r->end, &step);
	if (r->p)
		r->p = hf_get_varint(r->p, r->end, &rise);
	/* Offsets must ascend. */
	if (!r->p || (step == 0) != r->first || step > HF_COUNT_MAX - r->at)
		return HF_ERR_STATE;
	r->first = false;
	r->at += step;
	*ret_line = (struct hf_time_line){.offset = r->at, .back = state->known && !rise};
	if (ret_line->back) {
		if (state->behind)
			return HF_ERR_STATE;
		state->behind = true;
	} else {
		if (state->known && rise > UINT64_MAX - state->max)
			return HF_ERR_STATE;
		*state = (struct hf_times_state){.max = state->known ? state->max + rise : rise, .known = true};
	}
	ret_line->time = state->max;
	return 0;
}
