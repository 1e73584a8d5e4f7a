/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/attach.h"

#include "codecs/etrace/errors.h"

/* ---- what an access is as events ---- */

static void add_extra(struct hf_etrace_attach *a, const struct hf_event *ev)
{
	a->extra[a->extra_count++] = *ev;
}

static void add_mem(struct hf_etrace_attach *a, const struct hf_etrace_access *access, unsigned flags, bool known,
		    uint64_t data)
{
	struct hf_event ev = {
		.kind = HF_EVENT_MEM,
		.flags = (uint8_t)flags,
		.words = known,
		.mem = {.address = access->address, .data = known ? data : 0, .size = 1u << access->size},
	};

	if (!(access->flags & HF_ETRACE_HAS_ADDRESS))
		ev.flags |= HF_EVF_NO_ADDRESS;
	add_extra(a, &ev);
}

/* A register as it was read. */
static void add_register(struct hf_etrace_attach *a, uint8_t class, uint16_t number, uint64_t value)
{
	const struct hf_event ev = {.kind = HF_EVENT_REG,
				    .reg = {.value = value, .number = number, .class = class, .role = HF_REG_SOURCE}};

	add_extra(a, &ev);
}

/* What it read, and what it wrote as that and its operand say. */
static void add_atomic(struct hf_etrace_attach *a, const struct hf_etrace_expectation *x, uint32_t opcode,
		       const struct hf_etrace_access *access)
{
	const bool data = access->flags & HF_ETRACE_HAS_DATA, operand = access->flags & HF_ETRACE_HAS_OPERAND;
	uint64_t new = 0;
	bool known = hf_etrace_atomic_result(opcode, access->size, access->data, access->operand, &new);

	if (access->subtype == HF_ETRACE_FAILED_SC)
		return;
	if (operand && x->source)
		add_register(a, HF_REG_INTEGER, x->source, access->operand);
	add_mem(a, access, HF_EVF_READ, data, access->data);
	if (access->subtype == HF_ETRACE_FAILED_CAS)
		return;
	known = known && operand && (data || access->subtype == HF_ETRACE_SWAP);
	add_mem(a, access, HF_EVF_WRITE, known, new);
}

static void add_access(struct hf_etrace_attach *a, const struct hf_etrace_expectation *x, uint32_t opcode,
		       const struct hf_etrace_access *access)
{
	switch (access->kind) {
	case HF_ETRACE_CSR:
		if (access->flags & HF_ETRACE_HAS_OPERAND && !x->immediate && x->source)
			add_register(a, HF_REG_INTEGER, x->source, access->operand);
		if (access->flags & HF_ETRACE_HAS_DATA)
			add_register(a, HF_REG_CSR, (uint16_t)access->address, access->data);
		break;
	case HF_ETRACE_ATOMIC:
		add_atomic(a, x, opcode, access);
		break;
	default:
		add_mem(a, access, access->kind == HF_ETRACE_LOAD ? HF_EVF_READ : HF_EVF_WRITE,
			access->flags & HF_ETRACE_HAS_DATA, access->data);
	}
}

/* ---- which instruction takes which ---- */

/* Which access belongs to which instruction is not known from here to the next synchronisation. */
static void lose_track(struct hf_etrace_attach *a, int code, uint64_t offset, uint64_t detail)
{
	a->data_lost = true;
	hf_etrace_accesses_lose(&a->accesses);
	a->doubt = (struct hf_event){
		.kind = HF_EVENT_DOUBT, .code = (uint16_t)-code, .loss = {.offset = offset, .detail = detail}};
}

static bool is_early(const struct hf_etrace_attach *a)
{
	return a->follow.report.given.data_order == HF_ETRACE_ORDER_BEFORE;
}

/* An access may come behind the packet that reports its instruction. */
static bool may_be_late(const struct hf_etrace_attach *a)
{
	return a->follow.report.data_on && !a->data_lost && !is_early(a);
}

static bool waits(const struct hf_etrace_attach *a)
{
	return may_be_late(a) && !a->passed_over;
}

/* Whether there is data trace is not known yet: it shows with the first access. */
static bool may_begin(const struct hf_etrace_attach *a)
{
	return !a->follow.report.data_on && !a->data_lost && !a->unmet && !is_early(a);
}

/* Whether the next instruction cannot just be given. */
static bool merges(const struct hf_etrace_attach *a)
{
	return a->accesses.count || a->taker.expects || a->extra_at < a->extra_count || a->fenced == HF_ETRACE_FENCED ||
	       may_be_late(a) || may_begin(a);
}

