/* SPDX-License-Identifier: Apache-2.0 */
/* The E-Trace encoder as codec.h wants it: events to cycles, each an instruction that retired or a trap. */
#include "codecs/etrace/encoder.h"
#include "codecs/isa/riscv.h"
#include "codecs/source/coresight.h"
#include "codecs/views.h"
#include "codecs/walk/known.h"

#include <stdlib.h>
#include <string.h>

/* CoreSight: of a hart whose number is none. */
#define DEFAULT_TRACE_ID 0x10

/* Flags with which the held instruction, or what comes behind it, needs more than a look. */
#define BUSY \
	(HF_ETRACE_ENC_UPDISCON | HF_ETRACE_ENC_SYNC | HF_ETRACE_ENC_TRAP | HF_ETRACE_ENC_CONTEXT | \
	 HF_ETRACE_ENC_ATTEMPT | HF_ETRACE_ENC_CHANGED | HF_ETRACE_ENC_DUE | HF_ETRACE_ENC_CROWDED | \
	 HF_ETRACE_ENC_SYNCED | HF_ETRACE_ENC_CYCLE)
/* And those that must be there. */
#define READY (HF_ETRACE_ENC_HELD | HF_ETRACE_ENC_TRACING)

/* ---- filters ---- */

static bool qualified(const struct hf_etrace_enc *e, uint64_t pc, unsigned mode)
{
	return !e->c.filtered ||
	       (mode < HF_MODE_COUNT && (e->c.filter_modes >> mode & 1) && pc >= e->c.filter_low && pc <= e->c.filter_high);
}

/* ---- instructions ---- */

/* One more instruction: is a sync due at it? */
static void count_down(struct hf_etrace_enc *e)
{
	if (--e->s.left)
		return;
	e->s.left = e->c.sync ? e->c.sync : UINT32_MAX;
	if (e->c.sync)
		e->s.flags |= HF_ETRACE_ENC_DUE | HF_ETRACE_ENC_UNALIGNED;
}

static void interrupt_trace(struct hf_etrace_enc *e, struct hf_sink *sink, bool lost)
{
	if (e->s.flags & HF_ETRACE_ENC_HELD)
		hf_etrace_enc_finish(e, sink, lost ? HF_ETRACE_BEHIND_LOST : HF_ETRACE_BEHIND_STOP, NULL);
	else
		hf_etrace_enc_stop(e, sink, lost ? HF_ETRACE_TRACE_LOST : HF_ETRACE_ENDED_REP, true);
	e->s.flags &= ~(uint32_t)(HF_ETRACE_ENC_OF_HELD | HF_ETRACE_ENC_ATTEMPT);
}

/* No decoder walks over an opcode that is not of the length that it says, or not of RISC-V. */
static bool is_code(const struct hf_event *ev)
{
	return (ev->insn.isa == HF_ISA_RV32 || ev->insn.isa == HF_ISA_RV64) &&
	       hf_riscv_size(ev->insn.opcode) == ev->insn.size;
}

static inline void hold_as_is(struct hf_etrace_enc *e, const struct hf_event *ev)
{
	e->held = *ev;
	e->ending = NULL;
}

/* The source may have another opinion of what such an opcode is than the view, whose readers are told what it is. */
static void hold(struct hf_etrace_enc *e, const struct hf_event *ev)
{
	hold_as_is(e, ev);
	if (hf_riscv_is_code_size(ev->insn.opcode))
		e->held.insn.flow = hf_riscv_flow(ev->insn.opcode, e->xlen);
}

/* Nothing is held: it begins a trace, or a handler. */
static void hold_first(struct hf_etrace_enc *e, const struct hf_event *ev)
{
	e->s.flags &= ~(uint32_t)(HF_ETRACE_ENC_UPDISCON | HF_ETRACE_ENC_INFERRED);
	e->s.before = 0;
	e->s.run_count = 0;
	e->s.run = ev->insn.pc;
}

