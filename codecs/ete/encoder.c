/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions to P0 elements: what a trace unit without speculation says of them (D4.3, D4.4). Nothing is held back:
 * where an indirect branch went, and a new context, is said when the next instruction is there.
 */
#include "codecs/ete/encoder.h"

#include "codecs/isa/arm.h"
#include "codecs/views.h"

#include <stdlib.h>

#define FLAGS(f) ((uint16_t)(f))

/* Context byte of an instruction; a mode that is not known leaves the exception level as it was. */
static uint8_t context_of(const struct hf_ete_enc_state *s, unsigned isa, unsigned mode)
{
	static const uint8_t levels[HF_MODE_COUNT] = {
#define HF_MODE(name, text, level, word) level + 1,
#include "codecs/modes.def"
#undef HF_MODE
	};
	const unsigned level = mode < HF_MODE_COUNT && levels[mode] ? levels[mode] - 1u :
								     s->context & HF_ETE_CONTEXT_EL;

	return (uint8_t)(level | (isa == HF_ISA_A64 ? HF_ETE_CONTEXT_SF : 0) | (s->secure ? 0 : HF_ETE_CONTEXT_NS));
}

/* Whether the branch went to where the newest call came from (D4.4.5). */
static bool pop(struct hf_ete_enc *e, const struct hf_ete_enc_place *at)
{
	return hf_return_stack_take(&e->links, at->pc | at->is);
}

/* Where the flow is known to have gone. In AArch32 no event says in which instruction set; A32 has no odd halfwords. */
static struct hf_ete_enc_place known_target(struct hf_ete_enc_state *s)
{
	if (!(s->next_context & HF_ETE_CONTEXT_SF) && s->next & 2)
		s->next_is = 1;
	return (struct hf_ete_enc_place){s->next, s->next_is, s->next_context};
}

/*
 * Says where the newest branch or trap went although nothing is executed there, if that is known: the return stack would
 * not, as no P0 element follows.
 */
static void settle(struct hf_ete_enc *e, struct hf_sink *sink)
{
	struct hf_ete_enc_state *s = &e->s;
	struct hf_ete_enc_place at;

	if (!(s->flags & HF_ETE_ENC_TARGET) || s->flags & (HF_ETE_ENC_LOST | HF_ETE_ENC_APART))
		return;
	at = known_target(s);
	hf_ete_enc_target(e, sink, &at);
	s->flags &= FLAGS(~(HF_ETE_ENC_INDIRECT | HF_ETE_ENC_ADDRESS | HF_ETE_ENC_TARGET));
}

/* Nothing follows on what was executed so far. */
static void leave(struct hf_ete_enc *e, struct hf_sink *sink)
{
	settle(e, sink);
	hf_ete_enc_close(e, sink);
}

/*
 * A synchronisation here. A decoder takes what is on its stack for where the branch went as soon as there is a Trace Info
 * (K10.5.5.3), though an address comes behind it: where that would be wrong the address is said before as well. So is that
 * of a handler, which belongs to its exception.
 */
static void synchronise(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_ete_enc_place *at)
{
	struct hf_ete_enc_state *s = &e->s;

	if (s->flags & HF_ETE_ENC_ADDRESS || (s->flags & HF_ETE_ENC_INDIRECT && e->links.depth && !pop(e, at)))
		hf_ete_enc_target(e, sink, at);
	hf_ete_enc_sync(e, sink, at);
}

/* The flow reaches a place: says what cannot be inferred of how it got there. */
static void reach(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_ete_enc_place *at)
{
	struct hf_ete_enc_state *s = &e->s;
	bool branched;

	if (at->pc != s->next)
		settle(e, sink);
	branched = s->flags & (HF_ETE_ENC_INDIRECT | HF_ETE_ENC_ADDRESS);
	if (!(s->flags & HF_ETE_ENC_STARTED) || s->flags & (HF_ETE_ENC_LOST | HF_ETE_ENC_APART) ||
	    (!branched && (at->pc != s->next || at->is != s->next_is))) {
		hf_ete_enc_start(e, sink, at);
	} else if (e->c.sync_instructions && !s->left && (branched || s->flags & HF_ETE_ENC_BRANCHED)) {
		synchronise(e, sink, at);
	} else if (s->flags & HF_ETE_ENC_ADDRESS) {
		hf_ete_enc_target(e, sink, at);
	} else if (s->flags & HF_ETE_ENC_INDIRECT) {
		/* Popped by the decoder at its next P0 element, whatever the context is by then. */
		if (!pop(e, at))
			hf_ete_enc_target(e, sink, at);
		else
			hf_ete_enc_context(e, sink, at->context);
	} else {
		hf_ete_enc_context(e, sink, at->context);
	}
	s->flags &= FLAGS(~(HF_ETE_ENC_INDIRECT | HF_ETE_ENC_ADDRESS | HF_ETE_ENC_TARGET));
}