/* Nothing more will come for the instruction at the head of the list. */
static bool is_released(const struct hf_etrace_attach *a)
{
	return a->follow.head < a->follow.final || is_early(a);
}

/* How many accesses the next instruction may choose from. */
static uint32_t available(const struct hf_etrace_attach *a)
{
	return a->fenced >= HF_ETRACE_FENCED ? a->accesses.fence : a->accesses.count;
}

/* All before the instruction held back has been given. */
static void fence(struct hf_etrace_attach *a)
{
	if (a->follow.s.reported && is_early(a)) {
		a->fenced = HF_ETRACE_FENCED;
		a->accesses.fence = a->accesses.count;
	}
	a->follow.s.reported = false;
}

/* The oldest access becomes the instruction's; what else that takes is in a->taker. */
static void take_access(struct hf_etrace_attach *a, const struct hf_etrace_expectation *x, uint32_t opcode)
{
	const struct hf_etrace_access access = *hf_etrace_oldest(&a->accesses);

	a->taker = *x;
	a->taker_opcode = opcode;
	a->taker.expects = x->many && x->limit != 1;
	a->taker.limit = x->limit ? x->limit - 1 : 0;
	if (x->kind == HF_ETRACE_ATOMIC && access.kind == HF_ETRACE_LOAD) { /* told as a load and a store */
		a->taker.expects = true;
		a->taker.kind = HF_ETRACE_STORE;
	}
	a->extra_count = a->extra_at = 0;
	add_access(a, x, opcode, &access);
	hf_etrace_accesses_drop(&a->accesses, 1);
}

/* The extra events are given: whether there are more of the same instruction now. */
static bool give_more(struct hf_etrace_attach *a)
{
	if (!a->taker.expects)
		return false;
	if (available(a) && hf_etrace_expect_takes(&a->taker, hf_etrace_oldest(&a->accesses))) {
		take_access(a, &a->taker, a->taker_opcode);
		return true;
	}
	a->taker.expects = false;
	return false;
}

/* Nothing is known yet of what is behind the oldest access, and something may come. */
static bool is_last(const struct hf_etrace_attach *a)
{
	return available(a) == 1 && waits(a) && !is_released(a);
}

/* What belongs to insn, the next one to be given, becomes extra events. False: it must wait for its access. */
static bool attach(struct hf_etrace_attach *a, const struct hf_ev_insn *insn)
{
	const struct hf_etrace_expectation x = hf_etrace_expect(&a->follow.report.given, insn);
	const struct hf_etrace_access *access = hf_etrace_oldest(&a->accesses);

	if (a->fenced == HF_ETRACE_PASSING)
		a->fenced = HF_ETRACE_UNFENCED;
	if (a->fenced == HF_ETRACE_FENCED)
		a->fenced = HF_ETRACE_PASSING;
	if (!x.expects || a->data_lost)
		return true;
	if (!available(a) && waits(a) && !is_released(a))
		return false;
	if (!available(a)) {
		/* if it has an access that comes late, that would be taken for the next one's */
		if (may_be_late(a) && a->passed_over && !a->ended)
			lose_track(a, HF_ERR_ETRACE_DATA_NONE, a->follow.behind, insn->pc);
		else if (may_begin(a))
			a->unmet = insn->pc | 1;
		return true;
	}
	if (hf_etrace_expect_may_take_two(&x, access) && is_last(a))
		return false;
	if (!hf_etrace_expect_takes(&x, access) &&
	    !(available(a) > 1 && hf_etrace_expect_takes_two(&x, access, access + 1))) {
		a->passed_over |= !x.optional;
		return true;
	}
	if ((access->flags & HF_ETRACE_SPLIT) && !is_released(a))
		return false;
	take_access(a, &x, insn->opcode);
	return true;
}

/* ---- list to events ---- */

/* Instructions of one stretch, at most max; returns how many. */
static inline size_t give_stretch(union hf_etrace_item *item, struct hf_event *ev, size_t max)
{
	const struct hf_event *insn = item->block->insn + item->from;
	const size_t left = (size_t)(item->to - item->from), n = left < max ? left : max;
	const uint8_t mode = item->mode;

	for (size_t i = 0; i < n; i++) {
		ev[i] = insn[i];
		ev[i].insn.mode = mode;
	}
	item->from = (uint8_t)(item->from + n);
	if (n == left && item->flags) {
		ev[n - 1].flags = item->flags;
		ev[n - 1].insn.target = item->target;
	}
	return n;
}

/* Data packets without an instruction since the last such note; false: there were none. Nobody knows yet of those that
 * wait, unless nothing follows. */
