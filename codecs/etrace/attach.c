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
 *
 * Where the two rows cannot be brought together (too many accesses wait, one could not be read, an instruction without
 * one cannot wait), nothing is attached up to the next synchronisation, and a doubt says so: the wrong access is worse
 * than none.
 */
#include "codecs/etrace/decoder.h"

#include <stdlib.h>

/* As many as fit a blob of HF_STATE_MAX bytes, and more. */
#define ROOM_FIRST 512u

static void add_extra(struct hf_etrace_dec *d, const struct hf_event *ev)
{
	d->extra[d->extra_count++] = *ev;
}

static void add_mem(struct hf_etrace_dec *d, const struct hf_etrace_access *a, unsigned flags, bool known, uint64_t data)
{
	struct hf_event ev = {
		.kind = HF_EVENT_MEM,
		.flags = (uint8_t)flags,
		.words = known,
		.mem = {.address = a->address, .data = known ? data : 0, .size = 1u << a->size},
	};

	if (!(a->flags & HF_ETRACE_HAS_ADDRESS))
		ev.flags |= HF_EVF_NO_ADDRESS;

	add_extra(d, &ev);
}

/* A register as it was read. */
static void add_register(struct hf_etrace_dec *d, uint8_t class, uint16_t number, uint64_t value)
{
	const struct hf_event ev = {.kind = HF_EVENT_REG,
				    .reg = {.value = value, .number = number, .class = class, .role = HF_REG_SOURCE}};

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
		add_register(d, HF_REG_INTEGER, w->source, a->operand);
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
			add_register(d, HF_REG_INTEGER, w->source, a->operand);
		if (a->flags & HF_ETRACE_HAS_DATA)
			add_register(d, HF_REG_CSR, (uint16_t)a->address, a->data);
		break;
	case HF_ETRACE_ATOMIC:
		add_atomic(d, w, opcode, a);
		break;
	default:
		add_mem(d, a, a->kind == HF_ETRACE_LOAD ? HF_EVF_READ : HF_EVF_WRITE, a->flags & HF_ETRACE_HAS_DATA,
			a->data);
	}
}

/* ---- those that wait ---- */

static struct hf_etrace_access *oldest(const struct hf_etrace_dec *d)
{
	return d->accesses + d->access_first;
}

static void drop(struct hf_etrace_dec *d, uint32_t n)
{
	d->access_count -= n;
	d->access_first += n;
	d->access_dropped += n;
	d->access_stale -= n < d->access_stale ? n : d->access_stale;
	d->core.fence -= n < d->core.fence ? n : d->core.fence;
}

static int make_room(struct hf_etrace_dec *d)
{
	const uint32_t room = d->access_room ? 2 * d->access_room : ROOM_FIRST;
	struct hf_etrace_access *bigger;

	if (d->access_first + d->access_count < d->access_room)
		return 0;
	if (d->access_first > d->access_count) {
		memmove(d->accesses, oldest(d), d->access_count * sizeof *d->accesses);
		d->access_first = 0;
		return 0;
	}
	bigger = realloc(d->accesses, room * sizeof *bigger);
	if (!bigger)
		return HF_ERR_NOMEM;
	d->accesses = bigger;
	d->access_room = room;
	return 0;
}

/* Where the split access with this id and kind is found: counted from the first that was ever appended. */
static uint32_t *split_slot(const struct hf_etrace_dec *d, uint8_t kind, unsigned id)
{
	return &d->splits[(kind == HF_ETRACE_ATOMIC) << d->given.lrid_width | id];
}

/* The one that still waits for its data, or NULL. */
static struct hf_etrace_access *find_split(const struct hf_etrace_dec *d, uint8_t kind, unsigned id)
{
	struct hf_etrace_access *a;
	uint32_t at;

	if (id >> d->given.lrid_width)
		return NULL;
	at = *split_slot(d, kind, id) - d->access_dropped;
	a = oldest(d) + at;
	return at < d->access_count && (a->flags & HF_ETRACE_SPLIT) && a->id == id && a->kind == kind ? a : NULL;
}

int hf_etrace_append_access(struct hf_etrace_dec *d, const struct hf_etrace_access *a)
{
	int err = make_room(d);

	if (err)
		return err;
	if ((a->flags & HF_ETRACE_SPLIT) && !(a->id >> d->given.lrid_width)) {
		struct hf_etrace_access *before = find_split(d, a->kind, a->id);

		if (before) /* an id that is used again: what had it before gets no answer */
			before->flags &= (uint8_t)~HF_ETRACE_SPLIT;
		*split_slot(d, a->kind, a->id) = d->access_dropped + d->access_count;
	}
	oldest(d)[d->access_count++] = *a;
	return 0;
}

int hf_etrace_accesses_init(struct hf_etrace_dec *d)
{
	d->splits = calloc((size_t)2 << d->given.lrid_width, sizeof *d->splits);
	return d->splits ? make_room(d) : HF_ERR_NOMEM;
}

void hf_etrace_accesses_fini(struct hf_etrace_dec *d)
{
	free(d->accesses);
	free(d->splits);
}

void hf_etrace_lose_accesses(struct hf_etrace_dec *d)
{
	d->core.access_lost += d->access_count;
	drop(d, d->access_count);
	d->access_first = 0;
}

/* Which access belongs to which instruction is not known from here to the next synchronisation. */
static void lose_track(struct hf_etrace_dec *d, int code, uint64_t offset, uint64_t detail)
{
	d->core.data_lost = true;
	hf_etrace_lose_accesses(d);
	d->doubt = (struct hf_event){
		.kind = HF_EVENT_DOUBT, .code = (uint32_t)-code, .loss = {.offset = offset, .detail = detail}};
}

