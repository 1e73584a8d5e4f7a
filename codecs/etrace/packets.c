/* SPDX-License-Identifier: Apache-2.0 */
/* What each packet does to the walk (1.1.1, chapter 11). */
#include "codecs/base/errors.h"
#include "codecs/etrace/errors.h"
#include "codecs/etrace/follow.h"
#include "codecs/isa/riscv.h"

/* ---- losses ---- */

static void open_gap(struct hf_etrace_follow *f, int code, uint64_t detail)
{
	struct hf_etrace_follow_state *s = &f->s;

	hf_etrace_clear(f, HF_ETRACE_ANEW);
	if (!s->gap_code) {
		s->gap_code = (uint32_t)-code;
		s->gap_offset = f->s.offset;
		s->gap_detail = detail;
		s->gap_bytes = 0;
		s->gap_back = 0;
	}
	s->gap_bytes += f->s.size;
}

static void close_gap(struct hf_etrace_follow *f)
{
	struct hf_etrace_follow_state *s = &f->s;
	const struct hf_event ev = {
		.kind = HF_EVENT_GAP,
		.code = (uint16_t)s->gap_code,
		.back = s->gap_back,
		.loss = {.offset = s->gap_offset, .bytes = s->gap_bytes, .detail = s->gap_detail},
	};

	if (s->gap_code)
		hf_etrace_add(f, &ev);
	s->gap_code = 0;
}

/* Back to where the packet began: what it made of the program is not believed. */
static void roll_back(struct hf_etrace_follow *f)
{
	if (f->split) {
		f->cur = NULL;
		hf_etrace_clear(f, HF_ETRACE_HELD);
		return;
	}
	f->tail = f->mark;
	f->cur = f->start;
	f->index = f->open = f->start_index;
	f->report.outcomes = f->start_outcomes;
	f->s.unproven = f->start_unproven;
}

void hf_etrace_lose(struct hf_etrace_follow *f, int code, uint64_t detail)
{
	const bool misfit = f->s.phase != HF_ETRACE_IDLE;

	hf_etrace_settle_trap(f, NULL);
	if (hf_etrace_has(f, HF_ETRACE_STARTED) || f->s.phase != HF_ETRACE_IDLE) {
		if (f->s.phase != HF_ETRACE_IDLE)
			roll_back(f);
		hf_etrace_release(f, NULL);
	}
	f->final = f->tail;
	open_gap(f, code, detail);
	if (misfit && f->s.unproven != HF_ETRACE_PROVED)
		f->s.gap_back = hf_event_back(f->s.unproven);
	f->s.unproven = 0;
	hf_etrace_forget_outcomes(&f->report);
	f->s.phase = HF_ETRACE_IDLE;
	f->s.entering = 0;
	f->cur = NULL;
	f->s.flags &= HF_ETRACE_CONTEXTED;
}

void hf_etrace_close(struct hf_etrace_follow *f)
{
	const bool started = hf_etrace_has(f, HF_ETRACE_STARTED);

	hf_etrace_settle_trap(f, NULL);
	hf_etrace_release(f, NULL);
	close_gap(f);
	hf_etrace_forget_outcomes(&f->report);
	f->s.flags = started ? HF_ETRACE_ENDED : f->s.flags & HF_ETRACE_ENDED;
}

/* ---- context ---- */

/* Narrow addresses are extended with their sign, unless that is where the program has no code and with zeros it has. */
static uint64_t high_bits(const struct hf_program *program, uint64_t mask)
{
	bool positive = false;

	for (size_t level = 0; program && level <= program->below_count; level++) {
		const struct hf_program *code = level ? program->below[level - 1] : program;

		for (size_t i = 0; i < code->count; i++) {
			const struct hf_program_piece *piece = &code->pieces[i];

			if (piece->address >= ~(mask >> 1))
				return ~mask;
			positive |= piece->address <= mask && piece->address + (piece->size - 1) > mask >> 1;
		}
	}
	return positive ? 0 : ~mask;
}

