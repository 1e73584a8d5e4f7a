/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the events of a hart and decides which messages the flow needs. References are to N-Trace 1.0. */
#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"
#include "codecs/ntrace/encoder.h"
#include "codecs/views.h"
#include "codecs/walk/known.h"

#include <stdlib.h>

/* ---- before an instruction ---- */

/* The flow is not where the program leads, and the events do not say why. So the trace stops and starts again. */
static void go_on_elsewhere(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc)
{
	hf_ntrace_emit_stop(e, sink);
	e->s.start = HF_NTRACE_SYNC_ENABLE;
	e->s.btype = HF_NTRACE_BTYPE_JUMP;
	hf_ntrace_emit_start(e, sink, pc);
}

/*
 * The flow has come to pc. Writes the message that a reader needs to follow, if any. may_sync: an instruction retires
 * at pc, so the message may synchronise if that is due.
 */
static void resolve(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc, bool may_sync)
{
	struct hf_ntrace_enc_state *s = &e->s;
	bool due = may_sync && e->c.sync && s->since >= e->c.sync;

	switch (s->pending) {
	case HF_NTRACE_PENDING_START:
		hf_ntrace_emit_start(e, sink, pc);
		break;
	case HF_NTRACE_PENDING_TRAP:
		hf_ntrace_emit_flow(e, sink, s->btype, pc, due);
		break;
	case HF_NTRACE_PENDING_INDIRECT:
		if (!s->has_returned || s->returned != pc)
			hf_ntrace_emit_flow(e, sink, HF_NTRACE_BTYPE_JUMP, pc, due);
		else if (due)
			hf_ntrace_emit_sync(e, sink, pc);
		break;
	case HF_NTRACE_PENDING_TAKEN:
		hf_ntrace_emit_taken(e, sink, s->next, due && pc == s->next);
		if (pc != s->next)
			go_on_elsewhere(e, sink, pc);
		break;
	default:
		if (pc != s->next && !s->plain)
			go_on_elsewhere(e, sink, pc);
		else if (pc != s->next)
			hf_ntrace_emit_flow(e, sink, HF_NTRACE_BTYPE_JUMP, pc, false);
		else if (due)
			hf_ntrace_emit_sync(e, sink, pc);
		break;
	}
	s->plain = 0;
	s->pending = HF_NTRACE_PENDING_NONE;
	s->btype = HF_NTRACE_BTYPE_JUMP;
	s->has_returned = 0;
	s->next = pc;
	s->known = 1;
}

/* ---- instructions ---- */

static void set_pending(struct hf_ntrace_enc_state *s, uint8_t pending, uint64_t next)
{
	s->pending = pending;
	s->next = next;
	s->known = 1;
}

/* A taken branch to next, or a jump that is traced like one. */
static void put_taken(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t next)
{
	if (e->c.history)
		hf_ntrace_emit_history(e, sink, true);
	set_pending(&e->s, e->c.history ? HF_NTRACE_PENDING_NONE : HF_NTRACE_PENDING_TAKEN, next);
}

static void put_branch(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev,
		       const struct hf_walk_ending *known)
{
	uint64_t target = known ? known->target : ev->insn.target;

	e->s.plain = 0;
	if (ev->flags & HF_EVF_TAKEN) {
		if (!known)
			hf_riscv_target(ev->insn.opcode, e->c.wire.isa, ev->insn.pc, &target);
		put_taken(e, sink, target);
	} else if (e->c.history) {
		hf_ntrace_emit_history(e, sink, false);
	}
}

/*
 * An instruction that may change the flow. Its target is taken from the program and not from the event, because a
 * reader has only the program. known: its ending, or NULL.
 */
