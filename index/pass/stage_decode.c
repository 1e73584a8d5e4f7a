/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first stage of a run: it decodes the events of the hart, counts them, cuts chunks, and saves how each chunk is
 * entered again.
 *
 * Where a chunk ends depends only on the events and the limits, so a resumed build cuts the same chunks. A call of the
 * decoder never goes beyond a limit. The limit on bytes, which are known only between two calls, is checked where the
 * number of events is a multiple of HF_DECODE_EVENTS.
 */
#include "index/pass/pass_run.h"

#include "codecs/base/errors.h"

#include <stdlib.h>

struct decode {
	struct hf_stage stage; /* first */
	struct hf_pass_run *run;
	enum hf_run_mode mode;
	struct hf_chunk chunk; /* the present one; insns and events grow */
	bool has_pc;
	/* the state at its end, taken before it is known whether anything follows */
	uint8_t next_entry[HF_ENTRY_MAX];
	uint32_t next_entry_size;
	uint64_t next_discard, next_offset;
	/* of the hart, without the present chunk */
	uint64_t attempts, events;
	struct hf_told told;
	uint64_t most; /* most events of the hart that are decoded */
	size_t seen;   /* so many of the decoder's harts are queued */
	bool doubted;  /* the pass's doubt is in the events */
};

/* A usual number, of STF. */
#define RECORDS_AN_EVENT 3u

static_assert(HF_DECODE_EVENTS <= UINT16_MAX, "the events of a kind are counted in 16 bits");
static_assert(HF_BATCH_EVENTS % HF_DECODE_EVENTS == 0,
	      "a chunk begins with a batch: what is asked for never outgrows it");

static uint64_t offset_of(const struct decode *d)
{
	return hf_dec_offset(d->run->dec);
}

/* The most events of a chunk. For the records an event may be several lines. */
static uint64_t events_limit(const struct decode *d)
{
	const uint64_t limit = d->run->pass->limits.events;

	return d->run->slot == HF_SLOT_RECORDS && limit > RECORDS_AN_EVENT ? limit / RECORDS_AN_EVENT : limit;
}

/* Whether the hart has reached its most events. */
static bool is_spent(const struct decode *d)
{
	return d->chunk.events && d->events + d->chunk.events >= d->most;
}

static bool full(const struct decode *d)
{
	const struct hf_chunk_limits *limits = &d->run->pass->limits;
	const struct hf_chunk *c = &d->chunk;

	return is_spent(d) || c->insns >= limits->insns || c->events >= events_limit(d) ||
	       (c->events && c->events % HF_DECODE_EVENTS == 0 && offset_of(d) - c->stream_offset >= limits->bytes);
}

/* How many events may come before a limit, or before the next check of bytes. */
static size_t room(const struct decode *d, uint64_t insns, uint64_t events)
{
	const struct hf_chunk_limits *limits = &d->run->pass->limits;
	const uint64_t all = d->events + d->chunk.events;
	uint64_t max = HF_DECODE_EVENTS - events % HF_DECODE_EVENTS;

	/* One more shows whether there are too many. */
	if (all >= d->most)
		return 1;
	if (d->most - all < max)
		max = d->most - all;

	if (limits->insns - insns < max)
		max = limits->insns - insns;
	if (events_limit(d) - events < max)
		max = events_limit(d) - events;
	return (size_t)max;
}

static int add_problem(struct decode *d, const struct hf_diag *diag, uint64_t ordinal, uint64_t bytes, uint64_t back)
{
	const bool look = d->mode == HF_RUN_LOOK;
	const struct hf_index_problem problem = {
		.diag = *diag,
		.chunk = hf_row_id(d->run->slot, d->chunk.number),
		.hart = d->run->dec->hart,
		.has_ordinal = !look,
		.ordinal = look ? HF_NOWHERE : ordinal,
		.bytes = bytes,
		.back = back,
	};

	/* The harts' decoders give the same problems. */
	if (d->run->dec->hart == HF_HART_RECORDS)
		return 0;
	d->chunk.problems++;
	return hf_pass_run_push(d->run, HF_ROW_PROBLEM, &problem, sizeof problem, NULL, 0);
}