void hf_etrace_choose_program(struct hf_etrace_follow *f)
{
	const uint64_t context = hf_etrace_has(f, HF_ETRACE_CONTEXTED) ? f->s.context : HF_SETUP_NO_CONTEXT;

	const struct hf_etrace_params *p = &f->report.given;
	const bool narrow = (f->blocks.rules.xlen & HF_RISCV_XLEN) > p->iaddress_width;

	f->blocks.program = hf_setup_program(f->setup, f->hart, context, HF_MEMORY_ANY);
	f->blocks.high = narrow ? high_bits(f->blocks.program, f->blocks.mask) : 0;
}

/* True if another program is walked from here on. */
static bool set_context(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	const struct hf_program *before = f->blocks.program;
	const struct hf_event ev = {
		.kind = HF_EVENT_CONTEXT,
		.fields = HF_CONTEXT_PID,
		.context.pid = (uint32_t)r->pkt.context,
	};

	if (!r->params.context_width || (hf_etrace_has(f, HF_ETRACE_CONTEXTED) && f->s.context == r->pkt.context))
		return false;
	/* That it is 0 from the start, as where nobody sets it, goes without saying. */
	if (hf_etrace_has(f, HF_ETRACE_CONTEXTED) || r->pkt.context)
		hf_etrace_add(f, &ev);
	if (r->pkt.context > UINT32_MAX)
		hf_etrace_note(f, HF_ERR_CONTEXT_WIDE, r->pkt.context);
	f->s.context = r->pkt.context;
	f->s.flags |= HF_ETRACE_CONTEXTED;
	hf_etrace_choose_program(f);
	return f->blocks.program != before;
}

/* ---- formats 0, 1 and 2 ---- */

/* trap_reporting = figure: the address of the packet before was final although nothing says so. */
static bool is_final(const struct hf_etrace_follow *f)
{
	const struct hf_walk_block *b = f->cur;

	return f->report.params.figure && b && f->index + 1u == b->count &&
	       (b->end == HF_WALK_INDIRECT || b->end == HF_WALK_TRAP_RETURN) &&
	       (hf_etrace_has(f, HF_ETRACE_INFERRED) || hf_etrace_has(f, HF_ETRACE_FINAL));
}

/* A count of branches as predicted that one wrong bit makes: the packet may still fit. */
static void note_long(struct hf_etrace_follow *f)
{
	const struct hf_etrace_packet *pkt = &f->report.pkt;

	if (pkt->format == 0 && !hf_etrace_is_index(pkt) && pkt->branch_count >= HF_ETRACE_PREDICTED_LONG)
		hf_etrace_note(f, HF_ERR_ETRACE_LONG, pkt->branch_count + UINT64_C(31));
}

static int take_report(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	struct hf_etrace_follow_state *s = &f->s;
	const bool final = is_final(f);
	int err;

	if (!hf_etrace_has(f, HF_ETRACE_STARTED)) {
		open_gap(f, HF_ERR_ETRACE_UNSYNCED, 0);
		return 0;
	}
	if (!f->cur)
		return HF_ERR_ETRACE_PATH;
	if (!hf_etrace_has(f, HF_ETRACE_INFERRED)) /* else they count from where that address is found */
		r->outcomes.irets = 0;
	err = hf_etrace_report_take(r);
	if (err)
		return err;
	note_long(f);
	hf_etrace_clear(f, HF_ETRACE_SUSPECT | HF_ETRACE_FINAL | HF_ETRACE_AFTER_TRAP);
	if (final) {
		hf_etrace_clear(f, HF_ETRACE_INFERRED);
		r->outcomes.irets = 0;
		s->flags |= HF_ETRACE_SUSPECT;
	}
	if (hf_etrace_has(f, HF_ETRACE_INFERRED)) {
		s->phase = HF_ETRACE_INFER;
		return 0;
	}
	return hf_etrace_begin_follow(f);
}

