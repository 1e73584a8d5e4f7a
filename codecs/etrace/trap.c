/* SPDX-License-Identifier: Apache-2.0 */
/* Traps: where they happened, which the packets say only in part, and the events that say it. */
#include "codecs/etrace/decoder.h"

#include "codecs/isa/riscv.h"

/* RISC-V causes. */
enum { CAUSE_FETCH_ACCESS = 1, CAUSE_ILLEGAL = 2, CAUSE_BREAKPOINT = 3, CAUSE_FETCH_PAGE = 12, CAUSE_STORE_PAGE = 15 };

static bool is_last(const struct hf_etrace_dec *d)
{
	return d->cur && d->index + 1u == d->cur->count;
}

/* The instruction held back is an uninferable discontinuity by its opcode, even if its target is inferred. */
static bool is_at_discontinuity(const struct hf_etrace_dec *d)
{
	struct hf_riscv_jump jump;

	if (!is_last(d))
		return false;
	if (d->cur->end != HF_ETRACE_END_JUMP)
		return d->cur->end == HF_ETRACE_END_INDIRECT || d->cur->end == HF_ETRACE_END_TRAP_RETURN;
	return hf_riscv_jump(d->cur->insn[d->index].insn.opcode, d->flow.xlen, &jump) && jump.indirect && jump.rs1;
}

static bool is_ebreak(const struct hf_etrace_dec *d, uint64_t pc)
{
	struct hf_event ev;

	return hf_etrace_flow_insn(&d->flow, pc, &ev) && (ev.insn.opcode == 0x00100073 || ev.insn.opcode == 0x9002);
}

/*
 * Version 1.1.1: whether tvalepc is the address of what trapped (6.3.1). Of a misaligned fetch it is where the jump that
 * trapped would have gone; of a breakpoint it may be an address of data.
 */
static bool epc_of_value(const struct hf_etrace_dec *d, uint64_t *ret_epc)
{
	const struct hf_etrace_packet *pkt = &d->pkt;

	*ret_epc = pkt->tval & d->flow.mask;
	if (d->params.version != HF_ETRACE_1_1_1 || pkt->interrupt)
		return false;
	switch (pkt->ecause) {
	case CAUSE_ILLEGAL:
		return true;
	case CAUSE_FETCH_ACCESS:
	case CAUSE_FETCH_PAGE:
		return pkt->tval;
	case CAUSE_BREAKPOINT:
		return is_ebreak(d, *ret_epc);
	default:
		return false;
	}
}

/*
 * trap_reporting = figure: a trap at the first instruction of a handler is reported in place of the one that led
 * there, whose cause is then nowhere. The packet after it reports it once more.
 */
static bool is_of_handler(const struct hf_etrace_dec *d)
{
	const struct hf_etrace_packet *pkt = &d->pkt;

	return d->params.figure && !pkt->interrupt && pkt->ecause == CAUSE_ILLEGAL &&
	       (pkt->tval & d->flow.mask) == hf_etrace_unshift(&d->params, pkt->address);
}

/*
 * thaddr 0: the address is where this trap came if nothing else tells that, otherwise where the next one did (2.0,
 * exception_address in the pseudo-code).
 */
static bool tells_own_epc(const struct hf_etrace_dec *d)
{
	const bool held = d->core.flags & HF_ETRACE_HELD;

	if (d->pkt.thaddr || (!held && (d->core.flags & HF_ETRACE_NEXT_EPC)))
		return false;
	return !held || is_at_discontinuity(d);
}

static bool find_epc(const struct hf_etrace_dec *d, uint64_t *ret_epc)
{
	const struct hf_etrace_packet *pkt = &d->pkt;
	const bool held = d->core.flags & HF_ETRACE_HELD;
	uint64_t value;
	bool taken, known;

	if (is_of_handler(d))
		return false;
	if (!held && (d->core.flags & HF_ETRACE_NEXT_EPC)) {
		*ret_epc = d->core.next_epc;
		return true;
	}
	if (tells_own_epc(d)) {
		*ret_epc = hf_etrace_unshift(&d->params, pkt->address);
		return true;
	}
	if (d->params.ecall_retires && is_last(d) && d->cur->end == HF_ETRACE_END_TRAP_CALL) {
		*ret_epc = d->core.pc;
		return true;
	}
	known = held && hf_etrace_successor(d, ret_epc, &taken);
	/* A fetch may fail at its second half. */
	if (!epc_of_value(d, &value) || (known && value == *ret_epc + 2))
		return known;
	*ret_epc = value;
	return true;
}

bool hf_etrace_vector(const struct hf_etrace_dec *d, uint64_t *ret_address)
{
	const uint8_t privilege = d->pkt.privilege;
	const unsigned which = privilege == 1 ? 1 : privilege == 6 ? 2 : 0;
	const uint64_t tvec = d->params.tvec[which];

	*ret_address = (tvec & ~UINT64_C(3)) & d->flow.mask;
	if ((tvec & 3) == 1 && d->pkt.interrupt)
		*ret_address = (*ret_address + 4 * d->pkt.ecause) & d->flow.mask;
	return d->params.has_tvec[which];
}

void hf_etrace_settle_trap(struct hf_etrace_dec *d, const uint64_t *address)
{
	if (d->trap && address) {
		struct hf_event *ev = &d->list[d->trap - 1].event;

		ev->flags |= HF_EVF_HANDLER;
		/* That of a later trap's own handler says nothing of this one's. */
		if (d->pkt.subformat == HF_ETRACE_SYNC || !d->pkt.thaddr || d->trap == d->tail) {
			ev->flags |= HF_EVF_MODE;
			ev->small = (uint16_t)hf_etrace_mode_of(d->pkt.privilege);
		}
		ev->trap.handler = hf_etrace_full(&d->flow, *address);
	}
	d->trap = 0;
}