static bool count_lost(struct hf_etrace_attach *a, struct hf_event *note)
{
	if (!a->aged)
		hf_etrace_accesses_lose(&a->accesses);
	note->loss.detail += a->accesses.lost;
	a->accesses.lost = 0;
	return note->loss.detail != 0;
}

/* Whether it is one to be given. */
static bool take_event(struct hf_etrace_attach *a, struct hf_event *ev)
{
	if (ev->kind == HF_EVENT_CONTEXT)
		a->said_context = ev->context.pid;
	if (ev->kind == HF_EVENT_GAP)
		hf_etrace_accesses_lose(&a->accesses);
	return ev->kind != HF_EVENT_NOTE || ev->code != (uint32_t)-HF_ERR_ETRACE_DATA || count_lost(a, ev);
}

static size_t give_doubt(struct hf_etrace_attach *a, struct hf_event *ev)
{
	*ev = a->doubt;
	a->doubt.kind = HF_EVENT_NONE;
	return 1;
}

/* Instructions and what belongs to them, at most max, up to one that waits for its access. */
static size_t give_merged(struct hf_etrace_attach *a, union hf_etrace_item *item, struct hf_event *ev, size_t max)
{
	size_t n = 0;

	while (n < max) {
		if (a->doubt.kind)
			n += give_doubt(a, ev + n);
		else if (a->extra_at < a->extra_count)
			ev[n++] = a->extra[a->extra_at++];
		else if (give_more(a))
			continue;
		else if (item->from == item->to || !attach(a, &item->block->insn[item->from].insn))
			break;
		else if (!a->doubt.kind) /* which comes before the instruction */
			n += give_stretch(item, ev + n, 1);
	}
	return n;
}

size_t hf_etrace_attach_give(struct hf_etrace_attach *a, struct hf_event *ev, size_t max)
{
	struct hf_etrace_follow *f = &a->follow;
	size_t n = 0;

	if (a->doubt.kind && n < max)
		n += give_doubt(a, ev);
	while (n < max && f->head < f->committed) {
		union hf_etrace_item *item = &f->list[f->head];

		if (item->kind != HF_EVENT_NONE) {
			if (take_event(a, &item->event))
				ev[n++] = item->event;
			f->head++;
			continue;
		}
		n += merges(a) ? give_merged(a, item, ev + n, max - n) : give_stretch(item, ev + n, max - n);
		if (item->from == item->to && !a->taker.expects && a->extra_at == a->extra_count)
			f->head++;
		else if (n < max)
			break; /* it waits */
	}
	return n;
}

bool hf_etrace_attach_hurry(struct hf_etrace_attach *a)
{
	struct hf_etrace_follow *f = &a->follow;

	hf_etrace_compact(f);
	if (f->head == f->committed || (f->tail <= HF_ETRACE_LIST / 2 && !f->full && f->s.phase == HF_ETRACE_IDLE))
		return false;
	f->final = f->tail;
	a->passed_over = true;
	return true;
}

/* Into the list a note of how many data packets there were without an instruction; when it is given it counts them. */
static void tell_lost(struct hf_etrace_attach *a)
{
	const struct hf_event ev = {
		.kind = HF_EVENT_NOTE,
		.code = (uint32_t)-HF_ERR_ETRACE_DATA,
		.loss = {.offset = a->follow.behind, .detail = a->accesses.lost},
	};

	a->accesses.lost = 0;
	hf_etrace_add(&a->follow, &ev);
	hf_etrace_commit(&a->follow);
}

/* A synchronisation has been given: accesses that waited since the one before it have no instruction. */
static void age(struct hf_etrace_attach *a)
{
	hf_etrace_accesses_age(&a->accesses);
	a->passed_over = a->data_lost = false;
	a->unmet = 0;
	a->aged = true;
}

bool hf_etrace_attach_settle(struct hf_etrace_attach *a)
{
	struct hf_etrace_follow *f = &a->follow;

	f->head = f->committed = f->tail = f->final = 0;
	if (f->synced && !a->aged) {
		age(a);
		if (a->accesses.lost) {
			tell_lost(a);
			return false;
		}
	}
	fence(a);
	f->synced = a->aged = false;
	return true;
}

/* ---- packets ---- */