/* Whether anything is to be said before the instruction at ev. */
static inline bool is_quiet(const struct hf_ete_enc *e, const struct hf_event *ev, uint8_t context)
{
	const struct hf_ete_enc_state *s = &e->s;

	return (s->flags & (HF_ETE_ENC_STARTED | HF_ETE_ENC_INDIRECT | HF_ETE_ENC_ADDRESS | HF_ETE_ENC_LOST |
			    HF_ETE_ENC_APART)) == HF_ETE_ENC_STARTED &&
	       ev->insn.pc == s->next && (ev->insn.isa == HF_ISA_T32) == s->next_is && context == s->context &&
	       s->left && (!e->c.contextid || (s->flags & HF_ETE_ENC_CID && s->cid == s->said_cid));
}

/* A P0 element of an instruction that retired: its atom, and where the flow is then. */
static void put_p0(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_event *ev, struct hf_arm_class class)
{
	struct hf_ete_enc_state *s = &e->s;
	const struct hf_ev_insn *insn = &ev->insn;
	const bool moves = class.flow != HF_FLOW_SYNC && class.flow != HF_FLOW_WAIT;
	/* In an IT block any T32 instruction may have failed its condition. */
	const bool may_fail = class.flags & HF_ARM_CONDITIONAL || insn->isa == HF_ISA_T32;
	const bool taken = !moves || !may_fail || ev->flags & HF_EVF_TAKEN;
	unsigned isa = insn->isa;

	hf_ete_enc_atom(e, sink, taken);
	s->ran = 0;
	s->flags |= HF_ETE_ENC_BRANCHED;
	if (!taken || !moves)
		return;
	if (class.flags & HF_ARM_LINK)
		hf_return_stack_push(&e->links, (insn->pc + insn->size) | s->next_is);
	if (class.flags & HF_ARM_INDIRECT) {
		s->flags |= HF_ETE_ENC_INDIRECT;
		if (ev->flags & HF_EVF_TAKEN) {
			s->flags |= HF_ETE_ENC_TARGET;
			s->next = insn->target;
			s->next_context = s->context;
		}
	} else if (hf_arm_target(insn->opcode, insn->size, insn->isa, insn->pc, &s->next, &isa)) {
		s->next_is = isa == HF_ISA_T32;
	}
}

static void put_insn(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_ete_enc_state *s = &e->s;
	const struct hf_ev_insn *insn = &ev->insn;
	const struct hf_arm_class class = hf_arm_classify(insn->opcode, insn->size, insn->isa);
	const uint8_t context = context_of(s, insn->isa, insn->mode);

	if (!is_quiet(e, ev, context))
		reach(e, sink, &(struct hf_ete_enc_place){insn->pc, insn->isa == HF_ISA_T32, context});
	s->left -= s->left != 0;
	s->ran += s->ran != UINT32_MAX;
	s->next = insn->pc + insn->size;
	s->next_is = insn->isa == HF_ISA_T32;
	s->flags &= FLAGS(~HF_ETE_ENC_BRANCHED);
	if (class.flags & (HF_ARM_P0 | HF_ARM_WFX))
		put_p0(e, sink, ev, class);
}

/* Reached and not completed: the flow stays there. */
static void put_attempt(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const struct hf_ev_insn *insn = &ev->insn;
	const uint8_t context = context_of(&e->s, insn->isa, insn->mode);

	if (!is_quiet(e, ev, context))
		reach(e, sink, &(struct hf_ete_enc_place){insn->pc, insn->isa == HF_ISA_T32, context});
	e->s.next = insn->pc;
	e->s.next_is = insn->isa == HF_ISA_T32;
}

/* ---- exceptions ---- */