/* trap_reporting = figure: addresses are reported that did not retire; whether the instruction held back is one. */
static bool is_not_retired(const struct hf_etrace_dec *d)
{
	const struct hf_etrace_core *core = &d->core;

	if (!d->params.figure || !(core->flags & HF_ETRACE_HELD))
		return false;
	if (core->flags & HF_ETRACE_SUSPECT)
		return true;
	return (core->flags & HF_ETRACE_AFTER_TRAP) && d->pkt.ecause == CAUSE_ILLEGAL && !d->pkt.interrupt &&
	       (d->pkt.tval & d->flow.mask) == core->pc;
}

/* What came before the trap becomes final; its address is *ret_epc if that is known. */
static bool leave(struct hf_etrace_dec *d, uint64_t *ret_epc)
{
	bool known;

	if (is_not_retired(d)) {
		*ret_epc = d->core.pc;
		d->core.flags &= (uint16_t)~HF_ETRACE_HELD;
		d->cur = NULL;
		return true;
	}
	known = find_epc(d, ret_epc);
	hf_etrace_release(d, known ? ret_epc : NULL);
	return known;
}

/*
 * In which mode what trapped was executed. A packet that says where its own trap came says it. Otherwise nobody does
 * behind another trap: neither when that was reported alone nor when it was not reported at all (1.1.1), which shows where
 * epc does not follow the last instruction.
 */
static enum hf_mode mode_before(const struct hf_etrace_dec *d, bool follows, bool own)
{
	if (own)
		return hf_etrace_mode_of(d->pkt.privilege);
	return (d->core.flags & HF_ETRACE_TRAP0) || !follows ? HF_MODE_UNKNOWN : hf_etrace_mode_of(d->core.privilege);
}

static bool is_attempt(const struct hf_etrace_dec *d, bool was_call, uint64_t epc)
{
	return !d->pkt.interrupt && !(d->params.ecall_retires && was_call && d->core.pc == epc);
}

/* What was attempted has been fetched, so there must be code. */
static bool was_fetched(const struct hf_etrace_packet *pkt)
{
	return pkt->ecause >= CAUSE_ILLEGAL && pkt->ecause <= CAUSE_STORE_PAGE && pkt->ecause != CAUSE_FETCH_PAGE;
}

static void add_attempt(struct hf_etrace_dec *d, uint64_t epc, enum hf_mode mode, bool fetched)
{
	const uint64_t full = hf_etrace_full(&d->flow, epc);
	struct hf_event ev;

	if (hf_etrace_flow_insn(&d->flow, epc, &ev)) {
		ev.kind = HF_EVENT_ATTEMPT;
		ev.insn.mode = (uint8_t)mode;
	} else if (fetched && !(d->flow.program && hf_program_find(d->flow.program, full))) {
		ev = (struct hf_event){
			.kind = HF_EVENT_NOTE,
			.size = (uint32_t)-HF_ERR_ETRACE_NO_CODE,
			.loss = {.offset = d->msg.offset, .detail = full},
		};
	} else {
		return;
	}
	hf_etrace_add(d, &ev);
}

void hf_etrace_trap(struct hf_etrace_dec *d)
{
	const struct hf_etrace_packet *pkt = &d->pkt;
	const bool was_call = is_last(d) && d->cur->end == HF_ETRACE_END_TRAP_CALL;
	const bool no_cause = d->params.has_unknown_cause && pkt->ecause == d->params.unknown_cause;
	struct hf_event trap = {
		.kind = HF_EVENT_TRAP,
		.flags = (no_cause ? 0 : HF_EVF_CAUSE) | (pkt->interrupt ? HF_EVF_ASYNC : 0),
		.trap.cause = no_cause ? 0 : pkt->ecause,
	};
	const bool unknown = is_of_handler(d), own = tells_own_epc(d), chained = d->core.flags & HF_ETRACE_NEXT_EPC;
	/* The packet before says where it came, 0 if its encoder did not know. */
	const bool foretold = chained && !(d->core.flags & HF_ETRACE_HELD);
	uint64_t epc = 0, after = 0;
	bool taken;
	const bool static_after = hf_etrace_successor(d, &after, &taken);
	const bool known = leave(d, &epc);

	if (known && is_attempt(d, was_call, epc))
		add_attempt(d, epc, mode_before(d, !static_after || after == epc, own),
			    !foretold && !no_cause && was_fetched(pkt));
	if (!pkt->interrupt && (d->params.version != HF_ETRACE_1_1_1 || pkt->ecause != CAUSE_ILLEGAL)) {
		trap.flags |= HF_EVF_VALUE;
		trap.trap.value = pkt->tval;
	}
	if (unknown)
		trap = (struct hf_event){.kind = HF_EVENT_TRAP};
	hf_etrace_add(d, &trap);
	d->trap = d->tail;
	/*
	 * The address of a trap reported in retrospect is where the next one happened. Some encoders give its own there; the
	 * two may be the same where a handler's first instruction traps again and again.
	 */
	d->core.next_epc = hf_etrace_unshift(&d->params, pkt->address);
	if (!pkt->thaddr && !own && (chained || !known || epc != d->core.next_epc))
		d->core.flags |= HF_ETRACE_NEXT_EPC;
	else
		d->core.flags &= (uint16_t)~HF_ETRACE_NEXT_EPC;
}