int hf_etrace_attach_take(struct hf_etrace_attach *a, const struct hf_etrace_message *msg)
{
	struct hf_etrace_follow *f = &a->follow;
	struct hf_etrace_report *r = &f->report;
	struct hf_etrace_accesses *q = &a->accesses;
	const bool wanted = hf_etrace_has(f, HF_ETRACE_STARTED | HF_ETRACE_HELD) || f->head < f->committed;
	struct hf_etrace_access access;
	int err = hf_etrace_data_read(&r->params, r->modes, &a->data, msg->payload, msg->length, &access);

	if (err && wanted && !a->data_lost)
		lose_track(a, HF_ERR_ETRACE_DATA_PACKET, msg->offset, 0);
	if (err || !wanted || a->data_lost) {
		q->lost++;
		return 0;
	}
	/* the first of all may be that of an instruction that did not wait for it */
	if (!r->data_on && a->unmet) {
		lose_track(a, HF_ERR_ETRACE_DATA_NONE, msg->offset, a->unmet & ~UINT64_C(1));
		q->lost++;
	}
	r->data_on = true;
	if (a->data_lost)
		return 0;
	if (access.kind == HF_ETRACE_LOAD_DATA || access.kind == HF_ETRACE_ATOMIC_DATA) {
		q->lost += (access.flags & HF_ETRACE_UNSIZED) || !hf_etrace_accesses_answer(q, &access);
		return 0;
	}
	if (q->count == HF_ETRACE_ACCESSES) {
		lose_track(a, HF_ERR_ETRACE_DATA_WAIT, msg->offset, HF_ETRACE_ACCESSES);
		q->lost++;
		return 0;
	}
	/* without data there is nothing more to come */
	if (r->modes & HF_ETRACE_NO_DATA)
		access.flags &= (uint8_t)~HF_ETRACE_SPLIT;
	return hf_etrace_accesses_append(q, &access);
}

/* As at the beginning of a recording. */
static void reset(struct hf_etrace_attach *a)
{
	a->accesses.lost = a->unmet = 0;
	a->accesses.fence = 0;
	a->passed_over = a->fenced = a->data_lost = false;
	a->data = (struct hf_etrace_data_state){0};
}

int hf_etrace_attach_stop(struct hf_etrace_attach *a, bool end)
{
	hf_etrace_follow_stop(&a->follow, end);
	tell_lost(a);
	a->follow.final = a->follow.tail;
	a->ended = end;
	if (end)
		return 0;
	reset(a);
	return hf_etrace_follow_reset(&a->follow);
}

/* ---- a life ---- */

int hf_etrace_attach_init(struct hf_etrace_attach *a, const struct hf_setup *setup, uint32_t hart)
{
	int err = hf_etrace_follow_init(&a->follow, setup, hart);

	return err ? err : hf_etrace_accesses_init(&a->accesses, a->follow.report.given.lrid_width);
}

void hf_etrace_attach_fini(struct hf_etrace_attach *a)
{
	hf_etrace_follow_fini(&a->follow);
	hf_etrace_accesses_fini(&a->accesses);
}

int hf_etrace_attach_clear(struct hf_etrace_attach *a)
{
	hf_etrace_accesses_drop(&a->accesses, a->accesses.count);
	a->extra_at = a->extra_count = 0;
	a->taker.expects = false;
	a->doubt.kind = HF_EVENT_NONE;
	a->ended = a->aged = false;
	reset(a);
	return hf_etrace_follow_clear(&a->follow);
}

/* ---- states ---- */

/* What differences are formed against. */
static void visit_history(struct hf_fields *f, struct hf_etrace_data_state *s)
{
	for (unsigned i = 0; i < HF_ETRACE_DATA_SIZES; i++) {
		HF_FIELD(f, s->address[i], UINT64_MAX);
		HF_FIELD(f, s->data[i], UINT64_MAX);
	}
	HF_FIELD(f, s->atomic_count, HF_ETRACE_DATA_ATOMICS);
	for (unsigned i = 0; i < s->atomic_count && !f->err; i++) {
		HF_FIELD(f, s->atomic_id[i], UINT16_MAX);
		HF_FIELD(f, s->atomic_size[i], 3);
	}
}

void hf_etrace_attach_visit(struct hf_etrace_attach *a, struct hf_fields *f)
{
	hf_etrace_follow_visit(&a->follow, f);
	HF_FIELD(f, a->unmet, UINT64_MAX);
	HF_FIELD(f, a->passed_over, 1);
	HF_FIELD(f, a->fenced, HF_ETRACE_FENCES - 1);
	HF_FIELD(f, a->data_lost, 1);
	if (HF_FIELD(f, a->data.used, 1) && !f->err)
		visit_history(f, &a->data);
	hf_etrace_accesses_visit(&a->accesses, f);
	if (f->loading && !f->err)
		a->said_context = hf_etrace_has(&a->follow, HF_ETRACE_CONTEXTED) ? (uint32_t)a->follow.s.context : 0;
}
