/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data trace and instructions: two rows in program order that come by different ways. They are merged where events are
 * given: each load, store, atomic or CSR instruction takes the oldest access if that is of its kind and size.
 *
 * An access may come before or behind the packet that reports its instruction. So an instruction for which there is none
 * waits, and with it all that follows, until one comes: if that is of its kind it is its own; if not, it belongs to a
 * later instruction, and this one has none. A trace in which instructions turn out to have none (a filter, a source
 * without them) cannot be read so, for any that waits would take what belongs to the next: there, up to the next
 * synchronisation, nothing waits, as nothing does with data_order = before.
 */
#include "codecs/etrace/decoder.h"

static void add_extra(struct hf_etrace_dec *d, const struct hf_event *ev)
{
	d->extra[d->extra_count++] = *ev;
}

static void add_mem(struct hf_etrace_dec *d, const struct hf_etrace_access *a, unsigned flags, bool known, uint64_t data)
{
	const struct hf_event ev = {
		.kind = HF_EVENT_MEM,
		.flags = (uint8_t)flags,
		.small = known,
		.mem = {.address = a->address, .data = known ? data : 0, .size = 1u << a->size},
	};

	add_extra(d, &ev);
}

/* A register as it was read: class 1 integer, 4 CSR. */
static void add_register(struct hf_etrace_dec *d, uint8_t class, uint16_t number, uint64_t value)
{
	const struct hf_event ev = {.kind = HF_EVENT_REG,
				    .reg = {.value = value, .number = number, .class = class, .role = 2}};

	add_extra(d, &ev);
}

/* What it read, and what it wrote as that and its operand say. */
static void add_atomic(struct hf_etrace_dec *d, const struct hf_etrace_wish *w, uint32_t opcode,
		       const struct hf_etrace_access *a)
{
	const bool data = a->flags & HF_ETRACE_HAS_DATA, operand = a->flags & HF_ETRACE_HAS_OPERAND;
	uint64_t new = 0;
	bool known = hf_etrace_wish_result(opcode, a->size, a->data, a->operand, &new);

	if (a->subtype == HF_ETRACE_FAILED_SC)
		return;
	if (operand && w->source)
		add_register(d, 1, w->source, a->operand);
	add_mem(d, a, HF_EVF_READ, data, a->data);
	if (a->subtype == HF_ETRACE_FAILED_CAS)
		return;
	known = known && operand && (data || a->subtype == HF_ETRACE_SWAP);
	add_mem(d, a, HF_EVF_WRITE, known, new);
}

static void add_access(struct hf_etrace_dec *d, const struct hf_etrace_wish *w, uint32_t opcode,
		       const struct hf_etrace_access *a)
{
	switch (a->kind) {
	case HF_ETRACE_CSR:
		if (a->flags & HF_ETRACE_HAS_OPERAND && !w->immediate && w->source)
			add_register(d, 1, w->source, a->operand);
		if (a->flags & HF_ETRACE_HAS_DATA)
			add_register(d, 4, (uint16_t)a->address, a->data);
		break;
	case HF_ETRACE_ATOMIC:
		add_atomic(d, w, opcode, a);
		break;
	default:
		add_mem(d, a, a->kind == HF_ETRACE_LOAD ? HF_EVF_READ : HF_EVF_WRITE, a->flags & HF_ETRACE_HAS_DATA,
			a->data);
	}
}

static void drop(struct hf_etrace_dec *d, uint32_t n)
{
	d->access_count -= n;
	d->access_stale -= n < d->access_stale ? n : d->access_stale;
	d->core.fence -= (uint16_t)(n < d->core.fence ? n : d->core.fence);
	memmove(d->accesses, d->accesses + n, d->access_count * sizeof *d->accesses);
}

/* ---- merging ---- */

static bool is_early(const struct hf_etrace_dec *d)
{
	return d->given.data_order == HF_ETRACE_ORDER_BEFORE;
}

static bool waits(const struct hf_etrace_dec *d)
{
	return d->core.data_on && !d->core.passed_over && !is_early(d);
}

bool hf_etrace_merges(const struct hf_etrace_dec *d)
{
	return d->access_count || d->taker.wants || d->extra_at < d->extra_count || d->core.fenced == HF_ETRACE_FENCED ||
	       waits(d);
}

/* Nothing more will come for the instruction at the head of the list. */
static bool is_released(const struct hf_etrace_dec *d)
{
	return d->head < d->release || is_early(d);
}

/* How many accesses the next instruction may choose from. */
static uint32_t available(const struct hf_etrace_dec *d)
{
	return d->core.fenced >= HF_ETRACE_FENCED ? d->core.fence : d->access_count;
}

void hf_etrace_fence_accesses(struct hf_etrace_dec *d)
{
	if (d->core.reported && is_early(d)) {
		d->core.fenced = HF_ETRACE_FENCED;
		d->core.fence = (uint16_t)d->access_count;
	}
	d->core.reported = false;
}

/* The oldest access becomes the instruction's; what else that takes is in d->taker. */
static void take_access(struct hf_etrace_dec *d, const struct hf_etrace_wish *w, uint32_t opcode)
{
	const struct hf_etrace_access a = d->accesses[0];

	d->taker = *w;
	d->taker_opcode = opcode;
	d->taker.wants = w->many && w->limit != 1;
	d->taker.limit = w->limit ? w->limit - 1 : 0;
	if (w->kind == HF_ETRACE_ATOMIC && a.kind == HF_ETRACE_LOAD) { /* told as a load and a store */
		d->taker.wants = true;
		d->taker.kind = HF_ETRACE_STORE;
	}
	d->extra_count = d->extra_at = 0;
	add_access(d, w, opcode, &a);
	drop(d, 1);
}