static void put_insn(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_etrace_enc_state *s = &e->s;
	bool held;

	count_down(e);
	s->mode = ev->insn.mode;
	if (!is_code(ev)) {
		interrupt_trace(e, sink, true);
		return;
	}
	if (!qualified(e, ev->insn.pc, ev->insn.mode)) {
		interrupt_trace(e, sink, false);
		return;
	}
	held = s->flags & HF_ETRACE_ENC_HELD;
	if (held)
		hf_etrace_enc_finish(e, sink, HF_ETRACE_BEHIND_INSN, ev);
	if (!held || !(s->flags & HF_ETRACE_ENC_TRACING))
		hold_first(e, ev);
	if (!(s->flags & HF_ETRACE_ENC_TRACING) || (s->flags & (HF_ETRACE_ENC_SYNC | HF_ETRACE_ENC_TRAP)))
		s->flags &= ~(uint32_t)HF_ETRACE_ENC_DUE;
	s->flags &= ~(uint32_t)(HF_ETRACE_ENC_ATTEMPT | HF_ETRACE_ENC_CHANGED);
	s->flags |= HF_ETRACE_ENC_HELD;
	hold(e, ev);
	if (e->c.data) /* a decoder forgets there what accesses it knew */
		hf_etrace_enc_sync_early(e, sink);
}

/* ---- traps ---- */

static void put_attempt(struct hf_etrace_enc *e, const struct hf_event *ev)
{
	e->s.flags |= HF_ETRACE_ENC_ATTEMPT;
	e->s.attempt_pc = ev->insn.pc;
	e->s.attempt_mode = ev->insn.mode;
}

/* Where the held instruction left the flow, ecall and ebreak at themselves; false: the source does not know. */
static bool find_successor(const struct hf_etrace_enc *e, uint64_t *ret_pc)
{
	const struct hf_ev_insn *insn = &e->held.insn;
	const bool taken = e->held.flags & HF_EVF_TAKEN;

	*ret_pc = taken ? insn->target : insn->pc + insn->size;
	switch (insn->flow) {
	case HF_FLOW_TRAP_CALL:
		*ret_pc = insn->pc;
		return true;
	case HF_FLOW_INDIRECT_JUMP:
	case HF_FLOW_INDIRECT_CALL:
	case HF_FLOW_RETURN:
	case HF_FLOW_SWAP:
	case HF_FLOW_TRAP_RETURN:
		return taken;
	default:
		return true;
	}
}

/* The last trap is told with its own EPC, or what a reader takes for it: the next one has to be, too. */
static bool is_told_alone(const struct hf_etrace_enc *e, uint64_t epc)
{
	const struct hf_etrace_enc_state *s = &e->s;

	if ((s->flags & (HF_ETRACE_ENC_HELD | HF_ETRACE_ENC_TRAP)) != HF_ETRACE_ENC_TRAP)
		return false;
	return (s->flags & (HF_ETRACE_ENC_TOLD | HF_ETRACE_ENC_INFERRED)) ||
	       (s->epc == epc && !(s->flags & HF_ETRACE_ENC_CHAINED));
}

/*
 * Another trap comes while the last one waits to be told: nothing retired since. Its packet says where the new one
 * happened; but behind a return, even an implicit one, decoders take what it says for where itself happened. Whether the
 * new one's EPC is told by it.
 */
static bool tell_waiting(struct hf_etrace_enc *e, struct hf_sink *sink, uint64_t epc, uint8_t mode)
{
	const uint32_t all = HF_ETRACE_ENC_TRACING | HF_ETRACE_ENC_HELD | HF_ETRACE_ENC_TRAP | HF_ETRACE_ENC_TOLD;
	const bool alone = is_told_alone(e, epc);

	if ((e->s.flags & all) != (HF_ETRACE_ENC_TRACING | HF_ETRACE_ENC_TRAP))
		return false;
	if (e->s.flags & HF_ETRACE_ENC_INFERRED)
		hf_etrace_enc_trap(e, sink, e->s.epc, e->s.trap_mode);
	else
		hf_etrace_enc_trap(e, sink, epc, mode);
	return !alone;
}

/* As it goes into packets. One that has no code there is told as unknown, never as another. */
static uint64_t cause_of(const struct hf_etrace_enc *e, const struct hf_event *ev)
{
	const struct hf_etrace_params *p = &e->c.params;
	const bool fits = p->ecause_width >= 64 || ev->trap.cause >> p->ecause_width == 0;

	if (!p->has_unknown_cause || ((ev->flags & HF_EVF_CAUSE) && fits))
		return ev->trap.cause;
	return p->unknown_cause;
}

/* The trap is the last one now; mode is the one in which it came. */
static void keep_trap(struct hf_etrace_enc *e, const struct hf_event *ev, uint64_t epc, uint8_t mode)
{
	struct hf_etrace_enc_state *s = &e->s;
	const uint32_t inferred = s->flags & HF_ETRACE_ENC_TRAP ? 0 : s->flags & HF_ETRACE_ENC_INFERRED;

	s->flags &= ~(uint32_t)(HF_ETRACE_ENC_OF_HELD | HF_ETRACE_ENC_ATTEMPT | HF_ETRACE_ENC_CHANGED);
	s->flags |= inferred | HF_ETRACE_ENC_TRAP | (ev->flags & HF_EVF_ASYNC ? (uint32_t)HF_ETRACE_ENC_ASYNC : 0);
	s->cause = cause_of(e, ev);
	s->value = ev->trap.value;
	s->epc = epc;
	s->trap_mode = mode;
}

