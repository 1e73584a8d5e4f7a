/* Traps: where they happened, which the packets say only in part, and the events that say it. */
#include "codecs/etrace/decoder.h"

/* RISC-V causes. */
enum { CAUSE_FETCH_MISALIGNED = 0, CAUSE_FETCH_ACCESS = 1, CAUSE_ILLEGAL = 2, CAUSE_FETCH_PAGE = 12 };

static bool is_last(const struct hf_etrace_dec *d)
{
	return d->cur && d->index + 1u == d->cur->count;
}

/* The instruction held back is one of those after which nobody but a packet knows where the flow goes. */
static bool is_at_discontinuity(const struct hf_etrace_dec *d)
{
	return is_last(d) && (d->cur->end == HF_ETRACE_END_INDIRECT || d->cur->end == HF_ETRACE_END_TRAP_RETURN);
}

static bool is_fetch_fault(uint64_t cause)
{
	return cause == CAUSE_FETCH_MISALIGNED || cause == CAUSE_FETCH_ACCESS || cause == CAUSE_FETCH_PAGE;
}

/* Version 1.1.1, behind an uninferable discontinuity: tvalepc at best. */
static bool epc_of_value(const struct hf_etrace_dec *d, uint64_t *ret_epc)
{
	const struct hf_etrace_packet *pkt = &d->pkt;

	*ret_epc = pkt->tval & d->flow.mask;
	if (pkt->interrupt)
		return false;
	return pkt->ecause == CAUSE_ILLEGAL || (is_fetch_fault(pkt->ecause) && pkt->tval);
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

static bool find_epc(const struct hf_etrace_dec *d, uint64_t *ret_epc)
{
	const struct hf_etrace_packet *pkt = &d->pkt;
	const bool held = d->core.flags & HF_ETRACE_HELD;
	bool taken;

	if (is_of_handler(d))
		return false;
	if (!pkt->thaddr && (!held || is_at_discontinuity(d)) && !(d->core.flags & HF_ETRACE_TRAP0)) {
		*ret_epc = hf_etrace_unshift(&d->params, pkt->address);
		return true;
	}
	if (!held && (d->core.flags & HF_ETRACE_NEXT_EPC)) {
		*ret_epc = d->core.next_epc;
		return true;
	}
	if (d->params.ecall_retires && is_last(d) && d->cur->end == HF_ETRACE_END_TRAP_CALL) {
		*ret_epc = d->core.pc;
		return true;
	}
	if (d->params.version == HF_ETRACE_1_1_1 && !pkt->interrupt && pkt->ecause == CAUSE_ILLEGAL)
		return epc_of_value(d, ret_epc);
	if (!held)
		return false;
	if (hf_etrace_successor(d, ret_epc, &taken))
		return true;
	return d->params.version == HF_ETRACE_1_1_1 && epc_of_value(d, ret_epc);
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
 * In which mode what trapped was executed. Behind another trap nobody says it: neither when that was reported alone nor
 * when it was not reported at all (1.1.1), which shows where epc does not follow the last instruction.
 */
static enum hf_mode mode_before(const struct hf_etrace_dec *d, bool follows)
{
	return (d->core.flags & HF_ETRACE_TRAP0) || !follows ? HF_MODE_UNKNOWN : hf_etrace_mode_of(d->core.privilege);
}

static bool is_attempt(const struct hf_etrace_dec *d, bool was_call, uint64_t epc)
{
	return !d->pkt.interrupt && !(d->params.ecall_retires && was_call && d->core.pc == epc);
}

void hf_etrace_trap(struct hf_etrace_dec *d)
{
	const struct hf_etrace_packet *pkt = &d->pkt;
	const bool was_call = is_last(d) && d->cur->end == HF_ETRACE_END_TRAP_CALL;
	struct hf_event attempt, trap = {
		.kind = HF_EVENT_TRAP,
		.flags = HF_EVF_CAUSE | (pkt->interrupt ? HF_EVF_ASYNC : 0),
		.trap.cause = pkt->ecause,
	};
	const bool unknown = is_of_handler(d);
	uint64_t epc = 0, after = 0;
	bool taken;
	const bool static_after = hf_etrace_successor(d, &after, &taken);
	const bool known = leave(d, &epc);

	if (known && is_attempt(d, was_call, epc) && hf_etrace_flow_insn(&d->flow, epc, &attempt)) {
		attempt.kind = HF_EVENT_ATTEMPT;
		attempt.insn.mode = (uint8_t)mode_before(d, !static_after || after == epc);
		hf_etrace_add(d, &attempt);
	}
	if (d->params.version != HF_ETRACE_1_1_1 || pkt->interrupt || pkt->ecause != CAUSE_ILLEGAL)
		trap.trap.value = pkt->tval;
	if (unknown)
		trap = (struct hf_event){.kind = HF_EVENT_TRAP};
	hf_etrace_add(d, &trap);
	d->trap = d->tail;
	/* The address of a trap reported in retrospect is where the next one happened. */
	d->core.next_epc = hf_etrace_unshift(&d->params, pkt->address);
	if (!pkt->thaddr && known && epc != d->core.next_epc)
		d->core.flags |= HF_ETRACE_NEXT_EPC;
	else
		d->core.flags &= (uint16_t)~HF_ETRACE_NEXT_EPC;
}