bool hf_etrace_give_more(struct hf_etrace_dec *d)
{
	if (!d->taker.wants)
		return false;
	if (available(d) && hf_etrace_wish_takes(&d->taker, d->accesses)) {
		take_access(d, &d->taker, d->taker_opcode);
		return true;
	}
	d->taker.wants = false;
	return false;
}

/* Nothing is known yet of what is behind the oldest access, and something may come. */
static bool is_last(const struct hf_etrace_dec *d)
{
	return available(d) == 1 && waits(d) && !is_released(d);
}

bool hf_etrace_attach(struct hf_etrace_dec *d, const struct hf_ev_insn *insn)
{
	const struct hf_etrace_wish w = hf_etrace_wish_of(&d->given, insn);
	const struct hf_etrace_access *a = d->accesses;

	if (d->core.fenced == HF_ETRACE_PASSING)
		d->core.fenced = HF_ETRACE_UNFENCED;
	if (d->core.fenced == HF_ETRACE_FENCED)
		d->core.fenced = HF_ETRACE_PASSING;
	if (!w.wants)
		return true;
	if (!available(d))
		return !waits(d) || is_released(d);
	if (hf_etrace_wish_may_take_two(&w, a) && is_last(d))
		return false;
	if (!hf_etrace_wish_takes(&w, a) && !(available(d) > 1 && hf_etrace_wish_takes_two(&w, a, a + 1))) {
		d->core.passed_over |= !w.optional;
		return true;
	}
	if ((a->flags & HF_ETRACE_SPLIT) && !is_released(d))
		return false;
	take_access(d, &w, insn->opcode);
	return true;
}

/* ---- packets ---- */

/* Data of a split access: its request still waits, or its instruction is gone. */
static bool take_response(struct hf_etrace_dec *d, const struct hf_etrace_access *response)
{
	const uint8_t kind = response->kind == HF_ETRACE_LOAD_DATA ? HF_ETRACE_LOAD : HF_ETRACE_ATOMIC;

	for (uint32_t i = 0; i < d->access_count; i++) {
		struct hf_etrace_access *a = &d->accesses[i];

		if (!(a->flags & HF_ETRACE_SPLIT) || a->id != response->id || a->kind != kind)
			continue;
		a->data = response->data;
		a->flags |= response->flags & HF_ETRACE_HAS_DATA;
		a->flags &= (uint8_t)~HF_ETRACE_SPLIT;
		return true;
	}
	return false;
}

/* An id that is used again: what had it before gets no answer. */
static void close_request(struct hf_etrace_dec *d, const struct hf_etrace_access *request)
{
	for (uint32_t i = 0; i < d->access_count; i++)
		if (d->accesses[i].id == request->id && d->accesses[i].kind == request->kind)
			d->accesses[i].flags &= (uint8_t)~HF_ETRACE_SPLIT;
}

void hf_etrace_take_data(struct hf_etrace_dec *d)
{
	const bool wanted = d->core.flags & (HF_ETRACE_STARTED | HF_ETRACE_HELD) || d->head < d->committed;
	struct hf_etrace_access a;
	int err = hf_etrace_data_read(&d->params, d->core.modes, &d->data, d->msg.payload, d->msg.length, &a);

	if (err || !wanted) {
		d->core.access_lost++;
		return;
	}
	d->core.data_on = true;
	if (a.kind == HF_ETRACE_LOAD_DATA || a.kind == HF_ETRACE_ATOMIC_DATA) {
		d->core.access_lost += !take_response(d, &a);
		return;
	}
	if (d->access_count == HF_ETRACE_ACCESSES) {
		d->core.access_lost++;
		drop(d, 1);
	}
	/* without data there is nothing more to come */
	if (d->core.modes & HF_ETRACE_NO_DATA)
		a.flags &= (uint8_t)~HF_ETRACE_SPLIT;
	if (a.flags & HF_ETRACE_SPLIT)
		close_request(d, &a);
	d->accesses[d->access_count++] = a;
}

void hf_etrace_age_accesses(struct hf_etrace_dec *d)
{
	d->core.access_lost += d->access_stale;
	drop(d, d->access_stale);
	d->access_stale = d->access_count;
	d->core.passed_over = false;
}

/* ---- losses ---- */

void hf_etrace_lose_accesses(struct hf_etrace_dec *d)
{
	d->core.access_lost += d->access_count;
	d->access_count = d->access_stale = 0;
}

void hf_etrace_tell_lost_data(struct hf_etrace_dec *d)
{
	const struct hf_event ev = {
		.kind = HF_EVENT_NOTE,
		.size = (uint32_t)-HF_ERR_ETRACE_DATA,
		.loss = {.offset = hf_etrace_framer_offset(&d->framer), .detail = d->core.access_lost},
	};

	d->core.access_lost = 0;
	hf_etrace_add(d, &ev);
}

bool hf_etrace_count_lost_data(struct hf_etrace_dec *d, struct hf_event *ev)
{
	hf_etrace_lose_accesses(d);
	ev->loss.detail += d->core.access_lost;
	d->core.access_lost = 0;
	return ev->loss.detail != 0;
}