/* An outcome that is left is of the branch held back: it stands by itself from here on. */
static void settle_outcome(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	uint64_t pc;
	bool taken;

	if (!r->outcomes.predicted && !r->outcomes.against)
		return;
	hf_etrace_successor(f, &pc, &taken);
	hf_etrace_forget_outcomes(r);
	hf_etrace_add_outcome(r, !taken);
}

static void finish_report(struct hf_etrace_follow *f)
{
	settle_outcome(f);
	f->s.reported = true;
	/* An address that a jump leads to says nothing of the path to that jump. */
	if (hf_etrace_has(f, HF_ETRACE_INFERRED) || f->report.pkt.notify)
		f->s.unproven = HF_ETRACE_PROVED;
	if (f->report.params.figure && f->report.pkt.updiscon)
		f->s.flags |= HF_ETRACE_FINAL;
	hf_etrace_report_learn(&f->report);
}

/* ---- synchronisation ---- */

/* Where the flow goes on is not where it came from. */
static void add_discontinuity(struct hf_etrace_follow *f, uint64_t to)
{
	struct hf_etrace_follow_state *s = &f->s;
	const bool known = hf_etrace_has(f, HF_ETRACE_ENDED_AT);
	const struct hf_event ev = {
		.kind = HF_EVENT_DISCONTINUITY,
		.flags = HF_EVF_UNTRACED,
		.jump = {.from = known ? hf_walk_full(&f->blocks, s->prev_address) : 0,
			 .to = hf_walk_full(&f->blocks, to)},
	};

	if (hf_etrace_has(f, HF_ETRACE_ENDED) && !(known && s->prev_address == to))
		hf_etrace_add(f, &ev);
	hf_etrace_clear(f, HF_ETRACE_ENDED | HF_ETRACE_ENDED_AT);
}

/* Without regard to what came before: the walk stands before address. */
static void enter(struct hf_etrace_follow *f, uint64_t address)
{
	struct hf_etrace_report *r = &f->report;
	struct hf_etrace_follow_state *s = &f->s;

	hf_etrace_forget_outcomes(r);
	close_gap(f);
	add_discontinuity(f, address);
	s->pc = r->target = address;
	s->privilege = r->pkt.privilege;
	s->phase = HF_ETRACE_ENTER;
	s->entering = 1;
	s->prev_end = HF_WALK_ON;
	f->cur = NULL;
	set_context(f);
	/* All that is in the list now stays, even if there is no code at address. */
	f->mark = f->tail;
	f->start = NULL;
}

static int take_sync(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	struct hf_etrace_follow_state *s = &f->s;
	const uint64_t address = hf_etrace_unshift(&r->params, r->pkt.address);

	hf_etrace_clear(f, HF_ETRACE_INFERRED | HF_ETRACE_SUSPECT | HF_ETRACE_FINAL | HF_ETRACE_AFTER_TRAP);
	r->outcomes.irets = 0;
	if (!hf_etrace_has(f, HF_ETRACE_STARTED) || hf_etrace_has(f, HF_ETRACE_TRAP0) || !f->cur) {
		hf_etrace_settle_trap(f, &address);
		enter(f, address);
		return 0;
	}
	if (hf_etrace_is_branch_at(f, address))
		hf_etrace_add_outcome(r, r->pkt.branch);
	r->target = address;
	s->phase = HF_ETRACE_FOLLOW;
	return 0;
}