/* Table D4-3, by ESR_ELx.EC. */
static unsigned exception_of_class(uint64_t class)
{
	static const uint8_t types[64] = {
		[0x0d] = HF_ETE_EXC_INST_FAULT,  [0x11] = HF_ETE_EXC_CALL,        [0x12] = HF_ETE_EXC_CALL,
		[0x13] = HF_ETE_EXC_CALL,        [0x15] = HF_ETE_EXC_CALL,        [0x16] = HF_ETE_EXC_CALL,
		[0x17] = HF_ETE_EXC_CALL,        [0x1c] = HF_ETE_EXC_DATA_FAULT,  [0x20] = HF_ETE_EXC_INST_FAULT,
		[0x21] = HF_ETE_EXC_INST_FAULT,  [0x22] = HF_ETE_EXC_ALIGNMENT,   [0x24] = HF_ETE_EXC_DATA_FAULT,
		[0x25] = HF_ETE_EXC_DATA_FAULT,  [0x26] = HF_ETE_EXC_ALIGNMENT,   [0x2d] = HF_ETE_EXC_DATA_FAULT,
		[0x2f] = HF_ETE_EXC_SYSTEM_ERROR, [0x30] = HF_ETE_EXC_INST_DEBUG, [0x31] = HF_ETE_EXC_INST_DEBUG,
		[0x32] = HF_ETE_EXC_INST_DEBUG,  [0x33] = HF_ETE_EXC_INST_DEBUG,  [0x34] = HF_ETE_EXC_DATA_DEBUG,
		[0x35] = HF_ETE_EXC_DATA_DEBUG,  [0x38] = HF_ETE_EXC_INST_DEBUG,  [0x3a] = HF_ETE_EXC_INST_DEBUG,
		[0x3c] = HF_ETE_EXC_INST_DEBUG,
	};

	return class < 64 && types[class] ? types[class] : HF_ETE_EXC_TRAP;
}

static unsigned exception_of(const struct hf_event *ev)
{
	static const uint8_t async[4] = {HF_ETE_EXC_SYSTEM_ERROR, HF_ETE_EXC_IRQ, HF_ETE_EXC_FIQ, HF_ETE_EXC_RESET};
	uint64_t type;

	if (!(ev->flags & HF_EVF_CAUSE))
		return ev->flags & HF_EVF_ASYNC ? HF_ETE_EXC_IRQ : HF_ETE_EXC_TRAP;
	if (ev->flags & HF_EVF_ASYNC)
		return ev->trap.cause < 4 ? async[ev->trap.cause] : HF_ETE_EXC_IRQ;
	if (ev->trap.cause < HF_TRAP_ETE)
		return exception_of_class(ev->trap.cause);
	/* No packet has a reserved type, nor is the end of a transaction a trap. */
	type = ev->trap.cause - HF_TRAP_ETE;
	return type < HF_ETE_EXC_TRANSACTION_FAILURE && hf_ete_exception_name((unsigned)type) ? (unsigned)type :
											      HF_ETE_EXC_TRAP;
}

/* Where a trap or a return from one goes: said when an instruction is there, or another exception. */
static void go_to(struct hf_ete_enc_state *s, const struct hf_event *ev)
{
	const unsigned isa = s->context & HF_ETE_CONTEXT_SF ? HF_ISA_A64 : HF_ISA_A32;

	if (!(ev->flags & HF_EVF_HANDLER))
		return;
	s->flags |= HF_ETE_ENC_TARGET;
	s->next = ev->trap.handler;
	s->next_context = context_of(s, isa, ev->flags & HF_EVF_MODE ? ev->mode : HF_MODE_UNKNOWN);
}

/* Its address is where the flow was: that of the attempt, or behind what retired. */
static void put_trap(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_ete_enc_state *s = &e->s;
	const uint16_t unknown = s->flags & (HF_ETE_ENC_INDIRECT | HF_ETE_ENC_ADDRESS);
	const unsigned type = exception_of(ev);

	if (!(s->flags & HF_ETE_ENC_STARTED))
		return;
	if (s->flags & (HF_ETE_ENC_LOST | HF_ETE_ENC_APART) || (unknown && !(s->flags & HF_ETE_ENC_TARGET))) {
		/* Nobody knows what it interrupted. */
		hf_ete_enc_close(e, sink);
		s->flags |= HF_ETE_ENC_APART;
		return;
	}
	if (unknown) {
		const struct hf_ete_enc_place at = known_target(s);

		reach(e, sink, &at);
	}
	if (type == HF_ETE_EXC_RESET) {
		/* It has no address that would say how far the flow had come, and OpenCSD looks for an A-sync behind it. */
		hf_ete_enc_close(e, sink);
		if (e->c.sync_instructions)
			s->left = 0;
	}
	hf_ete_enc_exception(e, sink, type, s->next, s->next_is);
	s->flags &= FLAGS(~(HF_ETE_ENC_BRANCHED | HF_ETE_ENC_INDIRECT));
	s->flags |= HF_ETE_ENC_ADDRESS;
	go_to(s, ev);
}