/* ---- merging ---- */

static bool is_early(const struct hf_etrace_dec *d)
{
	return d->given.data_order == HF_ETRACE_ORDER_BEFORE;
}

/* An access may come behind the packet that reports its instruction. */
static bool may_be_late(const struct hf_etrace_dec *d)
{
	return d->core.data_on && !d->core.data_lost && !is_early(d);
}

static bool waits(const struct hf_etrace_dec *d)
{
	return may_be_late(d) && !d->core.passed_over;
}

/* Whether there is data trace is not known yet: it shows with the first access. */
static bool may_begin(const struct hf_etrace_dec *d)
{
	return !d->core.data_on && !d->core.data_lost && !d->core.unmet && !is_early(d);
}

bool hf_etrace_merges(const struct hf_etrace_dec *d)
{
	return d->access_count || d->taker.wants || d->extra_at < d->extra_count || d->core.fenced == HF_ETRACE_FENCED ||
	       may_be_late(d) || may_begin(d);
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
		d->core.fence = d->access_count;
	}
	d->core.reported = false;
}

/* The oldest access becomes the instruction's; what else that takes is in d->taker. */
static void take_access(struct hf_etrace_dec *d, const struct hf_etrace_wish *w, uint32_t opcode)
{
	const struct hf_etrace_access a = *oldest(d);

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
	if (available(d) && hf_etrace_wish_takes(&d->taker, oldest(d))) {
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
	const struct hf_etrace_access *a = oldest(d);

	if (d->core.fenced == HF_ETRACE_PASSING)
		d->core.fenced = HF_ETRACE_UNFENCED;
	if (d->core.fenced == HF_ETRACE_FENCED)
		d->core.fenced = HF_ETRACE_PASSING;
	if (!w.wants || d->core.data_lost)
		return true;
	if (!available(d) && waits(d) && !is_released(d))
		return false;
	if (!available(d)) {
		/* if it has an access that comes late, that would be taken for the next one's */
		if (may_be_late(d) && d->core.passed_over && !d->ended)
			lose_track(d, HF_ERR_ETRACE_DATA_NONE, hf_etrace_framer_offset(&d->framer), insn->pc);
		else if (may_begin(d))
			d->core.unmet = insn->pc | 1;
		return true;
	}
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
	struct hf_etrace_access *a = find_split(d, kind, response->id);

	if (!a)
		return false;
	a->data = response->data;
	a->flags |= response->flags & HF_ETRACE_HAS_DATA;
	a->flags &= (uint8_t)~HF_ETRACE_SPLIT;
	return true;
}

int hf_etrace_take_data(struct hf_etrace_dec *d)
{
	const bool wanted = d->core.flags & (HF_ETRACE_STARTED | HF_ETRACE_HELD) || d->head < d->committed;
	struct hf_etrace_access a;
	int err = hf_etrace_data_read(&d->params, d->core.modes, &d->data, d->msg.payload, d->msg.length, &a);

	if (err && wanted && !d->core.data_lost)
		lose_track(d, HF_ERR_ETRACE_DATA_PACKET, d->msg.offset, 0);
	if (err || !wanted || d->core.data_lost) {
		d->core.access_lost++;
		return 0;
	}
	/* the first of all may be that of an instruction that did not wait for it */
	if (!d->core.data_on && d->core.unmet) {
		lose_track(d, HF_ERR_ETRACE_DATA_NONE, d->msg.offset, d->core.unmet & ~UINT64_C(1));
		d->core.access_lost++;
	}
	d->core.data_on = true;
	if (d->core.data_lost)
		return 0;
	if (a.kind == HF_ETRACE_LOAD_DATA || a.kind == HF_ETRACE_ATOMIC_DATA) {
		d->core.access_lost += (a.flags & HF_ETRACE_UNSIZED) || !take_response(d, &a);
		return 0;
	}
	if (d->access_count == HF_ETRACE_ACCESSES) {
		lose_track(d, HF_ERR_ETRACE_DATA_WAIT, d->msg.offset, HF_ETRACE_ACCESSES);
		d->core.access_lost++;
		return 0;
	}
	/* without data there is nothing more to come */
	if (d->core.modes & HF_ETRACE_NO_DATA)
		a.flags &= (uint8_t)~HF_ETRACE_SPLIT;
	return hf_etrace_append_access(d, &a);
}

void hf_etrace_age_accesses(struct hf_etrace_dec *d)
{
	d->core.access_lost += d->access_stale;
	drop(d, d->access_stale);
	d->access_stale = d->access_count;
	d->core.passed_over = false;
	d->core.data_lost = false;
	d->core.unmet = 0;
}

/* ---- losses ---- */

void hf_etrace_tell_lost_data(struct hf_etrace_dec *d)
{
	const struct hf_event ev = {
		.kind = HF_EVENT_NOTE,
		.code = (uint32_t)-HF_ERR_ETRACE_DATA,
		.loss = {.offset = hf_etrace_framer_offset(&d->framer), .detail = d->core.access_lost},
	};

	d->core.access_lost = 0;
	hf_etrace_add(d, &ev);
}

bool hf_etrace_count_lost_data(struct hf_etrace_dec *d, struct hf_event *ev)
{
	if (!d->aged) /* nothing follows */
		hf_etrace_lose_accesses(d);
	ev->loss.detail += d->core.access_lost;
	d->core.access_lost = 0;
	return ev->loss.detail != 0;
}