static int take_trap(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	struct hf_etrace_follow_state *s = &f->s;
	uint64_t address = hf_etrace_unshift(&r->params, r->pkt.address);

	/* behind an announced loss it may be what tracing starts with */
	if (!r->pkt.thaddr && s->gap_code && s->gap_code != (uint32_t)-HF_ERR_ETRACE_LOST) {
		open_gap(f, HF_ERR_ETRACE_UNSYNCED, 0);
		return 0;
	}
	if (!r->pkt.has_address && !hf_etrace_report_vector(r, &address))
		return HF_ERR_ETRACE_VECTOR;
	hf_etrace_clear(f, HF_ETRACE_INFERRED);
	close_gap(f);
	/* The handler of a trap that was reported alone is where the next one came. */
	if (hf_etrace_has(f, HF_ETRACE_NEXT_EPC))
		hf_etrace_settle_trap(f, &s->next_epc);
	else
		hf_etrace_settle_trap(f, hf_etrace_has(f, HF_ETRACE_TRAP0) && !r->pkt.thaddr ? &address : NULL);
	if (hf_etrace_has(f, HF_ETRACE_ENDED) && r->pkt.thaddr)
		add_discontinuity(f, address);
	hf_etrace_trap(f);
	hf_etrace_forget_outcomes(r);
	hf_etrace_clear(f, HF_ETRACE_SUSPECT | HF_ETRACE_FINAL | HF_ETRACE_AFTER_TRAP | HF_ETRACE_TRAP0);
	r->outcomes.irets = 0;
	if (!r->pkt.thaddr) {
		s->flags |= HF_ETRACE_TRAP0;
		return 0;
	}
	hf_etrace_settle_trap(f, &address);
	enter(f, address);
	return 0;
}

/* 2.1: tables that outlive synchronisation are not known to who did not see tracing start. */
static void doubt_tables(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	const uint32_t learning = HF_ETRACE_IMPLICIT_RETURN | HF_ETRACE_BRANCH_PREDICTION | HF_ETRACE_JUMP_TARGET_CACHE;
	const struct hf_event ev = {
		.kind = HF_EVENT_DOUBT, .code = (uint32_t)-HF_ERR_ETRACE_TABLES, .loss.offset = f->s.offset};

	if ((r->modes & HF_ETRACE_RESYNC_DISABLED) && (r->modes & learning) && !hf_etrace_has(f, HF_ETRACE_ANEW))
		hf_etrace_add(f, &ev);
}

static void finish_sync(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	struct hf_etrace_follow_state *s = &f->s;

	if (f->finished == HF_ETRACE_FOLLOW) {
		f->agreed->count++;
		f->agreed->offset = s->offset;
	}
	if (f->finished == HF_ETRACE_ENTER && f->cur->end == HF_WALK_BRANCH && f->cur->count == 1)
		hf_etrace_add_outcome(r, r->pkt.branch); /* entering forgot all others */
	s->privilege = r->pkt.privilege;
	if (f->finished == HF_ETRACE_FOLLOW)
		s->unproven = HF_ETRACE_PROVED;
	/* 2.1: where nothing is synchronised but the start, what was learned stays */
	hf_etrace_report_sync(r, hf_etrace_has(f, HF_ETRACE_STARTED));
	doubt_tables(f);
	hf_etrace_clear(f, HF_ETRACE_TRAP0 | HF_ETRACE_INFERRED | HF_ETRACE_NEXT_EPC);
	s->flags |= HF_ETRACE_STARTED;
	if (r->pkt.subformat == HF_ETRACE_TRAP)
		s->flags |= HF_ETRACE_AFTER_TRAP;
	if (r->params.time_width)
		hf_etrace_add_time(f, r->pkt.time);
	f->synced = true;
	if (set_context(f)) { /* the same address, but of another program */
		f->cur = NULL;
		s->adjacent = 0;
	}
}

/* ---- context and support ---- */

static void take_context(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;

	if (!hf_etrace_has(f, HF_ETRACE_INFERRED))
		r->outcomes.irets = 0;
	f->s.privilege = r->pkt.privilege;
	if (r->params.time_width)
		hf_etrace_add_time(f, r->pkt.time);
	set_context(f);
}