static void put_context(struct hf_ete_enc_state *s, const struct hf_event *ev)
{
	if (ev->fields & (HF_CONTEXT_PID | HF_CONTEXT_ASID))
		s->cid = ev->fields & HF_CONTEXT_PID ? ev->context.pid : ev->context.asid;
	else if (ev->fields & HF_CONTEXT_STATE && ev->state & HF_STATE_NO_PID)
		s->cid = 0; /* the packets have no word for one that is not known */
	if (ev->fields & HF_CONTEXT_STATE)
		s->secure = (ev->state & HF_STATE_SECURE) != 0;
}

static void put_other(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_ete_enc_state *s = &e->s;

	switch (ev->kind) {
	case HF_EVENT_ATTEMPT:
		put_attempt(e, sink, ev);
		break;
	case HF_EVENT_TRAP:
		put_trap(e, sink, ev);
		break;
	case HF_EVENT_TRAP_RETURN:
		if (s->flags & HF_ETE_ENC_INDIRECT)
			go_to(s, ev);
		break;
	case HF_EVENT_CONTEXT:
		put_context(s, ev);
		break;
	case HF_EVENT_TIMESTAMP:
		s->time = ev->time.value;
		if (!e->c.timestamps)
			break;
		if (s->flags & HF_ETE_ENC_STARTED)
			hf_ete_enc_timestamp(e, sink);
		else
			s->flags |= HF_ETE_ENC_TIME;
		break;
	case HF_EVENT_DISCONTINUITY:
		settle(e, sink);
		/* Otherwise the next instruction tells. */
		if (ev->flags & HF_EVF_UNTRACED) {
			hf_ete_enc_close(e, sink);
			s->flags |= HF_ETE_ENC_APART;
		}
		break;
	case HF_EVENT_GAP:
		leave(e, sink);
		s->flags |= HF_ETE_ENC_LOST;
		break;
	default:
		break;
	}
}

/* ---- the encoder as codec.h wants it ---- */

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct hf_ete_enc *e = (struct hf_ete_enc *)enc;

	for (const struct hf_event *end = ev + n; ev < end; ev++)
		if (ev->kind == HF_EVENT_INSN)
			put_insn(e, sink, ev);
		else
			put_other(e, sink, ev);
}

static void end(struct hf_enc *enc, struct hf_sink *sink)
{
	struct hf_ete_enc *e = (struct hf_ete_enc *)enc;

	leave(e, sink);
	if (e->s.flags & HF_ETE_ENC_LOST)
		hf_ete_enc_overflow(e, sink);
}

static const char *refuses(const struct hf_stream_info *info)
{
	return info->arch != HF_ARCH_ARM	      ? "ETE is Arm only" :
	       info->flags & HF_STREAM_M_PROFILE ? "ETE is of the A and R profiles, and here is an M core" : NULL;
}

static int init(struct hf_enc *enc)
{
	struct hf_ete_enc *e = (struct hf_ete_enc *)enc;
	int err;

	err = hf_ete_enc_config_read(hf_enc_params(enc), &e->c, NULL, 0);
	if (err)
		return err;
	e->unit = (struct hf_ete_config){.cid_bytes = 4, .vmid_bytes = 4, .commopt = true, .wfx = true,
					 .return_stack = e->c.return_stack};
	hf_return_stack_init(&e->links, e->links_room, HF_ETE_ENC_STACK + 1, e->c.return_stack ? HF_ETE_ENC_STACK : 0);
	e->s.left = UINT32_MAX;
	return 0;
}

const struct hf_enc_ops hf_view_ete = {
	.name = "ete",
	.view = "ete/trace.bin",
	.version = 5,
	.refuses = refuses,
	.size = sizeof(struct hf_ete_enc),
	.init = init,
	.put = put,
	.end = end,
	.state = hf_ete_enc_visit,
	.side = hf_ete_enc_side,
	.check_params = hf_ete_enc_check,
};
