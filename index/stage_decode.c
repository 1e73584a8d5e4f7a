/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the capture for one hart, as the decoding stage of a lane: it decodes in batches, cuts chunks, counts,
 * and writes down how each chunk is entered again.
 *
 * Where a chunk ends depends on nothing but the events and the limits, so that a build that was interrupted cuts the
 * same chunks when it goes on: a batch never goes beyond a limit, and the limit on bytes, which a decoder knows only
 * between two calls, is looked at where the number of events is a multiple of the batch, however they came.
 */
#include "index/pass_workers.h"

#include <stdlib.h>

struct pass {
	struct hf_lane lane; /* first */
	enum hf_pass_mode mode;
	struct hf_chunk_row row; /* the chunk at hand; insns and events grow */
	bool has_pc;
	/* the state at its end, taken before it is known whether anything follows */
	uint8_t next_entry[HF_ENTRY_MAX];
	uint32_t next_entry_size;
	uint64_t next_discard, next_offset;
	/* of the hart, without the chunk at hand */
	uint64_t attempts, events;
	uint64_t most; /* events of it that are decoded */
	size_t seen; /* as many of the decoder's harts are on the tape */
};

static_assert(HF_SEGMENT_EVENTS % HF_BATCH == 0, "a chunk begins with a segment, so a batch never outgrows one");

static uint64_t offset_of(const struct pass *w)
{
	return w->lane.dec->ops->offset(w->lane.dec);
}

/* All that the hart may have was decoded. */
static bool is_spent(const struct pass *w)
{
	return w->row.chunk.events && w->events + w->row.chunk.events >= w->most;
}

static bool full(const struct pass *w)
{
	const struct hf_chunk_limits *limits = &w->lane.b->limits;
	const struct hf_chunk *c = &w->row.chunk;

	return is_spent(w) || c->insns >= limits->insns || c->events >= limits->events ||
	       (c->events && c->events % HF_BATCH == 0 && offset_of(w) - c->stream_offset >= limits->bytes);
}

/* How many events may come without passing a limit or a place where the bytes are looked at. */
static size_t room(const struct pass *w, uint64_t insns, uint64_t events)
{
	const struct hf_chunk_limits *limits = &w->lane.b->limits;
	const uint64_t all = w->events + w->row.chunk.events;
	uint64_t max = HF_BATCH - events % HF_BATCH;

	/* One more tells whether it is too much. */
	if (all >= w->most)
		return 1;
	if (w->most - all < max)
		max = w->most - all;

	if (limits->insns - insns < max)
		max = limits->insns - insns;
	if (limits->events - events < max)
		max = limits->events - events;
	return (size_t)max;
}

static int add_problem(struct pass *w, const struct hf_diag *diag, uint64_t ordinal, uint64_t bytes)
{
	const struct hf_index_problem problem = {
		.diag = *diag,
		.hart = w->lane.dec->hart,
		.has_ordinal = w->mode != HF_PASS_LOOK,
		.ordinal = ordinal,
		.bytes = bytes,
	};

	/* The harts' decoders say it too. */
	if (w->lane.dec->hart == HF_HART_RECORDS)
		return 0;
	w->row.problems++;
	return hf_lane_push(&w->lane, HF_REC_PROBLEM, &w->row.chunk.number, sizeof w->row.chunk.number, &problem,
			    sizeof problem);
}

/* GAP, DOUBT and NOTE events among ev[n]; ordinal: retired instructions before them. */
static int add_problems(struct pass *w, const struct hf_event *ev, size_t n, uint64_t ordinal)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct hf_diag diag = {.space = HF_SPACE_STREAM};

		ordinal += ev[i].kind == HF_EVENT_INSN;
		if (ev[i].kind != HF_EVENT_GAP && ev[i].kind != HF_EVENT_DOUBT && ev[i].kind != HF_EVENT_NOTE)
			continue;
		if (ev[i].flags & HF_EVF_FILE)
			diag.space = HF_SPACE_FILE;
		diag.code = ev[i].size <= HF_ERRI_COUNT ? -(int)ev[i].size : HF_ERR_BUG;
		diag.offset = ev[i].loss.offset;
		diag.detail = ev[i].loss.detail;
		err = add_problem(w, &diag, ordinal, ev[i].loss.bytes);
	}
	return err;
}

static int count(struct pass *w, const struct hf_event *ev, size_t n)
{
	const uint32_t losses = 1u << HF_EVENT_GAP | 1u << HF_EVENT_DOUBT | 1u << HF_EVENT_NOTE;
	struct hf_chunk *c = &w->row.chunk;
	const uint64_t ordinal = c->ordinal + c->insns;
	uint64_t insns = 0, attempts = 0;
	uint32_t kinds = 0;

	static_assert(HF_EVENT_KINDS <= 32, "a bit for every kind");
	for (size_t i = 0; i < n; i++) {
		kinds |= 1u << (ev[i].kind & 31);
		insns += ev[i].kind == HF_EVENT_INSN;
		attempts += ev[i].kind == HF_EVENT_ATTEMPT;
	}
	c->events += n;
	c->insns += insns;
	w->row.attempts += attempts;
	for (size_t i = 0; insns && !w->has_pc; i++) {
		if (ev[i].kind == HF_EVENT_INSN) {
			c->pc = ev[i].insn.pc;
			w->has_pc = true;
		}
	}
	return kinds & losses ? add_problems(w, ev, n, ordinal) : 0;
}