static void put_flow(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev, uint64_t behind,
		     const struct hf_walk_ending *known)
{
	struct hf_ntrace_enc_state *s = &e->s;
	const struct hf_ev_insn *insn = &ev->insn;
	struct hf_walk_ending ending;

	if (insn->flow == HF_FLOW_BRANCH) {
		put_branch(e, sink, ev, known);
		return;
	}
	ending = known ? *known : hf_walk_ending(&e->rules, e->c.tables, insn, s->upper_pc, s->upper_opcode);
	switch (ending.end) {
	case HF_WALK_JUMP:
		s->plain = 0;
		if (e->c.wire.all_jumps && !(ending.flags & HF_WALK_PAIRED))
			put_taken(e, sink, ending.target);
		else
			set_pending(s, HF_NTRACE_PENDING_NONE, ending.target);
		break;
	case HF_WALK_INDIRECT:
	case HF_WALK_TRAP_RETURN:
		s->has_returned = ending.flags & HF_WALK_RETURN && hf_return_stack_pop(&e->calls, &s->returned);
		set_pending(s, HF_NTRACE_PENDING_INDIRECT, insn->target);
		s->known = ev->flags & HF_EVF_TAKEN;
		break;
	case HF_WALK_TRAP_CALL: /* an ecall that retires, which is unusual: readers need the address */
		set_pending(s, HF_NTRACE_PENDING_INDIRECT, ev->flags & HF_EVF_TAKEN ? insn->target : behind);
		s->has_returned = 0;
		break;
	default:
		break;
	}
	if (ending.flags & HF_WALK_CALL)
		hf_return_stack_push(&e->calls, behind);
}

/* Counts an instruction to which the flow has come, and follows it. */
static inline void pass_insn(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev,
			     const struct hf_walk_ending *known)
{
	const struct hf_ev_insn *insn = &ev->insn;
	struct hf_ntrace_enc_state *s = &e->s;
	const uint64_t behind = insn->isa == HF_ISA_RV32 ? (uint32_t)(insn->pc + insn->size) : insn->pc + insn->size;

	s->saying = 0;
	s->since += e->c.sync_halfwords ? insn->size / 2u : 1;
	if (s->icnt + insn->size / 2u > e->c.icnt_max)
		hf_ntrace_emit_full_count(e, sink);
	s->icnt += insn->size / 2u;
	s->next = behind;
	s->known = 1;
	s->plain = 1;
	if (insn->flow != HF_FLOW_PLAIN)
		put_flow(e, sink, ev, behind, known);
	if (e->c.wire.sequential_jump) {
		s->upper_pc = insn->pc;
		s->upper_opcode = insn->opcode;
	}
}

static void put_insn(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const struct hf_ev_insn *insn = &ev->insn;
	struct hf_ntrace_enc_state *s = &e->s;

	if (s->pending != HF_NTRACE_PENDING_NONE || insn->pc != s->next ||
	    (s->since >= e->c.sync && e->c.sync))
		resolve(e, sink, insn->pc, true);
	if (insn->mode != HF_MODE_UNKNOWN)
		s->mode = insn->mode;
	if (s->owning && (s->owner_due || s->mode != s->said_mode))
		hf_ntrace_emit_ownership(e, sink);
	hf_ntrace_emit_value(e, sink);
	pass_insn(e, sink, ev, NULL);
}

/* ---- other events ---- */

/* An exception or interrupt, where the flow has come to. If nothing was traced before, the trace begins with it. */
static void put_trap(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_ntrace_enc_state *s = &e->s;
	const bool starts = s->pending == HF_NTRACE_PENDING_START && s->btype == HF_NTRACE_BTYPE_JUMP;

	if (!starts && s->pending != HF_NTRACE_PENDING_NONE && s->known)
		resolve(e, sink, s->next, false);
	if (s->pending == HF_NTRACE_PENDING_NONE)
		hf_ntrace_emit_value(e, sink);
	s->has_value = e->c.wire.trap_values && ev->flags & HF_EVF_VALUE;
	s->value = s->has_value ? ev->trap.value : 0;
	if (e->c.one_trap_type)
		s->btype = HF_NTRACE_BTYPE_TRAP;
	else
		s->btype = ev->flags & HF_EVF_ASYNC ? HF_NTRACE_BTYPE_INTERRUPT : HF_NTRACE_BTYPE_EXCEPTION;
	if (s->pending != HF_NTRACE_PENDING_START)
		s->pending = HF_NTRACE_PENDING_TRAP;
	s->next = ev->trap.handler;
	s->known = (ev->flags & HF_EVF_HANDLER) != 0;
}

/* Tracing ends here. start is the SYNC with which it starts again. */
static void stop(struct hf_ntrace_enc *e, struct hf_sink *sink, uint8_t start)
{
	struct hf_ntrace_enc_state *s = &e->s;

	if (s->pending == HF_NTRACE_PENDING_TAKEN || (s->btype != HF_NTRACE_BTYPE_JUMP && s->known))
		resolve(e, sink, s->next, false);
	if (s->pending == HF_NTRACE_PENDING_NONE)
		hf_ntrace_emit_value(e, sink);
	s->has_value = 0;
	if (s->pending != HF_NTRACE_PENDING_START && !e->c.seed)
		hf_ntrace_emit_stop(e, sink);
	s->pending = HF_NTRACE_PENDING_START;
	s->btype = HF_NTRACE_BTYPE_JUMP;
	s->has_returned = 0;
	s->start = e->c.seed ? HF_NTRACE_SYNC_RESET : start;
}

