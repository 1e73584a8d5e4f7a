/*
 * One pass over the capture for one hart: decodes it in batches, cuts its chunks, feeds all views that are being made,
 * and writes down how each chunk is entered again.
 *
 * Where a chunk ends depends on nothing but the events and the limits, so that a build that was interrupted cuts the
 * same chunks when it goes on: a batch never goes beyond a limit, and the limit on bytes, which a decoder knows only
 * between two calls, is looked at where the number of events is a multiple of the batch, however they came.
 */
#include "index/builder.h"

struct pass {
	struct hf_builder *b;
	struct hf_dec *dec;
	uint64_t slot;
	enum hf_pass_mode mode;
	struct hf_chunk_row row; /* the chunk at hand; insns and events grow */
	bool has_pc;
	/* the state at its end, taken before it is known whether anything follows */
	uint8_t next_entry[HF_ENTRY_MAX];
	uint32_t next_entry_size;
	uint64_t next_discard, next_offset;
	/* of the hart, without the chunk at hand */
	uint64_t attempts, events;
	unsigned batches;
};

static uint64_t offset_of(const struct pass *w)
{
	return w->dec->ops->offset(w->dec);
}

static bool full(const struct pass *w)
{
	const struct hf_chunk_limits *limits = &w->b->limits;
	const struct hf_chunk *c = &w->row.chunk;

	if (w->mode == HF_PASS_LOOK)
		return false;
	return c->insns >= limits->insns || c->events >= limits->events ||
	       (c->events && c->events % HF_BATCH == 0 && offset_of(w) - c->stream_offset >= limits->bytes);
}

/* How many events may come without passing a limit or a place where the bytes are looked at. */
static size_t room(const struct pass *w, uint64_t insns, uint64_t events)
{
	const struct hf_chunk_limits *limits = &w->b->limits;
	uint64_t max = HF_BATCH - events % HF_BATCH;

	if (w->mode == HF_PASS_LOOK)
		return HF_BATCH;
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
		.hart = w->dec->hart,
		.has_ordinal = w->mode != HF_PASS_LOOK,
		.ordinal = ordinal,
		.bytes = bytes,
	};

	/* The harts' decoders say it too. */
	if (w->dec->hart == HF_HART_RECORDS)
		return 0;
	w->row.problems++;
	return hf_index_part_add_problem(w->b->index, hf_row_id(w->slot, w->row.chunk.number), &problem);
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
	struct hf_builder_image *code = &w->b->code;
	int err;

	hf_builder_drop_code(w->b);
	code->slot = w->slot;
	if (w->mode == HF_PASS_LOOK || w->slot == HF_SLOT_RECORDS)
		return 0;
	if (!start || !(start->events || start->row.chunk.number))
		return hf_image_new(0, &code->image);
	err = hf_index_part_image(w->b->index, w->slot, &code->events, &code->image);
	if (err)
		return err;
	/* A commit keeps all chunks and the code of all their events. */
	if (code->events < start->events)
		return HF_ERR_STATE;
	code->ahead = code->events - start->events;
	return 0;
}

static int collect(struct hf_builder_image *code, const struct hf_event *ev, size_t n)
{
	size_t known = code->ahead < n ? (size_t)code->ahead : n;

	if (!code->image)
		return 0;
	code->ahead -= known;
	code->events += n - known;
	return known < n ? hf_image_put(code->image, ev + known, n - known) : 0;
}

static int store_code(const struct pass *w)
{
	const struct hf_builder_image *code = &w->b->code;

	/* Fewer events than there were at first. */
	if (code->ahead)
		return HF_ERR_STATE;
	return code->image ? hf_index_part_set_image(w->b->index, w->slot, code->events, code->image) : 0;
}

/* Takes down the states behind the chunk at hand. */
static void mark(struct pass *w)
{
	w->next_entry_size = (uint32_t)w->dec->ops->save(w->dec, w->next_entry, &w->next_discard);
	w->next_offset = offset_of(w);
	for (size_t i = 0; i < w->b->view_count; i++)
		if (w->b->views[i].enc)
			hf_view_part_mark(&w->b->views[i]);
}

static int store_chunk(struct pass *w)
{
	int err = hf_index_part_add_chunk(w->b->index, w->slot, &w->row);

	w->attempts += w->row.attempts;
	w->events += w->row.chunk.events;
	return err;
}

/* Another event has come: the chunk at hand is not the last. */
static int next_chunk(struct pass *w)
{
	struct hf_chunk *c = &w->row.chunk;
	int err = 0;

	for (size_t i = 0; i < w->b->view_count && !err; i++)
		if (w->b->views[i].enc)
			err = hf_view_part_end_chunk(&w->b->views[i], hf_row_id(w->slot, c->number));
	if (!err)
		err = store_chunk(w);
	if (!err && !w->slot)
		err = hf_builder_note_harts(w->b, w->dec);
	c->number++;
	c->ordinal += c->insns;
	c->insns = c->events = c->pc = 0;
	c->stream_offset = w->next_offset;
	c->discard = w->next_discard;
	c->entry_size = w->next_entry_size;
	memcpy(c->entry, w->next_entry, w->next_entry_size);
	w->row.attempts = w->row.problems = 0;
	w->has_pc = false;
	w->b->hart_insns = c->ordinal;
	return err ? err : hf_builder_tick(w->b, c->stream_offset, true);
}