/* ---- the code: what is kept of it at a commit goes as far as the walk is, and is not made again on the way there ---- */

static int begin_code(struct pass *w, const struct hf_pass_start *start)
{
	struct hf_lane_code *code = &w->lane.code;
	int err;

	if (w->mode == HF_PASS_LOOK || w->lane.slot == HF_SLOT_RECORDS)
		return 0;
	if (!start || !(start->events || start->row.chunk.number))
		return hf_image_new(0, &code->image);
	err = hf_index_part_image(w->lane.b->index, w->lane.slot, &code->events, &code->image);
	if (err)
		return err;
	/* A commit keeps all chunks and the code of all their events. */
	if (code->events < start->events)
		return HF_ERR_STATE;
	code->ahead = code->events - start->events;
	return 0;
}

/* ---- decoding ---- */

/* Takes down the state behind the chunk at hand. */
static void mark(struct pass *w)
{
	w->next_entry_size = (uint32_t)w->lane.dec->ops->save(w->lane.dec, w->next_entry, &w->next_discard);
	w->next_offset = offset_of(w);
}

/* The event that came is one too many. */
static void cut_off(struct pass *w, struct hf_event *ev)
{
	hf_dec_cut(w->lane.dec, w->next_offset, w->events + w->row.chunk.events, w->next_entry, ev);
	w->next_entry_size = HF_CUT_SIZE;
	w->next_discard = 0;
}

/* One hart too many; of where it was met only the chunk is known. */
static int leave_out(struct pass *w, uint32_t hart)
{
	const struct hf_diag diag = {
		.code = HF_ERR_STF_HART_LIMIT, .space = HF_SPACE_STREAM, .offset = HF_NOWHERE, .detail = hart};

	return add_problem(w, &diag, w->row.chunk.ordinal + w->row.chunk.insns, 0);
}

static int note_harts(struct pass *w)
{
	size_t n;
	const uint32_t *ids = w->lane.dec->ops->harts(w->lane.dec, &n);
	const size_t max = w->lane.dec->ops->harts_max;
	int err = 0;

	for (; w->seen < n && !err; w->seen++) {
		if (max && w->seen >= max)
			err = leave_out(w, ids[w->seen]);
		else
			err = hf_lane_push(&w->lane, HF_REC_ID, &ids[w->seen], sizeof ids[w->seen], NULL, 0);
	}
	return err;
}

/* The chunk at hand ends with the segment at hand. */
static int publish_chunk(struct pass *w, enum hf_tail tail)
{
	struct hf_segment *s = hf_lane_segment(&w->lane, 0);

	s->tail = tail;
	s->row = w->row;
	s->row.chunk.last = tail == HF_TAIL_HART;
	w->attempts += w->row.attempts;
	w->events += w->row.chunk.events;
	return hf_lane_publish(&w->lane);
}

/* Another event has come: the chunk at hand is not the last. */
static int next_chunk(struct pass *w)
{
	struct hf_chunk *c = &w->row.chunk;
	int err = w->lane.slot ? 0 : note_harts(w);

	if (!err)
		err = publish_chunk(w, HF_TAIL_CHUNK);
	c->number++;
	c->ordinal += c->insns;
	c->insns = c->events = c->pc = 0;
	c->stream_offset = w->next_offset;
	c->discard = w->next_discard;
	c->entry_size = w->next_entry_size;
	memcpy(c->entry, w->next_entry, w->next_entry_size);
	w->row.attempts = w->row.problems = 0;
	w->has_pc = false;
	return err;
}

static void begin_segment(struct pass *w, struct hf_segment *s)
{
	s->n = 0;
	s->tail = HF_TAIL_NONE;
	s->row.chunk.number = w->row.chunk.number;
}

static void tell(struct pass *w)
{
	const struct hf_input *in = w->lane.in;

	atomic_store_explicit(&w->lane.pos, in->box ? in->in_pos : offset_of(w), memory_order_relaxed);
	atomic_store_explicit(&w->lane.insns, w->row.chunk.ordinal + w->row.chunk.insns, memory_order_relaxed);
}

/* Stores the hart, if that is wanted. */
static int end_hart(struct pass *w)
{
	struct hf_index_hart *hart = &w->lane.end.hart;
	size_t known = 0;

	if (w->lane.slot == 0)
		w->lane.dec->ops->harts(w->lane.dec, &known);
	hart->insns = w->row.chunk.ordinal + w->row.chunk.insns;
	if (w->mode == HF_PASS_LOOK || !(w->events || w->row.chunk.events || w->mode == HF_PASS_KEEP ||
					 (w->lane.slot == 0 && known <= 1)))
		return hf_lane_publish_nothing(&w->lane);
	hart->attempts = w->attempts + w->row.attempts;
	hart->events = w->events + w->row.chunk.events;
	hart->chunks = w->row.chunk.number + 1;
	return publish_chunk(w, HF_TAIL_HART);
}

