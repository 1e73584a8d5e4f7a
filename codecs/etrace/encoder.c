/* The E-Trace encoder as codec.h wants it: events to cycles, each an instruction that retired or a trap. */
#include "codecs/etrace/encoder.h"
#include "codecs/isa/riscv.h"

#include <stdlib.h>
#include <string.h>

/* There is no code for it; this is the first that is the platform's to define. */
#define CAUSE_UNKNOWN 24

/* Flags with which the held instruction, or what comes behind it, needs more than a look. */
#define BUSY \
	(HF_ETRACE_ENC_UPDISCON | HF_ETRACE_ENC_INFERRED | HF_ETRACE_ENC_SYNC | HF_ETRACE_ENC_TRAP | \
	 HF_ETRACE_ENC_CONTEXT | HF_ETRACE_ENC_ATTEMPT | HF_ETRACE_ENC_CHANGED | HF_ETRACE_ENC_DUE | \
	 HF_ETRACE_ENC_CROWDED | HF_ETRACE_ENC_SYNCED)
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
		e->s.flags |= HF_ETRACE_ENC_DUE;
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
	e->held = *ev;
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

/*
 * Another trap comes while the last one waits to be told: nothing retired since. Its packet says where the new one
 * happened; but behind a return, even an implicit one, decoders take what it says for where itself happened.
 */
static void tell_waiting(struct hf_etrace_enc *e, struct hf_sink *sink, uint64_t epc, uint8_t mode)
{
	const uint32_t all = HF_ETRACE_ENC_TRACING | HF_ETRACE_ENC_HELD | HF_ETRACE_ENC_TRAP | HF_ETRACE_ENC_TOLD;

	if ((e->s.flags & all) != (HF_ETRACE_ENC_TRACING | HF_ETRACE_ENC_TRAP))
		return;
	if (e->s.flags & HF_ETRACE_ENC_INFERRED)
		hf_etrace_enc_trap(e, sink, e->s.epc, e->s.trap_mode);
	else
		hf_etrace_enc_trap(e, sink, epc, mode);
}

/* The trap is the last one now; mode is the one in which it came. */
static void keep_trap(struct hf_etrace_enc *e, const struct hf_event *ev, uint64_t epc, uint8_t mode)
{
	struct hf_etrace_enc_state *s = &e->s;
	const uint32_t inferred = s->flags & HF_ETRACE_ENC_TRAP ? 0 : s->flags & HF_ETRACE_ENC_INFERRED;

	s->flags &= ~(uint32_t)(HF_ETRACE_ENC_OF_HELD | HF_ETRACE_ENC_ATTEMPT | HF_ETRACE_ENC_CHANGED);
	s->flags |= inferred | HF_ETRACE_ENC_TRAP | (ev->flags & HF_EVF_ASYNC ? (uint32_t)HF_ETRACE_ENC_ASYNC : 0);
	s->cause = ev->flags & HF_EVF_CAUSE ? ev->trap.cause : CAUSE_UNKNOWN;
	s->value = ev->trap.value;
	s->epc = epc;
	s->trap_mode = mode;
}

/* In 2.0 a trap is told at once where its EPC cannot be inferred, and at the latest when another follows directly. */
static void put_trap(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_etrace_enc_state *s = &e->s;
	const bool attempt = s->flags & HF_ETRACE_ENC_ATTEMPT, held = s->flags & HF_ETRACE_ENC_HELD;
	const bool ratified = e->c.params.version != HF_ETRACE_1_1_1;
	const uint8_t mode = attempt ? s->attempt_mode : s->mode;
	uint64_t epc = attempt ? s->attempt_pc : 0;
	const bool known = attempt || (held && find_successor(e, &epc));
	bool at_once;

	epc &= hf_etrace_address_mask(&e->c.params);
	if (held)
		hf_etrace_enc_finish(e, sink, HF_ETRACE_BEHIND_TRAP, NULL);
	else if (ratified)
		tell_waiting(e, sink, epc, mode);
	if (s->flags & HF_ETRACE_ENC_TRACING)
		at_once = known && (s->flags & HF_ETRACE_ENC_UPDISCON);
	else
		at_once = attempt && qualified(e, epc, mode);
	keep_trap(e, ev, epc, mode);
	if (at_once && ratified) {
		hf_etrace_enc_begin(e, sink);
		hf_etrace_enc_trap(e, sink, epc, mode);
	}
	if (ev->flags & HF_EVF_MODE)
		s->mode = ev->small < HF_MODE_COUNT ? (uint8_t)ev->small : (uint8_t)HF_MODE_UNKNOWN;
}