static void enter_mode(struct hf_etrace_enc *e, const struct hf_event *ev)
{
	if (ev->flags & HF_EVF_MODE)
		e->s.mode = ev->mode < HF_MODE_COUNT ? (uint8_t)ev->mode : (uint8_t)HF_MODE_UNKNOWN;
}

/* trap_reporting = figure: a trap has a cycle of its own, which is reported like that of an instruction at epc. */
static void hold_trap(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_event *ev, uint64_t epc, uint8_t mode)
{
	struct hf_etrace_enc_state *s = &e->s;
	const bool held = s->flags & HF_ETRACE_ENC_HELD, again = s->flags & HF_ETRACE_ENC_CYCLE;
	const uint8_t before = held ? e->held.insn.mode : mode;
	uint32_t flags = HF_ETRACE_ENC_HELD | HF_ETRACE_ENC_CYCLE | (again ? (uint32_t)HF_ETRACE_ENC_TRAP : 0);

	if (held)
		hf_etrace_enc_finish(e, sink, HF_ETRACE_BEHIND_TRAP, ev);
	flags |= s->flags & HF_ETRACE_ENC_UPDISCON;
	if (hf_etrace_enc_privilege(e, before) != hf_etrace_enc_privilege(e, mode))
		flags |= HF_ETRACE_ENC_SYNC;
	keep_trap(e, ev, epc, mode);
	s->flags = (s->flags & ~(uint32_t)(HF_ETRACE_ENC_TRAP | HF_ETRACE_ENC_INFERRED)) | flags;
	s->before = 0;
	hold_as_is(e, &(struct hf_event){.kind = HF_EVENT_INSN, .insn = {.pc = epc, .mode = mode}});
	enter_mode(e, ev);
}

/*
 * In 2.0 a trap is told at once where its EPC cannot be inferred, and at the latest when another follows directly. That
 * one is told at once too if the first was told with its own EPC, or one that looks like it: no packet is left that
 * could say where it came.
 */
static void put_trap(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_etrace_enc_state *s = &e->s;
	const bool attempt = s->flags & HF_ETRACE_ENC_ATTEMPT, held = s->flags & HF_ETRACE_ENC_HELD;
	const bool ratified = e->c.params.version != HF_ETRACE_1_1_1;
	const uint8_t mode = attempt ? s->attempt_mode : s->mode;
	uint64_t epc = attempt ? s->attempt_pc : 0;
	const bool known = attempt || (held && find_successor(e, &epc));
	bool alone, at_once, chained = false;

	epc &= hf_etrace_address_mask(&e->c.params);
	if (e->c.params.figure && known && qualified(e, epc, mode)) {
		hold_trap(e, sink, ev, epc, mode);
		return;
	}
	alone = is_told_alone(e, epc);
	if (held)
		hf_etrace_enc_finish(e, sink, HF_ETRACE_BEHIND_TRAP, ev);
	else if (ratified)
		chained = tell_waiting(e, sink, epc, mode);
	if (s->flags & HF_ETRACE_ENC_TRACING)
		at_once = known && ((s->flags & HF_ETRACE_ENC_UPDISCON) || alone);
	else
		at_once = attempt && qualified(e, epc, mode);
	keep_trap(e, ev, epc, mode);
	s->flags |= chained ? (uint32_t)HF_ETRACE_ENC_CHAINED : 0;
	if (at_once && ratified) {
		if (!(s->flags & HF_ETRACE_ENC_TRACING))
			hf_etrace_enc_reset(e);
		hf_etrace_enc_begin(e, sink);
		hf_etrace_enc_trap(e, sink, epc, mode);
	}
	enter_mode(e, ev);
}

/* ---- what stands on its own ---- */