/* If a jump has no target in the source, the discontinuity after it gives the target, and the trace does not stop. */
static void put_discontinuity(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const struct hf_ntrace_enc_state *s = &e->s;

	if (s->pending == HF_NTRACE_PENDING_INDIRECT && !s->known && !(ev->flags & HF_EVF_UNTRACED))
		return;
	if (s->pending != HF_NTRACE_PENDING_START || s->btype != HF_NTRACE_BTYPE_JUMP)
		stop(e, sink, HF_NTRACE_SYNC_ENABLE);
}

/* Sets an id. With HF_NTRACE_OWNERSHIP_IDS the first change of an id begins the Ownership messages. */
static void set_id(struct hf_ntrace_enc *e, uint8_t id, uint32_t *held, uint32_t now)
{
	struct hf_ntrace_enc_state *s = &e->s;
	const bool known = s->ids & id, other = *held != now;

	s->owner_due |= !known || other;
	s->owning |= known && other && e->c.ownership == HF_NTRACE_OWNERSHIP_IDS;
	s->ids |= id;
	*held = now;
}

static void put_context(struct hf_ntrace_enc *e, const struct hf_event *ev)
{
	if (ev->fields & HF_CONTEXT_MODE && ev->context.mode < HF_MODE_COUNT)
		e->s.mode = ev->context.mode;
	if (ev->fields & HF_CONTEXT_PID)
		set_id(e, HF_CONTEXT_PID, &e->s.pid, ev->context.pid);
	if (ev->fields & HF_CONTEXT_VMID)
		set_id(e, HF_CONTEXT_VMID, &e->s.vmid, ev->context.vmid);
}

/* What follows stands behind the last instruction: a reader must know that it was executed. */
static void settle(struct hf_ntrace_enc *e, struct hf_sink *sink)
{
	struct hf_ntrace_enc_state *s = &e->s;

	if (s->pending == HF_NTRACE_PENDING_START || !s->known)
		return;
	if (s->pending != HF_NTRACE_PENDING_NONE)
		resolve(e, sink, s->next, false);
	if (s->icnt || s->hist > 1 || s->pattern)
		hf_ntrace_emit_sync(e, sink, s->next);
	s->plain = 0;
}

static void put_marker(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	if (e->c.seed)
		return;
	settle(e, sink);
	if (ev->what != HF_MARKER_TEXT) {
		hf_ntrace_emit_marker(e, sink, ev);
		return;
	}
	e->s.saying = ev->marker.number <= UINT32_MAX >> 2;
	e->s.channel = e->s.saying ? (uint32_t)ev->marker.number : 0;
}

static void put_data(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	if (e->s.saying)
		hf_ntrace_emit_text(e, sink, ev->data.bytes, ev->used < sizeof ev->data.bytes ? ev->used : sizeof ev->data.bytes);
}

static void put_other(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_ntrace_enc_state *s = &e->s;

	if (ev->kind == HF_EVENT_DATA) {
		put_data(e, sink, ev);
		return;
	}
	s->saying = 0;
	switch (ev->kind) {
	case HF_EVENT_MARKER:
		put_marker(e, sink, ev);
		break;
	case HF_EVENT_ATTEMPT:
		resolve(e, sink, ev->insn.pc, false);
		break;
	case HF_EVENT_TRAP:
		put_trap(e, sink, ev);
		break;
	case HF_EVENT_CONTEXT:
		put_context(e, ev);
		break;
	case HF_EVENT_TIMESTAMP:
		if (!(ev->flags & HF_EVF_NO_TIME))
			s->time = ev->time.value;
		break;
	case HF_EVENT_DISCONTINUITY:
		put_discontinuity(e, sink, ev);
		break;
	case HF_EVENT_GAP:
		stop(e, sink, HF_NTRACE_SYNC_OVERRUN);
		hf_ntrace_emit_error(e, sink);
		break;
	default:
		break;
	}
}