/* ---- what stands on its own ---- */

static void put_context(struct hf_etrace_enc *e, const struct hf_event *ev)
{
	static const uint32_t fields[4] = {HF_CONTEXT_PID, HF_CONTEXT_TID, HF_CONTEXT_ASID, HF_CONTEXT_VMID};
	const uint32_t told[4] = {ev->context.pid, ev->context.tid, ev->context.asid, ev->context.vmid};
	struct hf_etrace_enc_state *s = &e->s;
	uint64_t context = 0;

	for (unsigned i = 0; i < 4; i++)
		if (ev->size & fields[i])
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
		e->s.time = ev->time.value;
		break;
	case HF_EVENT_MEM:
		if (e->c.data)
			hf_etrace_enc_access(e, sink, ev);
		break;
	case HF_EVENT_DISCONTINUITY:
		interrupt_trace(e, sink, false);
		break;
	case HF_EVENT_GAP:
		interrupt_trace(e, sink, true);
		break;
	default:
		break;
	}
}

/* ---- the encoder as codec.h wants it ---- */

/* Held back, ev comes right behind it, and neither needs anything. */
static inline bool passes(const struct hf_etrace_enc *e, const struct hf_event *held, const struct hf_event *ev)
{
	return ev->kind == HF_EVENT_INSN && (held->insn.flow == HF_FLOW_PLAIN || held->insn.flow >= HF_FLOW_SYNC) &&
	       ev->insn.pc == held->insn.pc + held->insn.size && hf_riscv_size(ev->insn.opcode) == ev->insn.size &&
	       ev->insn.mode == held->insn.mode && e->s.left > 1;
}

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct hf_etrace_enc *e = (struct hf_etrace_enc *)enc;

	for (const struct hf_event *end = ev + n; ev < end; ev++) {
		if ((e->s.flags & (BUSY | READY)) == READY && !e->c.filtered && e->s.resync < e->c.resync_packets &&
		    passes(e, &e->held, ev)) {
			const struct hf_event *held = &e->held;

			for (e->s.left--; ev + 1 < end && passes(e, ev, ev + 1); e->s.left--)
				held = ev++;
			e->s.before = held->insn.opcode;
			e->s.before_pc = held->insn.pc;
			e->held = *ev;
		} else if (ev->kind != HF_EVENT_REG) {
			put_other(e, sink, ev);
		}
	}
}

static void end(struct hf_enc *enc, struct hf_sink *sink)
{
	struct hf_etrace_enc *e = (struct hf_etrace_enc *)enc;

	if (e->s.flags & HF_ETRACE_ENC_HELD)
		hf_etrace_enc_finish(e, sink, HF_ETRACE_BEHIND_END, NULL);
	else
		hf_etrace_enc_stop(e, sink, HF_ETRACE_ENDED_REP, false);
}

static const char *refuses(const struct hf_stream_info *info)
{
	if (!(info->flags & HF_STREAM_HARTS))
		return "the capture holds no instructions";
	if (info->arch != HF_ARCH_RISCV)
		return "E-Trace is RISC-V only";
	return NULL;
}

static int create(const struct hf_stream *stream, uint32_t hart, const struct hf_enc_env *env, struct hf_enc **ret_enc)
{
	struct hf_etrace_enc *e = calloc(1, sizeof *e);
	char why[128];
	int err;

	(void)hart;
	if (!e)
		return HF_ERR_NOMEM;
	e->xlen = stream->info.xlen == 32 ? 32 : 64;
	err = hf_etrace_config_read(&e->c, env ? env->params : NULL, stream, why, sizeof why);
	if (err) {
		free(e);
		return err;
	}
	e->s.left = e->c.sync ? e->c.sync : UINT32_MAX;
	e->s.left += e->s.left != UINT32_MAX; /* the first instruction has its sync */
	hf_etrace_enc_reset(e);
	*ret_enc = &e->enc;
	return 0;
}

static void destroy(struct hf_enc *enc)
{
	free(enc);
}

static const struct hf_side_file side[] = {
	{"etrace/capture.ini", hf_etrace_write_capture},
	{NULL, NULL},
};

const struct hf_enc_ops hf_etrace_enc_ops = {
	.view = "etrace/trace.bin",
	.version = 1,
	.refuses = refuses,
	.create = create,
	.destroy = destroy,
	.put = put,
	.end = end,
	.save = hf_etrace_enc_save,
	.load = hf_etrace_enc_load,
	.side = side,
	.check_params = hf_etrace_config_check,
};