/* GAP, DOUBT and NOTE events among ev[n]; ordinal: retired instructions before them. */
static int add_problems(struct decode *d, const struct hf_event *ev, size_t n, uint64_t ordinal)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct hf_diag diag;

		ordinal += ev[i].kind == HF_EVENT_INSN;
		if (ev[i].kind != HF_EVENT_GAP && ev[i].kind != HF_EVENT_DOUBT && ev[i].kind != HF_EVENT_NOTE)
			continue;
		hf_event_diag(&ev[i], &diag);
		err = add_problem(d, &diag, ordinal, ev[i].loss.bytes, ev[i].back);
	}
	return err;
}

/* How many of n <= HF_DECODE_EVENTS events are instructions, and of which kinds there are any. */
static uint64_t count_kinds(const struct hf_event *ev, size_t n, uint32_t *ret_kinds)
{
	/* Nearly all events are of these kinds, which are counted in one number. */
	enum { INSN = 0, MEM = 16, REG = 32 };
	static const uint64_t one[256] = {[HF_EVENT_INSN] = UINT64_C(1) << INSN,
					  [HF_EVENT_MEM] = UINT64_C(1) << MEM,
					  [HF_EVENT_REG] = UINT64_C(1) << REG};
	uint64_t counts = 0;
	uint16_t insns, mems, regs;

	for (size_t i = 0; i < n; i++)
		counts += one[ev[i].kind];
	insns = (uint16_t)(counts >> INSN);
	mems = (uint16_t)(counts >> MEM);
	regs = (uint16_t)(counts >> REG);
	if ((size_t)insns + mems + regs < n)
		*ret_kinds = hf_event_kinds(ev, n);
	else
		*ret_kinds = (insns ? 1u << HF_EVENT_INSN : 0) | (mems ? 1u << HF_EVENT_MEM : 0) |
			     (regs ? 1u << HF_EVENT_REG : 0);
	return insns;
}

static void count_told(const struct hf_event *ev, size_t n, struct hf_told *told)
{
	for (size_t i = 0; i < n; i++) {
		if (ev[i].kind != HF_EVENT_MARKER)
			continue;
		told->texts += ev[i].what == HF_MARKER_TEXT;
		told->samples += ev[i].what == HF_MARKER_SAMPLE;
		told->markers += ev[i].what != HF_MARKER_TEXT && ev[i].what != HF_MARKER_SAMPLE;
	}
}

/* Counts the last n events of the batch. */
static int count(struct decode *d, struct hf_batch *batch, size_t n)
{
	const struct hf_event *ev = batch->ev + batch->n - n;
	struct hf_chunk *c = &d->chunk;
	const uint64_t ordinal = c->ordinal + c->insns;
	uint64_t insns;
	uint32_t kinds;

	c->events += n;
	/* The records are DATA alone. */
	if (d->run->slot == HF_SLOT_RECORDS)
		return 0;
	insns = count_kinds(ev, n, &kinds);
	batch->kinds |= kinds;
	c->insns += insns;
	for (size_t i = 0; kinds & 1u << HF_EVENT_ATTEMPT && i < n; i++)
		c->attempts += ev[i].kind == HF_EVENT_ATTEMPT;
	if (kinds & 1u << HF_EVENT_MARKER)
		count_told(ev, n, &c->told);
	for (size_t i = 0; insns && !d->has_pc; i++) {
		if (ev[i].kind == HF_EVENT_INSN) {
			c->pc = ev[i].insn.pc;
			d->has_pc = true;
		}
	}
	return kinds & HF_PROBLEM_KINDS ? add_problems(d, ev, n, ordinal) : 0;
}

/* ---- decoding ---- */

/* If the chunk that begins with that state may reach the doubtful bytes, it begins with a DOUBT event. Returns the size
 * of the state. */
static uint32_t mark_doubt(struct decode *d, uint64_t offset, uint8_t *entry, uint32_t size)
{
	const struct hf_pass *pass = d->run->pass;
	const struct hf_diag *doubt = &pass->doubt;

	/* A chunk may exceed the limit by the bytes of one call. */
	if (!doubt->code || d->doubted || d->mode == HF_RUN_LOOK || doubt->offset >= offset + 2 * pass->limits.bytes)
		return size;
	d->doubted = true;
	return (uint32_t)hf_dec_doubt(d->run->dec, doubt->offset, doubt->detail, entry, size);
}