/*
 * Returns the event as readers will see it: ev, or *room if that differs. Some sources sign-extend the addresses of
 * RV32, but a message has 32 bits of them. The opcodes of Zcmp and Zcmt are also those of c.fsdsp. The view's
 * parameters, which readers get, decide what they are; the source does not.
 */
static const struct hf_event *seen(const struct hf_ntrace_enc *e, const struct hf_event *ev, struct hf_event *room)
{
	const bool narrow = e->c.wire.xlen == 32, insn = hf_event_is_instruction(ev);
	const bool code_size = insn && hf_riscv_is_code_size(ev->insn.opcode);

	if (insn && (code_size || (narrow && (ev->insn.pc | ev->insn.target) > UINT32_MAX))) {
		*room = *ev;
		if (code_size)
			room->insn.flow = hf_riscv_flow(ev->insn.opcode, e->c.wire.isa);
		room->insn.pc = narrow ? (uint32_t)ev->insn.pc : ev->insn.pc;
		room->insn.target = narrow ? (uint32_t)ev->insn.target : ev->insn.target;
		return room;
	}
	if (narrow && ev->kind == HF_EVENT_TRAP && ev->trap.handler > UINT32_MAX) {
		*room = *ev;
		room->trap.handler = (uint32_t)ev->trap.handler;
		return room;
	}
	return ev;
}

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct hf_ntrace_enc *e = (struct hf_ntrace_enc *)enc;
	struct hf_event room;

	for (size_t i = 0; i < n; i++) {
		const struct hf_event *one = seen(e, &ev[i], &room);

		if (one->kind == HF_EVENT_INSN)
			put_insn(e, sink, one);
		else
			put_other(e, sink, one);
	}
}

/* Whether instructions of so many halfwords, right behind the last one, do no more than being counted. */
static inline bool are_counted(const struct hf_ntrace_enc *e, uint32_t insns, uint32_t halves)
{
	const struct hf_ntrace_enc_state *s = &e->s;
	const uint64_t since = s->since + (e->c.sync_halfwords ? halves : insns);

	return s->pending == HF_NTRACE_PENDING_NONE && s->icnt + halves <= e->c.icnt_max &&
	       (!e->c.sync || since < e->c.sync) && !(s->owning && (s->owner_due || s->mode != s->said_mode));
}

/* The instruction is where the last one led, in its mode: nothing of it but the count may need a message. */
static inline bool goes_on(const struct hf_ntrace_enc_state *s, const struct hf_ev_insn *insn)
{
	return s->pending == HF_NTRACE_PENDING_NONE && insn->pc == s->next && insn->mode == s->mode;
}

/* The instructions of a stretch but for the last one are counted, and but for the first one if more is to be told of it. */
static inline void put_stretch(struct hf_enc *enc, const struct hf_event *ev, const struct hf_stretch *stretch,
			       struct hf_sink *sink)
{
	struct hf_ntrace_enc *e = (struct hf_ntrace_enc *)enc;
	struct hf_ntrace_enc_state *s = &e->s;
	const struct hf_ev_insn *before = &ev[stretch->before].insn;
	struct hf_walk_known *known = enc->env ? enc->env->known : NULL;
	const bool first = !goes_on(s, &ev->insn);
	const uint32_t insns = stretch->insns - 1u - first, halves = stretch->halves - (first ? ev->insn.size / 2u : 0);

	if (stretch->insns < 2 || !stretch->riscv || e->c.wire.xlen == 32) {
		put(enc, ev, stretch->events, sink);
		return;
	}
	if (first)
		put_insn(e, sink, ev);
	if (!are_counted(e, insns, halves)) {
		put(enc, ev + first, stretch->events - first, sink);
		return;
	}
	s->since += e->c.sync_halfwords ? halves : insns;
	s->icnt += halves;
	s->next = before->pc + before->size;
	if (e->c.wire.sequential_jump) {
		s->upper_pc = before->pc;
		s->upper_opcode = before->opcode;
	}
	pass_insn(e, sink, &ev[stretch->last], hf_walk_known_ending(known, &e->rules, e->c.tables, ev, stretch));
}

static void put_known(struct hf_enc *enc, const struct hf_event *ev, size_t n, const struct hf_stretch *stretch,
		      size_t count, struct hf_sink *sink)
{
	size_t at = 0;

	for (; count; count--, stretch++) {
		if (stretch->at > at)
			put(enc, ev + at, stretch->at - at, sink);
		put_stretch(enc, ev + stretch->at, stretch, sink);
		at = stretch->at + stretch->events;
	}
	put(enc, ev + at, n - at, sink);
}