/* Every event there is. */
static int decode(struct pass *w)
{
	struct hf_event ev[HF_BATCH];
	int err = 0;

	while (!err) {
		const bool cut = full(w);
		size_t n;

		if (cut)
			mark(w);
		err = hf_dec_next(w->dec, ev,
				  cut ? room(w, 0, 0) : room(w, w->row.chunk.insns, w->row.chunk.events), &n);
		if (err)
			break;
		if (cut)
			err = next_chunk(w);
		if (!err)
			err = count(w, ev, n);
		if (!err)
			err = collect(&w->b->code, ev, n);
		for (size_t i = 0; i < w->b->view_count && !err; i++)
			if (w->b->views[i].enc)
				hf_view_part_put(&w->b->views[i], ev, n);
		if (!err && (++w->batches & 31) == 0)
			err = hf_builder_tick(w->b, offset_of(w), false);
	}
	if (err == HF_NOTE_END)
		return 0;
	/* What a decoder cannot go on from is the end of the hart, and a line in errors.txt. */
	if (w->dec->err == err && hf_input_is_verdict(err)) {
		w->dec->diag.code = err;
		return add_problem(w, &w->dec->diag, w->row.chunk.ordinal + w->row.chunk.insns, 0);
	}
	if (w->dec->err == err && w->b->diag) {
		*w->b->diag = w->dec->diag;
		w->b->diag->code = err;
	}
	return err;
}

static int enter(struct pass *w, const struct hf_pass_start *start)
{
	struct hf_chunk *c = &w->row.chunk;
	int err = 0;

	if (start) {
		w->row = start->row;
		w->attempts = start->attempts;
		w->events = start->events;
		err = hf_dec_load(w->dec, c->entry, c->entry_size, c->discard);
	} else {
		c->entry_size = (uint32_t)w->dec->ops->save(w->dec, c->entry, &c->discard);
		c->stream_offset = offset_of(w);
	}
	for (size_t i = 0; i < w->b->view_count && !err; i++)
		if (w->mode != HF_PASS_LOOK && hf_view_part_is_for(&w->b->views[i], w->dec->hart))
			err = hf_view_part_enter(&w->b->views[i], w->b->in.stream, w->dec->hart, &w->b->env,
						 start != NULL);
	return err;
}

static int store_hart(struct pass *w, struct hf_index_hart *ret_hart)
{
	const struct hf_chunk *c = &w->row.chunk;
	int err = 0;

	for (size_t i = 0; i < w->b->view_count && !err; i++)
		if (w->b->views[i].enc)
			err = hf_view_part_end_hart(&w->b->views[i], w->slot, w->dec->hart, c->number);
	if (!err)
		err = store_chunk(w);
	if (!err)
		err = store_code(w);
	ret_hart->attempts = w->attempts;
	ret_hart->events = w->events;
	ret_hart->chunks = c->number + 1;
	return err;
}

static void leave(struct pass *w)
{
	for (size_t i = 0; i < w->b->view_count; i++)
		hf_view_part_drop_hart(&w->b->views[i]);
	hf_dec_free(w->dec);
}

int hf_pass_run(struct hf_builder *b, uint64_t slot, uint32_t hart, const struct hf_pass_start *start,
		 enum hf_pass_mode mode, struct hf_index_hart *ret_hart)
{
	struct pass w = {.b = b, .slot = slot, .mode = mode};
	size_t known = 0;
	int err;

	*ret_hart = (struct hf_index_hart){.id = hart};
	err = hf_dec_new(b->in.stream, b->in.src, hart, &w.dec);
	if (err)
		return err;
	err = enter(&w, start);
	if (!err)
		err = begin_code(&w, start);
	if (!err)
		err = decode(&w);
	if (!err && slot == 0 && mode != HF_PASS_LOOK)
		err = hf_builder_note_harts(b, w.dec);
	if (slot == 0)
		w.dec->ops->harts(w.dec, &known);
	ret_hart->insns = w.row.chunk.ordinal + w.row.chunk.insns;
	if (!err && mode != HF_PASS_LOOK &&
	    (w.events || w.row.chunk.events || mode == HF_PASS_KEEP || (slot == 0 && known <= 1)))
		err = store_hart(&w, ret_hart);
	leave(&w);
	/* After an error it may still be kept. */
	if (!err)
		hf_builder_drop_code(b);
	return err;
}