/* Saves the state behind the present chunk. */
static void mark(struct decode *d)
{
	d->next_offset = offset_of(d);
	d->next_entry_size = (uint32_t)hf_dec_save(d->run->dec, d->next_entry, &d->next_discard);
	d->next_entry_size = mark_doubt(d, d->next_offset, d->next_entry, d->next_entry_size);
}

/* The event that came is one too many: hf_dec_cut replaces it. */
static void cut_off(struct decode *d, struct hf_event *ev)
{
	hf_dec_cut(d->run->dec, d->next_offset, d->events + d->chunk.events, d->next_entry, ev);
	d->next_entry_size = HF_MARK_SIZE;
	d->next_discard = 0;
}

/* There is one hart too many; where it was met only the chunk tells. */
static int leave_out(struct decode *d, uint32_t hart)
{
	const struct hf_diag diag = {
		.code = HF_ERR_STF_HART_LIMIT, .space = HF_SPACE_STREAM, .offset = HF_NOWHERE, .detail = hart};

	return add_problem(d, &diag, d->chunk.ordinal + d->chunk.insns, 0, 0);
}

static int note_harts(struct decode *d)
{
	size_t n;
	const uint32_t *ids = hf_dec_harts(d->run->dec, &n);
	const size_t max = d->run->dec->ops->harts_max;
	int err = 0;

	for (; d->seen < n && !err; d->seen++) {
		if (max && d->seen >= max)
			err = leave_out(d, ids[d->seen]);
		else
			err = hf_pass_run_push(d->run, HF_ROW_ID, &ids[d->seen], sizeof ids[d->seen], NULL, 0);
	}
	return err;
}

/* The present chunk ends with the present batch. */
static void end_chunk(struct decode *d, enum hf_tail tail)
{
	struct hf_batch *batch = hf_pass_run_batch(d->run, 0);

	batch->tail = tail;
	batch->chunk = d->chunk;
	batch->chunk.last = tail == HF_TAIL_HART;
	d->attempts += d->chunk.attempts;
	d->events += d->chunk.events;
	hf_told_add(&d->told, &d->chunk.told);
}

/* Another event has come: the present chunk is not the last. */
static int next_chunk(struct decode *d)
{
	struct hf_chunk *c = &d->chunk;
	int err = d->run->slot ? 0 : note_harts(d);

	end_chunk(d, HF_TAIL_CHUNK);
	c->number++;
	c->ordinal += c->insns;
	c->insns = c->events = c->pc = 0;
	c->stream_offset = d->next_offset;
	c->discard = d->next_discard;
	c->entry_size = d->next_entry_size;
	memcpy(c->entry, d->next_entry, d->next_entry_size);
	d->chunk.attempts = d->chunk.problems = 0;
	d->chunk.told = (struct hf_told){0};
	d->has_pc = false;
	return err;
}

static void begin_batch(struct decode *d, struct hf_batch *batch)
{
	batch->n = 0;
	batch->kinds = 0;
	batch->tail = HF_TAIL_NONE;
	batch->chunk.number = d->chunk.number;
	batch->chunk.ordinal = d->chunk.ordinal;
}

static void tell(struct decode *d)
{
	const struct hf_input *in = d->run->in;

	atomic_store_explicit(&d->run->pos, in->box ? in->in_pos : offset_of(d), memory_order_relaxed);
	atomic_store_explicit(&d->run->insns, d->chunk.ordinal + d->chunk.insns, memory_order_relaxed);
}

/* The present batch is the hart's last: stores the hart, if wanted. */
static enum hf_stage_result end_hart(struct decode *d)
{
	struct hf_index_hart *hart = &d->run->end.hart;
	size_t known = 0;

	if (d->run->slot == 0)
		hf_dec_harts(d->run->dec, &known);
	hart->insns = d->chunk.ordinal + d->chunk.insns;
	if (d->mode == HF_RUN_LOOK ||
	    !(d->events || d->chunk.events || d->mode == HF_RUN_KEEP || (d->run->slot == 0 && known <= 1)))
		return HF_STAGE_NONE;
	hart->attempts = d->attempts + d->chunk.attempts;
	hart->events = d->events + d->chunk.events;
	hart->chunks = d->chunk.number + 1;
	end_chunk(d, HF_TAIL_HART);
	hart->told = d->told;
	return HF_STAGE_DONE;
}