static void end(struct hf_enc *enc, struct hf_sink *sink)
{
	stop((struct hf_ntrace_enc *)enc, sink, HF_NTRACE_SYNC_ENABLE);
}

/* ---- the encoder ---- */

static const char *refuses(const struct hf_stream_info *info)
{
	return info->arch == HF_ARCH_RISCV ? NULL : "N-Trace is RISC-V only";
}

static int init(struct hf_enc *enc)
{
	struct hf_ntrace_enc *e = (struct hf_ntrace_enc *)enc;
	int err;

	err = hf_ntrace_config_read(hf_enc_params(enc), enc->stream, enc->hart, &e->c, NULL, 0);
	if (err)
		return err;
	e->rules = hf_ntrace_rules(&e->c.wire);
	hf_return_stack_init(&e->calls, e->calls_room, HF_NTRACE_STACK_MAX, e->c.call_stack);
	e->calls.bytes_max = e->c.call_stack > HF_NTRACE_STACK ? HF_NTRACE_STACK_BYTES : 0;
	e->s.hist = 1;
	e->s.owning = e->c.ownership == HF_NTRACE_OWNERSHIP_ALWAYS;
	e->s.start = e->c.seed ? HF_NTRACE_SYNC_RESET : HF_NTRACE_SYNC_ENABLE;
	return 0;
}

#define FIELD(member, max) HF_FIELD_ROW(struct hf_ntrace_enc_state, member, max)

static const struct hf_field_row fields[] = {
	FIELD(pending, HF_NTRACE_PENDINGS - 1),
	FIELD(known, 1),
	FIELD(has_returned, 1),
	FIELD(btype, 3),
	FIELD(start, 15),
	FIELD(plain, 1),
	FIELD(mode, HF_MODE_COUNT - 1),
	FIELD(said_mode, HF_MODE_COUNT - 1),
	FIELD(ids, HF_CONTEXT_PID | HF_CONTEXT_VMID),
	FIELD(owner_due, 1),
	FIELD(owning, 1),
	FIELD(pid, UINT32_MAX),
	FIELD(vmid, UINT32_MAX),
	FIELD(next, UINT64_MAX),
	FIELD(returned, UINT64_MAX),
	FIELD(ref, UINT64_MAX),
	FIELD(since, UINT64_MAX),
	FIELD(upper_pc, UINT64_MAX),
	FIELD(upper_opcode, UINT32_MAX),
	FIELD(icnt, UINT32_MAX),
	FIELD(hist, UINT32_MAX),
	FIELD(pattern, UINT32_MAX),
	FIELD(pattern_count, UINT32_MAX),
	FIELD(time, UINT64_MAX),
	FIELD(said_time, UINT64_MAX),
	FIELD(last_tcode, HF_NTRACE_TCODES - 1),
	FIELD(last_btype, 3),
	FIELD(last_icnt, UINT32_MAX),
	FIELD(last_hist, UINT32_MAX),
	FIELD(repeats, UINT32_MAX),
	FIELD(saying, 1),
	FIELD(channel, UINT32_MAX >> 2),
	FIELD(has_value, 1),
	FIELD(value, UINT64_MAX),
};

static void state(struct hf_enc *enc, struct hf_fields *f)
{
	struct hf_ntrace_enc *e = (struct hf_ntrace_enc *)enc;
	struct hf_ntrace_enc_state *s = &e->s;

	if (f->loading)
		*s = (struct hf_ntrace_enc_state){0};
	HF_FIELD_ROWS(f, fields, s);
	hf_return_stack_visit(&e->calls, f);
	/* A history has its stop bit and room for one branch more. */
	hf_fields_require(f, s->hist != 0 && s->hist >> e->c.hist_branches <= 1 && s->pattern != 1);
}

static const struct hf_side_file side[] = {{"ntrace/capture.ini", hf_ntrace_write_ini}, {NULL, NULL}};

const struct hf_enc_ops hf_view_ntrace = {
	.name = "ntrace",
	.view = "ntrace/trace.bin",
	.version = 8,
	.refuses = refuses,
	.size = sizeof(struct hf_ntrace_enc),
	.init = init,
	.put = put,
	.put_known = put_known,
	.end = end,
	.state = state,
	.side = side,
	.check_params = hf_ntrace_check_params,
};
