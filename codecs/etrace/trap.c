/* SPDX-License-Identifier: Apache-2.0 */
/* Traps: where they happened, which the packets say only in part, and the events that say it. */
#include "codecs/etrace/follow.h"

#include "codecs/etrace/errors.h"
#include "codecs/isa/riscv.h"

/* RISC-V causes. */
enum { CAUSE_FETCH_ACCESS = 1, CAUSE_ILLEGAL = 2, CAUSE_BREAKPOINT = 3, CAUSE_FETCH_PAGE = 12, CAUSE_STORE_PAGE = 15 };

static bool is_last(const struct hf_etrace_follow *f)
{
	return f->cur && f->index + 1u == f->cur->count;
}

/* The instruction held back is an uninferable discontinuity by its opcode, even if its target is inferred. */
static bool is_at_discontinuity(const struct hf_etrace_follow *f)
{
	struct hf_riscv_jump jump;
	uint32_t opcode;

	if (!is_last(f))
		return false;
	opcode = f->cur->insn[f->index].insn.opcode;
	if (f->cur->end != HF_WALK_JUMP)
		return f->cur->end == HF_WALK_INDIRECT || f->cur->end == HF_WALK_TRAP_RETURN;
	return hf_riscv_jump(opcode, f->blocks.rules.xlen, &jump) && jump.indirect && jump.rs1;
}

static bool is_ebreak(const struct hf_etrace_follow *f, uint64_t pc)
{
	struct hf_event ev;

	return hf_walk_insn(&f->blocks, pc, &ev) && (ev.insn.opcode == 0x00100073 || ev.insn.opcode == 0x9002);
}

/*
 * Version 1.1.1: whether tvalepc is the address of what trapped (6.3.1). Of a misaligned fetch it is where the jump
 * that trapped would have gone; of a breakpoint it may be an address of data.
 */
static bool epc_of_value(const struct hf_etrace_follow *f, uint64_t *ret_epc)
{
	const struct hf_etrace_report *r = &f->report;
	const struct hf_etrace_packet *pkt = &r->pkt;

	*ret_epc = pkt->tval & f->blocks.mask;
	if (r->params.version != HF_ETRACE_1_1_1 || pkt->interrupt)
		return false;
	switch (pkt->ecause) {
	case CAUSE_ILLEGAL:
		return true;
	case CAUSE_FETCH_ACCESS:
	case CAUSE_FETCH_PAGE:
		return pkt->tval;
	case CAUSE_BREAKPOINT:
		return is_ebreak(f, *ret_epc);
	default:
		return false;
	}
}

/*
 * trap_reporting = figure: a trap at the first instruction of a handler is reported in place of the one that led
 * there, whose cause is then nowhere. The packet after it reports it once more.
 */
static bool is_of_handler(const struct hf_etrace_follow *f)
{
	const struct hf_etrace_report *r = &f->report;
	const struct hf_etrace_packet *pkt = &r->pkt;

	return r->params.figure && !pkt->interrupt && pkt->ecause == CAUSE_ILLEGAL &&
	       (pkt->tval & f->blocks.mask) == hf_etrace_unshift(&r->params, pkt->address);
}

/*
 * thaddr 0: the address is where this trap came if nothing else tells that, otherwise where the next one did (2.0,
 * exception_address in the pseudo-code).
 */
static bool tells_own_epc(const struct hf_etrace_follow *f)
{
	const bool held = f->s.flags & HF_ETRACE_HELD;

	if (f->report.pkt.thaddr || (!held && (f->s.flags & HF_ETRACE_NEXT_EPC)))
		return false;
	return !held || is_at_discontinuity(f);
}

static bool find_epc(const struct hf_etrace_follow *f, uint64_t *ret_epc)
{
	const struct hf_etrace_report *r = &f->report;
	const struct hf_etrace_packet *pkt = &r->pkt;
	const bool held = f->s.flags & HF_ETRACE_HELD;
	uint64_t value;
	bool taken, known;

	if (is_of_handler(f))
		return false;
	if (!held && (f->s.flags & HF_ETRACE_NEXT_EPC)) {
		*ret_epc = f->s.next_epc;
		return true;
	}
	if (tells_own_epc(f)) {
		*ret_epc = hf_etrace_unshift(&r->params, pkt->address);
		return true;
	}
	if (r->params.ecall_retires && is_last(f) && f->cur->end == HF_WALK_TRAP_CALL) {
		*ret_epc = f->s.pc;
		return true;
	}
	known = held && hf_etrace_successor(f, ret_epc, &taken);
	/* A fetch may fail at its second half. */
	if (!epc_of_value(f, &value) || (known && value == *ret_epc + 2))
		return known;
	*ret_epc = value;
	return true;
}

void hf_etrace_settle_trap(struct hf_etrace_follow *f, const uint64_t *address)
{
	struct hf_etrace_report *r = &f->report;

	if (f->trap && address) {
		struct hf_event *ev = &f->list[f->trap - 1].event;

		ev->flags |= HF_EVF_HANDLER;
		/* That of a later trap's own handler says nothing of this one's. */
		if (r->pkt.subformat == HF_ETRACE_SYNC || !r->pkt.thaddr || f->trap == f->tail) {
			ev->flags |= HF_EVF_MODE;
			ev->mode = (uint16_t)hf_etrace_mode_of(r->pkt.privilege);
		}
		ev->trap.handler = hf_walk_full(&f->blocks, *address);
	}
	f->trap = 0;
}