/* The decoder gives no more events: err says why. */
static int end(struct decode *d, int err)
{
	struct hf_pass_run *run = d->run;
	const struct hf_diag diag = run->dec->diag;

	if (err != HF_NOTE_END && !hf_input_is_verdict(err)) {
		run->diag = diag;
		run->diag.code = err;
		return err;
	}
	/* An error of the decoder ends the hart, and is a line in errors.txt. */
	if (err != HF_NOTE_END) {
		struct hf_diag problem = diag;

		problem.code = err;
		err = add_problem(d, &problem, d->chunk.ordinal + d->chunk.insns, 0, 0);
	} else {
		err = 0;
	}
	if (!err && run->slot == 0 && d->mode != HF_RUN_LOOK)
		err = note_harts(d);
	/* The first run reads the file to its end. */
	if (!err && run->in != &run->own)
		err = hf_input_drain(run->in, &run->end.stream_size, &run->end.damage);
	return err ? err : (int)end_hart(d);
}

/* Decodes until the batch is full or the chunk ends. */
static int work(struct hf_stage *stage, struct hf_batch *batch)
{
	struct decode *d = (struct decode *)stage;
	bool filled = false;
	int err = 0;

	while (!err && !filled) {
		const bool cut = full(d);
		size_t n;

		filled = cut || batch->n == HF_BATCH_EVENTS;
		if (cut)
			mark(d);
		if (filled) {
			batch = hf_pass_run_batch(d->run, 1);
			/* Smaller chunks would not pay for it. */
			if (d->chunk.events >= HF_BATCH_EVENTS)
				hf_batch_fetch(batch);
		}
		err = hf_dec_next(d->run->dec, batch->ev + (filled ? 0 : batch->n),
				  cut ? room(d, 0, 0) : room(d, d->chunk.insns, d->chunk.events), &n);
		if (err)
			return end(d, err);
		if (is_spent(d))
			cut_off(d, batch->ev);
		if (cut)
			err = next_chunk(d);
		if (filled)
			begin_batch(d, batch);
		batch->n += n;
		if (!err)
			err = count(d, batch, n);
	}
	tell(d);
	return err;
}

/* The same when only problems are looked for: the events are dropped. */
static int look(struct hf_stage *stage, struct hf_batch *batch)
{
	struct decode *d = (struct decode *)stage;
	int err = 0;

	for (size_t all = 0; !err && all < HF_BATCH_EVENTS; all += batch->n) {
		err = hf_dec_next(d->run->dec, batch->ev, HF_DECODE_EVENTS, &batch->n);
		if (err)
			return end(d, err);
		err = count(d, batch, batch->n);
	}
	tell(d);
	return err ? err : (int)HF_STAGE_AGAIN;
}

static void free_decode(struct hf_stage *stage)
{
	free(stage);
}

static const struct hf_stage_ops store_ops = {.work = work, .free = free_decode};
static const struct hf_stage_ops look_ops = {.work = look, .free = free_decode};

static uint64_t most_events(const struct hf_pass_run *run)
{
	const uint64_t most = run->pass->most;

	if (run->slot == HF_SLOT_RECORDS || most == HF_NOWHERE)
		return HF_NOWHERE;
	return most / (run->slot + 1);
}

int hf_stage_decode_add(struct hf_pass_run *run, const struct hf_run_start *start, enum hf_run_mode mode)
{
	struct decode *d = calloc(1, sizeof *d);
	struct hf_chunk *c;
	int err = 0;

	if (!d)
		return HF_ERR_NOMEM;
	d->stage.ops = mode == HF_RUN_LOOK ? &look_ops : &store_ops;
	d->run = run;
	d->mode = mode;
	d->most = most_events(run);
	hf_pass_run_add_stage(run, &d->stage);
	c = &d->chunk;
	if (start) {
		d->chunk = start->chunk;
		d->attempts = start->attempts;
		d->events = start->events;
		d->told = start->told;
		err = hf_dec_load(run->dec, c->entry, c->entry_size, c->discard);
	} else {
		c->entry_size = (uint32_t)hf_dec_save(run->dec, c->entry, &c->discard);
		c->stream_offset = offset_of(d);
		c->entry_size = mark_doubt(d, c->stream_offset, c->entry, c->entry_size);
	}
	begin_batch(d, hf_pass_run_batch(run, 0));
	return err;
}
