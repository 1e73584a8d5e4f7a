/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View tables for chunks that a decode index has already: the events are made again, chunk by chunk, and each view
 * joins where its table ends.
 */
#include "index/pass_workers.h"

struct replay {
	struct hf_lane lane; /* first */
	struct hf_index *index;
	struct hf_chunk chunk; /* at hand */
	uint64_t left;         /* of its events */
};

/* The first chunk of the hart that the view has yet to make (its last one is made again); false if none. */
static bool first_missing(const struct hf_view_part *view, uint64_t slot, uint64_t *ret_number)
{
	uint64_t last_slot = view->last >> HF_NUMBER_BITS;

	*ret_number = 0;
	if (!hf_view_part_is_for(view, slot == HF_SLOT_RECORDS ? HF_HART_RECORDS : 0))
		return false;
	if (view->complete || (view->has_last && last_slot > slot))
		return false;
	if (view->has_last && last_slot == slot)
		*ret_number = view->last & HF_NUMBER_MAX;
	return true;
}

/* The first chunk that any view is missing. */
static bool first_number(const struct hf_builder *b, uint64_t slot, uint64_t *ret_number)
{
	bool any = false;

	*ret_number = 0;
	for (size_t i = 0; i < b->view_count; i++) {
		uint64_t number;

		if (!first_missing(&b->views[i], slot, &number))
			continue;
		if (!any || number < *ret_number)
			*ret_number = number;
		any = true;
	}
	return any;
}

/* Errors of a decoder where none was when the index was made. */
static int decode_error(struct replay *r, int err)
{
	if (err > 0 || hf_input_is_verdict(err) || err == HF_ERR_STATE)
		return hf_diag_set(&r->lane.diag, HF_ERR_MISMATCH, HF_SPACE_STREAM, r->chunk.stream_offset,
				   r->chunk.number);
	r->lane.diag = r->lane.dec->diag;
	r->lane.diag.code = err;
	return err;
}

static int open_chunk(struct replay *r, uint64_t number)
{
	int err = hf_index_chunk(r->index, r->lane.end.hart.id, number, &r->chunk);

	r->left = r->chunk.events;
	return err;
}

/* A segment of the chunk at hand. */
static int decode(struct hf_lane *lane)
{
	struct replay *r = (struct replay *)lane;
	struct hf_segment *s = hf_lane_segment(lane, 0);
	const struct hf_chunk *c = &r->chunk;
	int err;

	for (s->n = 0; r->left && s->n < HF_SEGMENT_EVENTS;) {
		size_t room = r->left < HF_BATCH ? (size_t)r->left : HF_BATCH, n;

		err = hf_dec_next(lane->dec, s->ev + s->n, room, &n);
		if (err)
			return decode_error(r, err);
		s->n += n;
		r->left -= n;
	}
	s->row = (struct hf_chunk_row){.chunk = *c};
	s->tail = r->left ? HF_TAIL_NONE : c->last ? HF_TAIL_HART : HF_TAIL_CHUNK;
	atomic_store_explicit(&lane->pos, lane->in->box ? lane->in->in_pos : c->stream_offset, memory_order_relaxed);
	atomic_store_explicit(&lane->insns, c->ordinal, memory_order_relaxed);
	err = hf_lane_publish(lane);
	return !err && !r->left && !c->last ? open_chunk(r, c->number + 1) : err;
}

static int add_views(struct hf_lane *lane)
{
	struct hf_builder *b = lane->b;
	int err = 0;

	for (size_t i = 0; i < b->view_count && !err; i++) {
		struct hf_view_part *view = &b->views[i];
		uint64_t first;
		bool resume;

		if (!first_missing(view, lane->slot, &first))
			continue;
		resume = view->has_last && view->last == hf_row_id(lane->slot, first);
		if (resume)
			err = hf_view_part_cut(view, view->last);
		if (!err)
			err = hf_lane_add_view(lane, i, first, resume);
	}
	return err > 0 ? HF_ERR_STATE : err;
}

static const struct hf_lane_ops ops = {.size = sizeof(struct replay), .decode = decode};

/* From chunk number on. */
static int replay_new(struct hf_builder *b, struct hf_index *index, uint64_t slot, const struct hf_index_hart *hart,
		      uint64_t number, struct hf_lane **ret_lane)
{
	struct replay *r;
	int err = hf_lane_new(b, &ops, slot, hart->id, false, ret_lane);

	if (err)
		return err;
	r = (struct replay *)*ret_lane;
	r->index = index;
	r->lane.end.hart = *hart;
	err = open_chunk(r, number);
	if (!err) {
		err = hf_dec_load(r->lane.dec, r->chunk.entry, r->chunk.entry_size, r->chunk.discard);
		if (err)
			err = decode_error(r, err);
		if (err && b->diag)
			*b->diag = r->lane.diag;
	}
	if (!err)
		err = add_views(*ret_lane);
	if (err)
		hf_lane_free(*ret_lane);
	return err ? err : hf_crew_add(b->crew, *ret_lane);
}

/* A row of harts that have begun, to be written one after the other. */
struct ahead {
	struct hf_lane *lane[HF_CREW_LANES];
	size_t n;
	uint64_t slot; /* the harts from here on have not begun */
};

static int fill_ahead(struct hf_builder *b, struct hf_index *index, struct ahead *a)
{
	const struct hf_index_hart *hart;
	uint64_t slot, number;
	int err = 0;

	while (!err && a->n <= hf_crew_ahead(b->crew) && (hart = hf_index_next_slot(index, a->slot, &slot))) {
		a->slot = slot + 1;
		if (!first_number(b, slot, &number))
			continue;
		err = number < hart->chunks ? replay_new(b, index, slot, hart, number, &a->lane[a->n]) : HF_ERR_STATE;
		a->n++;
	}
	return err;
}

int hf_replay_run(struct hf_builder *b, struct hf_index *index)
{
	struct ahead a = {.slot = 0};
	struct hf_lane_end end;
	uint64_t slot, number;
	int err = hf_crew_new(b, &b->crew);

	for (uint64_t from = 0; !err && hf_index_next_slot(index, from, &slot); from = slot + 1)
		b->passes += first_number(b, slot, &number);
	if (!err)
		err = fill_ahead(b, index, &a);
	while (!err && a.n) {
		err = hf_crew_finish(b->crew, a.lane[0], &end);
		b->pass++;
		b->insns += end.hart.insns;
		a.n--;
		for (size_t i = 0; i < a.n; i++)
			a.lane[i] = a.lane[i + 1];
		if (!err)
			err = fill_ahead(b, index, &a);
	}
	return err;
}