/* trap_reporting = figure: addresses are reported that did not retire; whether the instruction held back is one. */
static bool is_not_retired(const struct hf_etrace_follow *f)
{
	const struct hf_etrace_report *r = &f->report;
	const struct hf_etrace_follow_state *s = &f->s;

	if (!r->params.figure || !(s->flags & HF_ETRACE_HELD))
		return false;
	if (s->flags & HF_ETRACE_SUSPECT)
		return true;
	return (s->flags & HF_ETRACE_AFTER_TRAP) && r->pkt.ecause == CAUSE_ILLEGAL && !r->pkt.interrupt &&
	       (r->pkt.tval & f->blocks.mask) == s->pc;
}

/* What came before the trap becomes final; its address is *ret_epc if that is known. */
static bool leave(struct hf_etrace_follow *f, uint64_t *ret_epc)
{
	bool known;

	if (is_not_retired(f)) {
		*ret_epc = f->s.pc;
		f->s.flags &= (uint16_t)~HF_ETRACE_HELD;
		f->cur = NULL;
		return true;
	}
	known = find_epc(f, ret_epc);
	hf_etrace_release(f, known ? ret_epc : NULL);
	return known;
}

/*
 * In which mode what trapped was executed. A packet that says where its own trap came says it. Otherwise nobody does
 * behind another trap: neither when that was reported alone nor when it was not reported at all (1.1.1), which shows
 * where epc does not follow the last instruction.
 */
static enum hf_mode mode_before(const struct hf_etrace_follow *f, bool follows, bool own)
{
	if (own)
		return hf_etrace_mode_of(f->report.pkt.privilege);
	return (f->s.flags & HF_ETRACE_TRAP0) || !follows ? HF_MODE_UNKNOWN : hf_etrace_mode_of(f->s.privilege);
}

static bool is_attempt(const struct hf_etrace_follow *f, bool was_call, uint64_t epc)
{
	const struct hf_etrace_report *r = &f->report;

	return !r->pkt.interrupt && !(r->params.ecall_retires && was_call && f->s.pc == epc);
}

/* What was attempted has been fetched, so there must be code. */
static bool was_fetched(const struct hf_etrace_packet *pkt)
{
	return pkt->ecause >= CAUSE_ILLEGAL && pkt->ecause <= CAUSE_STORE_PAGE && pkt->ecause != CAUSE_FETCH_PAGE;
}

static void add_attempt(struct hf_etrace_follow *f, uint64_t epc, enum hf_mode mode, bool fetched)
{
	const uint64_t full = hf_walk_full(&f->blocks, epc);
	struct hf_event ev;
	uint64_t there;

	if (hf_walk_insn(&f->blocks, epc, &ev)) {
		ev.kind = HF_EVENT_ATTEMPT;
		ev.insn.mode = (uint8_t)mode;
		hf_etrace_add(f, &ev);
	} else if (fetched && !(f->blocks.program && hf_program_at(f->blocks.program, full, &there))) {
		hf_etrace_note(f, HF_ERR_ETRACE_NO_CODE, full);
	}
}

void hf_etrace_trap(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	const struct hf_etrace_packet *pkt = &r->pkt;
	const bool was_call = is_last(f) && f->cur->end == HF_WALK_TRAP_CALL;
	const bool no_cause = r->params.has_unknown_cause && pkt->ecause == r->params.unknown_cause;
	struct hf_event trap = {
		.kind = HF_EVENT_TRAP,
		.flags = (no_cause ? 0 : HF_EVF_CAUSE) | (pkt->interrupt ? HF_EVF_ASYNC : 0),
		.trap.cause = no_cause ? 0 : pkt->ecause,
	};
	const bool unknown = is_of_handler(f), own = tells_own_epc(f), chained = f->s.flags & HF_ETRACE_NEXT_EPC;
	/* The packet before says where it came, 0 if its encoder did not know. */
	const bool foretold = chained && !(f->s.flags & HF_ETRACE_HELD);
	uint64_t epc = 0, after = 0;
	bool taken;
	const bool static_after = hf_etrace_successor(f, &after, &taken);
	const bool known = leave(f, &epc);

	if (known && is_attempt(f, was_call, epc))
		add_attempt(f, epc, mode_before(f, !static_after || after == epc, own),
			    !foretold && !no_cause && was_fetched(pkt));
	if (!pkt->interrupt && (r->params.version != HF_ETRACE_1_1_1 || pkt->ecause != CAUSE_ILLEGAL)) {
		trap.flags |= HF_EVF_VALUE;
		trap.trap.value = pkt->tval;
	}
	if (unknown)
		trap = (struct hf_event){.kind = HF_EVENT_TRAP};
	hf_etrace_add(f, &trap);
	f->trap = f->tail;
	/*
	 * The address of a trap reported in retrospect is where the next one happened. Some encoders give its own
	 * there; the two may be the same where a handler's first instruction traps again and again.
	 */
	f->s.next_epc = hf_etrace_unshift(&r->params, pkt->address);
	if (!pkt->thaddr && !own && (chained || !known || epc != f->s.next_epc))
		f->s.flags |= HF_ETRACE_NEXT_EPC;
	else
		f->s.flags &= (uint16_t)~HF_ETRACE_NEXT_EPC;
}