/* The decoder gives no more events, for that reason. */
static int end(struct pass *w, int err)
{
	struct hf_lane *lane = &w->lane;
	const struct hf_diag diag = lane->dec->diag;

	if (err != HF_NOTE_END && !hf_input_is_verdict(err)) {
		lane->diag = diag;
		lane->diag.code = err;
		return err;
	}
	/* What a decoder cannot go on from is the end of the hart, and a line in errors.txt. */
	if (err != HF_NOTE_END) {
		struct hf_diag problem = diag;

		problem.code = err;
		err = add_problem(w, &problem, w->row.chunk.ordinal + w->row.chunk.insns, 0);
	} else {
		err = 0;
	}
	if (!err && lane->slot == 0 && w->mode != HF_PASS_LOOK)
		err = note_harts(w);
	/* The first lane reads the file to its end. */
	if (!err && lane->in != &lane->own)
		err = hf_input_drain(lane->in, &lane->end.stream_size, &lane->end.damage);
	return err ? err : end_hart(w);
}

/* Until a segment is full or its chunk ends: every event there is, in the end. */
static int decode(struct hf_lane *lane)
{
	struct pass *w = (struct pass *)lane;
	const uint64_t head = lane->head;
	int err = 0;

	while (!err && head == lane->head) {
		const bool cut = full(w);
		struct hf_segment *s = hf_lane_segment(lane, 0);
		const bool next = cut || s->n == HF_SEGMENT_EVENTS;
		size_t n;

		if (cut)
			mark(w);
		if (next)
			s = hf_lane_segment(lane, 1);
		err = hf_dec_next(lane->dec, s->ev + (next ? 0 : s->n),
				  cut ? room(w, 0, 0) : room(w, w->row.chunk.insns, w->row.chunk.events), &n);
		if (err)
			return end(w, err);
		if (is_spent(w))
			cut_off(w, s->ev);
		if (cut)
			err = next_chunk(w);
		else if (next)
			err = hf_lane_publish(lane);
		if (next)
			begin_segment(w, s);
		s->n += n;
		if (!err)
			err = count(w, s->ev + s->n - n, n);
	}
	tell(w);
	return err;
}

/* The same where nothing but problems is looked for: the segments go nowhere. */
static int look(struct hf_lane *lane)
{
	struct pass *w = (struct pass *)lane;
	struct hf_segment *s = hf_lane_segment(lane, 0);
	int err = 0;

	for (size_t all = 0, n; !err && all < HF_SEGMENT_EVENTS; all += n) {
		err = hf_dec_next(lane->dec, s->ev, HF_BATCH, &n);
		if (err)
			return end(w, err);
		err = count(w, s->ev, n);
	}
	tell(w);
	return err;
}

static int enter(struct pass *w, const struct hf_pass_start *start)
{
	struct hf_lane *lane = &w->lane;
	struct hf_chunk *c = &w->row.chunk;
	int err = 0;

	if (start) {
		w->row = start->row;
		w->attempts = start->attempts;
		w->events = start->events;
		err = hf_dec_load(lane->dec, c->entry, c->entry_size, c->discard);
	} else {
		c->entry_size = (uint32_t)lane->dec->ops->save(lane->dec, c->entry, &c->discard);
		c->stream_offset = offset_of(w);
	}
	begin_segment(w, hf_lane_segment(lane, 0));
	for (size_t i = 0; i < lane->b->view_count && !err; i++)
		if (w->mode != HF_PASS_LOOK && hf_view_part_is_for(&lane->b->views[i], lane->dec->hart))
			err = hf_lane_add_view(lane, i, 0, start != NULL);
	return err;
}

static const struct hf_lane_ops store_ops = {.size = sizeof(struct pass), .decode = decode};
static const struct hf_lane_ops look_ops = {.size = sizeof(struct pass), .decode = look};

int hf_pass_new(struct hf_builder *b, uint64_t slot, uint32_t hart, const struct hf_pass_start *start,
		enum hf_pass_mode mode, struct hf_lane **ret_lane)
{
	struct pass *w;
	int err = hf_lane_new(b, mode == HF_PASS_LOOK ? &look_ops : &store_ops, slot, hart,
			      slot == 0 && mode != HF_PASS_KEEP, ret_lane);

	if (err)
		return err;
	w = (struct pass *)*ret_lane;
	w->mode = mode;
	w->most = w->lane.b->most;
	if (slot == HF_SLOT_RECORDS)
		w->most = HF_NOWHERE;
	else if (w->most != HF_NOWHERE)
		w->most /= slot + 1;
	err = enter(w, start);
	if (!err)
		err = begin_code(w, start);
	if (err)
		hf_lane_free(*ret_lane);
	return err ? err : hf_crew_add(b->crew, *ret_lane);
}
