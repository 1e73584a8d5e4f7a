/*
 * View tables for chunks that a decode index has already: the events are made again, chunk by chunk, and each view
 * joins where its table ends.
 */
#include "index/builder.h"

struct replay {
	struct hf_builder *b;
	struct hf_index *index;
	const struct hf_index_hart *hart;
	uint64_t slot;
	struct hf_dec *dec;
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

static int join(struct replay *r, struct hf_view_part *view, uint64_t number)
{
	const bool resume = view->has_last && view->last == hf_row_id(r->slot, number);
	int err = resume ? hf_view_part_cut(view, view->last) : 0;

	if (err)
		return err > 0 ? HF_ERR_STATE : err;
	return hf_view_part_enter(view, r->b->in.stream, r->hart->id, &r->b->env, resume);
}

static int join_all(struct replay *r, uint64_t number)
{
	int err = 0;

	for (size_t i = 0; i < r->b->view_count && !err; i++) {
		struct hf_view_part *view = &r->b->views[i];
		uint64_t first;

		if (!view->enc && first_missing(view, r->slot, &first) && first == number)
			err = join(r, view, number);
	}
	return err;
}

/* Errors of a decoder where none was when the index was made. */
static int decode_error(struct replay *r, int err, const struct hf_chunk *chunk)
{
	if (err > 0 || hf_input_is_verdict(err) || err == HF_ERR_STATE)
		return hf_diag_set(r->b->diag, HF_ERR_MISMATCH, HF_SPACE_STREAM, chunk->stream_offset, chunk->number);
	return err;
}

static int feed_chunk(struct replay *r, const struct hf_chunk *chunk)
{
	struct hf_event ev[HF_BATCH];
	uint64_t left = chunk->events;

	while (left) {
		size_t n;
		int err = hf_dec_next(r->dec, ev, left < HF_BATCH ? (size_t)left : HF_BATCH, &n);

		if (err)
			return decode_error(r, err, chunk);
		for (size_t i = 0; i < r->b->view_count; i++)
			if (r->b->views[i].enc)
				hf_view_part_put(&r->b->views[i], ev, n);
		left -= n;
	}
	return 0;
}

static int end_chunk(struct replay *r, const struct hf_chunk *chunk)
{
	int err = 0;

	for (size_t i = 0; i < r->b->view_count && !err; i++) {
		struct hf_view_part *view = &r->b->views[i];

		if (!view->enc)
			continue;
		if (chunk->last) {
			err = hf_view_part_end_hart(view, r->slot, r->hart->id, chunk->number);
		} else {
			hf_view_part_mark(view);
			err = hf_view_part_end_chunk(view, hf_row_id(r->slot, chunk->number));
		}
	}
	return err;
}

static int tick(struct replay *r, const struct hf_chunk *chunk)
{
	r->b->hart_insns = chunk->ordinal;
	return hf_builder_tick(r->b, chunk->stream_offset, true);
}

static int replay_chunks(struct replay *r, uint64_t number)
{
	struct hf_chunk chunk;
	int err = hf_index_chunk(r->index, r->hart->id, number, &chunk);

	if (err)
		return err;
	err = hf_dec_load(r->dec, chunk.entry, chunk.entry_size, chunk.discard);
	if (err)
		return decode_error(r, err, &chunk);
	while (!(err = join_all(r, number)) && !(err = feed_chunk(r, &chunk)) && !(err = end_chunk(r, &chunk)) &&
	       !(err = tick(r, &chunk)) && !chunk.last)
		if ((err = hf_index_chunk(r->index, r->hart->id, ++number, &chunk)))
			break;
	return err;
}

static int replay_hart(struct replay *r, uint64_t number)
{
	int err = hf_builder_rewind(r->b);

	if (!err)
		err = hf_dec_new(r->b->in.stream, r->b->in.src, r->hart->id, &r->dec);
	if (err)
		return err;
	err = replay_chunks(r, number);
	for (size_t i = 0; i < r->b->view_count; i++)
		hf_view_part_drop_hart(&r->b->views[i]);
	hf_dec_free(r->dec);
	return err;
}

int hf_replay_run(struct hf_builder *b, struct hf_index *index)
{
	const struct hf_index_hart *hart;
	uint64_t slot, number;
	int err = 0;

	for (uint64_t from = 0; (hart = hf_index_next_slot(index, from, &slot)); from = slot + 1)
		b->passes += first_number(b, slot, &number);
	for (uint64_t from = 0; !err && (hart = hf_index_next_slot(index, from, &slot)); from = slot + 1) {
		struct replay r = {.b = b, .index = index, .hart = hart, .slot = slot};

		if (!first_number(b, slot, &number))
			continue;
		err = number < hart->chunks ? replay_hart(&r, number) : HF_ERR_STATE;
		b->pass++;
		b->insns += hart->insns;
	}
	return err;
}