static void put_context(struct hf_etrace_enc *e, const struct hf_event *ev)
{
	static const uint32_t fields[4] = {HF_CONTEXT_PID, HF_CONTEXT_TID, HF_CONTEXT_ASID, HF_CONTEXT_VMID};
	const uint32_t told[4] = {ev->context.pid, ev->context.tid, ev->context.asid, ev->context.vmid};
	struct hf_etrace_enc_state *s = &e->s;
	uint64_t context = 0;

	for (unsigned i = 0; i < 4; i++)
		if (ev->fields & fields[i])
			s->ids[i] = told[i];
	if (e->c.params.context_width == 0)
		return;
	if (e->c.context == HF_ETRACE_CONTEXT_PID)
		context = s->ids[0];
	else if (e->c.context == HF_ETRACE_CONTEXT_TID)
		context = s->ids[1];
	else if (e->c.context == HF_ETRACE_CONTEXT_ASID)
		context = (s->ids[2] & 0xffff) | (uint64_t)(s->ids[3] & 0x3fff) << 16;
	if (context != s->context)
		s->flags |= HF_ETRACE_ENC_CHANGED;
	s->context = context;
}

static void put_other(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_INSN:
		put_insn(e, sink, ev);
		break;
	case HF_EVENT_ATTEMPT:
		put_attempt(e, ev);
		break;
	case HF_EVENT_TRAP:
		put_trap(e, sink, ev);
		break;
	case HF_EVENT_CONTEXT:
		put_context(e, ev);
		break;
	case HF_EVENT_TIMESTAMP:
		if (!(ev->flags & HF_EVF_NO_TIME))
			e->s.time = ev->time.value;
		break;
	case HF_EVENT_MEM:
	case HF_EVENT_REG:
		if (e->c.data)
			hf_etrace_enc_gather(e, sink, ev);
		break;
	case HF_EVENT_DISCONTINUITY:
		interrupt_trace(e, sink, false);
		break;
	case HF_EVENT_GAP:
	case HF_EVENT_DOUBT: /* as there is no packet for it: what follows is not what a decoder may rely on */
		interrupt_trace(e, sink, true);
		break;
	default:
		break;
	}
}

/* ---- the encoder as codec.h wants it ---- */

/* Held back, ev is the next instruction and needs nothing. */
static inline bool follows(const struct hf_etrace_enc *e, const struct hf_event *held, const struct hf_event *ev)
{
	return ev->kind == HF_EVENT_INSN && hf_riscv_size(ev->insn.opcode) == ev->insn.size &&
	       ev->insn.mode == held->insn.mode && !hf_riscv_is_code_size(ev->insn.opcode) && e->s.left > 1;
}

/* Nor does the held one, right in front of it. */
static inline bool passes(const struct hf_etrace_enc *e, const struct hf_event *held, const struct hf_event *ev)
{
	return (held->insn.flow == HF_FLOW_PLAIN || held->insn.flow >= HF_FLOW_SYNC) &&
	       ev->insn.pc == held->insn.pc + held->insn.size && follows(e, held, ev);
}

/* What comes behind the held instruction needs no more than a look, if that does not. */
static inline bool is_quiet(const struct hf_etrace_enc *e)
{
	return (e->s.flags & (BUSY | READY)) == READY && !e->c.filtered && !e->c.data &&
	       e->s.resync < e->c.resync_packets && e->s.irets < HF_ETRACE_ENC_IRETS_MAX;
}

/* The held instruction is a branch or a jump whose outcome is all there is to tell, which is done then. */
static inline bool tells_no_more(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const uint8_t flow = e->held.insn.flow;

	if (flow == HF_FLOW_BRANCH)
		return follows(e, &e->held, ev) && hf_etrace_enc_branch(e, sink, ev->insn.pc);
	if (flow == HF_FLOW_RETURN)
		return follows(e, &e->held, ev) && hf_etrace_enc_return(e, ev->insn.pc);
	return (flow == HF_FLOW_JUMP || flow == HF_FLOW_CALL) && follows(e, &e->held, ev) &&
	       hf_etrace_enc_jump(e, ev->insn.pc);
}

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct hf_etrace_enc *e = (struct hf_etrace_enc *)enc;

	for (const struct hf_event *end = ev + n; ev < end; ev++) {
		const bool quiet = is_quiet(e);

		if (quiet && passes(e, &e->held, ev)) {
			const struct hf_event *held = &e->held;

			hf_etrace_enc_pass(e);
			for (e->s.left--; ev + 1 < end && passes(e, ev, ev + 1); e->s.left--)
				held = ev++;
			e->s.before = held->insn.opcode;
			e->s.before_pc = held->insn.pc;
			hold_as_is(e, ev);
		} else if (quiet && tells_no_more(e, sink, ev)) {
			e->s.left--;
			hold_as_is(e, ev);
		} else if (ev->kind != HF_EVENT_REG || e->c.data) {
			put_other(e, sink, ev);
		}
	}
}