/* Tracing ends behind the instruction held back. */
static void end_trace(struct hf_etrace_follow *f)
{
	struct hf_etrace_follow_state *s = &f->s;
	bool taken;

	if (!hf_etrace_has(f, HF_ETRACE_STARTED))
		return;
	s->flags |= HF_ETRACE_ENDED;
	if (hf_etrace_successor(f, &s->prev_address, &taken))
		s->flags |= HF_ETRACE_ENDED_AT;
	hf_etrace_release(f, NULL);
	hf_etrace_forget_outcomes(&f->report);
}

/* Modes and sizes as the packet has them. */
static int take_options(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	const uint32_t before = r->modes;
	int err = hf_etrace_report_support(r);

	f->full |= (r->modes ^ before) & HF_ETRACE_SIJUMP;
	for (uint32_t mode = 1; mode <= HF_ETRACE_BRANCH_PREDICTION && !err; mode <<= 1)
		if (r->modes & ~before & mode && hf_etrace_report_lacks(r, mode))
			hf_etrace_note(f, hf_etrace_report_lacks(r, mode), 0);
	return err;
}

static int finish_support(struct hf_etrace_follow *f)
{
	const uint8_t status = f->report.pkt.qual_status;
	const bool first = !hf_etrace_has(f, HF_ETRACE_STARTED) && !f->s.gap_code;
	int err;

	if (status == HF_ETRACE_ENDED_REP || status == HF_ETRACE_ENDED_UPD)
		end_trace(f);
	err = take_options(f);
	if (err)
		return err;
	if (status == HF_ETRACE_TRACE_LOST) {
		hf_etrace_lose(f, HF_ERR_ETRACE_LOST, 0);
		f->s.gap_bytes = 0; /* they never were in the stream */
	} else if (status != HF_ETRACE_NO_CHANGE) {
		hf_etrace_settle_trap(f, NULL); /* its handler was not traced */
		hf_etrace_clear(f, HF_ETRACE_STARTED | HF_ETRACE_INFERRED | HF_ETRACE_TRAP0 | HF_ETRACE_NEXT_EPC);
	}
	if (first || status != HF_ETRACE_NO_CHANGE)
		f->s.flags |= HF_ETRACE_ANEW;
	return 0;
}

static int take_support(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;

	if (!hf_etrace_has(f, HF_ETRACE_INFERRED))
		r->outcomes.irets = 0;
	if (r->pkt.qual_status == HF_ETRACE_ENDED_UPD && hf_etrace_has(f, HF_ETRACE_INFERRED) && f->cur) {
		f->s.phase = HF_ETRACE_INFER;
		return 0;
	}
	return finish_support(f);
}

/* ---- all of them ---- */

int hf_etrace_finish(struct hf_etrace_follow *f)
{
	if (hf_etrace_is_support(&f->report.pkt))
		return finish_support(f);
	if (f->report.pkt.format == 3)
		finish_sync(f);
	else
		finish_report(f);
	return 0;
}

int hf_etrace_resync(struct hf_etrace_follow *f)
{
	return take_sync(f);
}

int hf_etrace_dispatch(struct hf_etrace_follow *f, const struct hf_etrace_message *msg, uint64_t *ret_detail)
{
	struct hf_etrace_report *r = &f->report;
	const struct hf_etrace_packet *pkt = &r->pkt;
	int err = hf_etrace_report_read(r, msg->payload, msg->length);

	f->start = f->cur;
	f->start_index = f->index;
	f->start_outcomes = r->outcomes;
	f->start_unproven = f->s.unproven;
	f->mark = f->tail;
	f->split = false;
	f->s.steps = 0;
	*ret_detail = 0;
	if (err)
		return err;
	*ret_detail = hf_etrace_is_index(pkt) ? pkt->index : 0;
	if (pkt->format != 3)
		return take_report(f);
	switch (pkt->subformat) {
	case HF_ETRACE_SYNC:
		return take_sync(f);
	case HF_ETRACE_TRAP:
		return take_trap(f);
	case HF_ETRACE_CONTEXT:
		take_context(f);
		return 0;
	default:
		return take_support(f);
	}
}