/* The instructions of a stretch but the first one pass. */
static inline void put_stretch(struct hf_enc *enc, const struct hf_event *ev, const struct hf_stretch *stretch,
			       struct hf_sink *sink)
{
	struct hf_etrace_enc *e = (struct hf_etrace_enc *)enc;
	struct hf_walk_known *known = enc->env ? enc->env->known : NULL;
	const uint32_t behind = stretch->insns - 1u;
	const bool quiet = is_quiet(e);

	if (quiet && passes(e, &e->held, ev)) {
		hf_etrace_enc_pass(e);
		e->s.left--;
		e->s.before = e->held.insn.opcode;
		e->s.before_pc = e->held.insn.pc;
		hold_as_is(e, ev);
	} else if (quiet && tells_no_more(e, sink, ev)) {
		e->s.left--;
		hold_as_is(e, ev);
	} else {
		put_insn(e, sink, ev);
	}
	if (!stretch->riscv || !is_quiet(e) || e->s.left <= behind) {
		put(enc, ev + 1, stretch->events - 1u, sink);
	} else if (behind) {
		hf_etrace_enc_pass(e);
		e->s.left -= behind;
		e->s.before = ev[stretch->before].insn.opcode;
		e->s.before_pc = ev[stretch->before].insn.pc;
		e->held = ev[stretch->last];
		e->ending = hf_walk_known_ending(known, &e->rules, NULL, ev, stretch);
	}
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
	struct hf_etrace_enc *e = (struct hf_etrace_enc *)enc;

	if (e->s.flags & HF_ETRACE_ENC_HELD)
		hf_etrace_enc_finish(e, sink, HF_ETRACE_BEHIND_END, NULL);
	else
		hf_etrace_enc_stop(e, sink, HF_ETRACE_ENDED_REP, false);
	hf_etrace_enc_fill_frame(e, sink);
}

static const char *refuses(const struct hf_stream_info *info)
{
	if (info->arch != HF_ARCH_RISCV)
		return "E-Trace is RISC-V only";
	return NULL;
}

static void init_tables(struct hf_etrace_enc *e)
{
	const struct hf_etrace_params *p = &e->c.params;
	const uint32_t repeat_max = hf_etrace_repeat_max(p, p->modes);
	const struct hf_etrace_room room = {
		.stack = e->c.profile == HF_ETRACE_C111 ? NULL : e->stack,
		.repeat = repeat_max && e->c.profile != HF_ETRACE_C111 ? e->repeat : NULL,
		.predictor = e->predictor,
		.cache = e->cache,
	};

	e->rules = (struct hf_walk_rules){
		.xlen = e->xlen, .pairs = p->modes & HF_ETRACE_SIJUMP, .absolute = true, .x1_alone = !p->link_x5};
	hf_etrace_tables_place(&e->tables, p, p->modes, &room);
	e->tables.stack.repeat_max = (uint16_t)repeat_max;
}

static int init(struct hf_enc *enc)
{
	struct hf_etrace_enc *e = (struct hf_etrace_enc *)enc;
	char why[128];
	int err;

	err = hf_etrace_config_read(&e->c, hf_enc_params(enc), enc->stream, enc->hart, why, sizeof why);
	if (err)
		return err;
	e->xlen = hf_etrace_isa(&e->c.params, hf_stream_xlen(enc->stream, enc->hart) == 32 ? 32 : 64);
	e->source = enc->hart;
	if (e->c.params.framing == HF_ETRACE_FRAMING_CORESIGHT && (enc->hart == 0 || enc->hart > HF_CORESIGHT_ID_MAX))
		e->source = DEFAULT_TRACE_ID;
	e->s.flags = HF_ETRACE_ENC_UNALIGNED;
	e->s.left = e->c.sync ? e->c.sync : UINT32_MAX;
	e->s.left += e->s.left != UINT32_MAX; /* the first instruction has its sync */
	init_tables(e);
	return 0;
}

static const struct hf_side_file side[] = {
	{"etrace/capture.ini", hf_etrace_write_capture},
	{NULL, NULL},
};

const struct hf_enc_ops hf_view_etrace = {
	.name = "etrace",
	.view = "etrace/trace.bin",
	.version = 7,
	.refuses = refuses,
	.size = sizeof(struct hf_etrace_enc),
	.init = init,
	.put = put,
	.put_known = put_known,
	.end = end,
	.state = hf_etrace_enc_visit,
	.side = side,
	.check_params = hf_etrace_config_check,
};
