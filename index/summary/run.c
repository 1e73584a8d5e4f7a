/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/run.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"

#include <string.h>

/* ---- code ---- */

/* The size of the instruction that begins with this halfword. */
static unsigned size_by_opcode(uint8_t isa, uint16_t halfword)
{
	switch (isa) {
	case HF_ISA_RV32:
	case HF_ISA_RV64:
		return (halfword & 3) == 3 ? 4 : 2;
	case HF_ISA_T32:
		return halfword >> 11 >= 0x1d ? 4 : 2;
	default:
		return 4;
	}
}

unsigned hf_run_opcode(const struct hf_run *run, uint32_t at, uint32_t *ret_opcode)
{
	const uint8_t *p = run->code + at;
	unsigned size;

	if (at >= run->bytes || run->bytes - at < 2)
		return 0;
	size = run->insns == 1 ? run->bytes : size_by_opcode(run->key.isa, hf_get16(p));
	if (size > run->bytes - at)
		return 0;
	*ret_opcode = size == 2 ? hf_get16(p) : hf_get32(p);
	if (size == 4 && run->key.isa == HF_ISA_T32)
		*ret_opcode = *ret_opcode << 16 | *ret_opcode >> 16;
	return size;
}

bool hf_run_has(const struct hf_run *run, uint64_t pc, uint32_t *ret_opcode)
{
	const uint64_t wanted = pc - run->key.first;
	uint32_t at = 0;
	unsigned size;

	while (at < wanted && (size = hf_run_opcode(run, at, ret_opcode)))
		at += size;
	return at == wanted && hf_run_opcode(run, at, ret_opcode);
}

/* Mask of instruction set and mode in an instruction's last word. */
#define HOW UINT64_C(0xff00ff0000000000)
#define NO_HOW UINT64_C(1)
/* The same for its size. */
#define SIZE UINT64_C(0x000000ff00000000)
#define TWO UINT64_C(0x0000000200000000)
#define FOUR UINT64_C(0x0000000400000000)

static_assert(offsetof(struct hf_ev_insn, opcode) == 16 && offsetof(struct hf_ev_insn, size) == 20 &&
		      offsetof(struct hf_ev_insn, isa) == 21 && offsetof(struct hf_ev_insn, mode) == 23,
	      "HOW is of these");

static inline uint64_t mix(uint64_t hash, uint32_t opcode)
{
	return (hash + opcode) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Appends an instruction, with its opcode as in memory, to the run. */
static void append(struct hf_run_cutter *c, uint64_t pc, uint32_t opcode, uint32_t size)
{
	hf_put32(c->code + c->run.bytes, opcode);
	c->run.bytes += size;
	c->run.hash = mix(c->run.hash, opcode);
	c->run.insns++;
	c->run.key.last = pc;
}

/* ---- contexts ---- */

static bool same_context(const struct hf_run_context *a, const struct hf_run_context *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

void hf_run_context_put(struct hf_run_context *to, const struct hf_event *ev)
{
	const struct hf_ev_context *from = &ev->context;

#define HF_TAKE(field, bit)                    \
	if (ev->fields & (bit)) {              \
		to->field = from->field;       \
		to->fields |= (uint32_t)(bit); \
	}
	HF_TAKE(hw, HF_CONTEXT_HW)
	HF_TAKE(pid, HF_CONTEXT_PID)
	HF_TAKE(tid, HF_CONTEXT_TID)
	HF_TAKE(asid, HF_CONTEXT_ASID)
	HF_TAKE(vmid, HF_CONTEXT_VMID)
#undef HF_TAKE
	if (!(ev->fields & HF_CONTEXT_STATE))
		return;
	to->state = ev->state & HF_STATE_SECURE;
	if (ev->state & HF_STATE_NO_PID) {
		to->pid = 0;
		to->fields &= ~(uint32_t)HF_CONTEXT_PID;
	}
	if (ev->state & HF_STATE_NO_TID) {
		to->tid = 0;
		to->fields &= ~(uint32_t)HF_CONTEXT_TID;
	}
}

static int number_context(struct hf_run_cutter *c)
{
	int err;

	c->context_changed = false;
	c->told = true;
	for (c->number = 0; c->number < c->context_count; c->number++)
		if (same_context(&c->contexts[c->number], &c->context))
			return 0;
	if (c->number == HF_RUN_CONTEXTS)
		return 0;
	err = hf_array_room(&c->contexts, c->context_count, sizeof *c->contexts);
	if (!err)
		c->contexts[c->context_count++] = c->context;
	return err;
}

/* ---- cutting ---- */

/* Ends the present run, if there is one. */
static int end(struct hf_run_cutter *c, enum hf_ended ended, enum hf_entered entered)
{
	int err = 0;

	c->entered = (uint8_t)entered;
	c->linked = false;
	c->run.key.ended = (uint8_t)ended;
	if (c->run.insns)
		err = c->put(c->ctx, &c->run);
	c->insns += c->run.insns;
	c->run.insns = 0;
	c->how = NO_HOW;
	return err;
}

static __attribute__((noinline)) int tell(struct hf_run_cutter *c, const struct hf_event *ev)
{
	if (!c->watch)
		return 0;
	c->told = true;
	return c->watch->flow(c->watch->ctx, ev, c->insns + c->run.insns);
}

static __attribute__((noinline)) int tell_begin(struct hf_run_cutter *c, const struct hf_ev_insn *insn)
{
	c->told = false;
	return c->watch ? c->watch->begin(c->watch->ctx, insn, c->number, c->insns) : 0;
}

static int begin(struct hf_run_cutter *c, const struct hf_ev_insn *insn, bool odd)
{
	int err = c->context_changed ? number_context(c) : 0;

	if (c->told && !err)
		err = tell_begin(c, insn);
	if (c->entered == HF_ENTERED_CALL)
		hf_stub_called(&c->stub, insn->pc, c->linked);
	else if (c->entered != HF_ENTERED_SEQUENCE)
		c->stub.called = false;
	c->odd = odd;
	c->run.insns = c->run.bytes = 0;
	c->run.hash = 0;
	c->run.key = (struct hf_run_key){
		.first = insn->pc, .context = c->number, .mode = insn->mode, .isa = insn->isa, .entered = c->entered};
	return err;
}

static enum hf_entered entered_by(uint8_t flow)
{
	switch (flow) {
	case HF_FLOW_CALL:
	case HF_FLOW_INDIRECT_CALL:
	case HF_FLOW_SWAP:
		return HF_ENTERED_CALL;
	case HF_FLOW_RETURN:
		return HF_ENTERED_RETURN;
	case HF_FLOW_TRAP_CALL:
		return HF_ENTERED_TRAP;
	case HF_FLOW_TRAP_RETURN:
		return HF_ENTERED_OTHER;
	default:
		return HF_ENTERED_JUMP;
	}
}

/* Ends the present run if the instruction does not continue it. */
static int separate(struct hf_run_cutter *c, const struct hf_ev_insn *insn, bool odd)
{
	if (insn->pc != c->next)
		return end(c, HF_ENDED_LOSS, HF_ENTERED_OTHER);
	if (insn->mode != c->run.key.mode || insn->isa != c->run.key.isa || c->context_changed)
		return end(c, HF_ENDED_CHANGE, HF_ENTERED_SEQUENCE);
	if (c->run.insns == HF_RUN_INSNS || odd || c->odd)
		return end(c, HF_ENDED_LIMIT, HF_ENTERED_SEQUENCE);
	return 0;
}

/* Flows besides jumps that watches get. */
enum {
	WATCHED = 1 << HF_FLOW_CALL | 1 << HF_FLOW_INDIRECT_CALL | 1 << HF_FLOW_RETURN | 1 << HF_FLOW_SWAP |
		  1 << HF_FLOW_TRAP_CALL | 1 << HF_FLOW_TRAP_RETURN,
};

/* A jump to the value of a register. */
static int end_by_jump(struct hf_run_cutter *c, const struct hf_event *ev)
{
	const bool reaches = hf_stub_reaches(&c->stub, &ev->insn);
	const int err = end(c, HF_ENDED_TAKEN, reaches ? HF_ENTERED_CALL : HF_ENTERED_JUMP);

	c->linked = reaches;
	return err ? err : tell(c, ev);
}

/* Ends the run if the instruction's flow does. */
static inline int end_by_flow(struct hf_run_cutter *c, const struct hf_event *ev)
{
	if (ev->flags & HF_EVF_TAKEN && ev->insn.flow == HF_FLOW_INDIRECT_JUMP &&
	    (hf_stub_places(&ev->insn) || hf_is_linker_jump(&ev->insn)))
		return end_by_jump(c, ev);
	if (ev->flags & HF_EVF_TAKEN) {
		const int err = end(c, HF_ENDED_TAKEN, entered_by(ev->insn.flow));

		return err || !(1u << (ev->insn.flow & 31) & WATCHED) ? err : tell(c, ev);
	}
	return ev->flags & HF_EVF_OPEN ? end(c, HF_ENDED_LOSS, HF_ENTERED_OTHER) : 0;
}

static int put_insn(struct hf_run_cutter *c, const struct hf_event *ev)
{
	const struct hf_ev_insn *insn = &ev->insn;
	const unsigned size = insn->size == 2 ? 2 : 4;
	const bool swap = size == 4 && insn->isa == HF_ISA_T32;
	const uint32_t opcode = swap ? insn->opcode << 16 | insn->opcode >> 16 : insn->opcode;
	const bool odd = size != size_by_opcode(insn->isa, (uint16_t)opcode);
	int err = c->run.insns ? separate(c, insn, odd) : 0;

	/* Behind a cut the flow may also be elsewhere. */
	if (!err && !c->run.insns && c->entered == HF_ENTERED_SEQUENCE && insn->pc != c->next)
		c->entered = HF_ENTERED_OTHER;
	if (!err && !c->run.insns)
		err = begin(c, insn, odd);
	if (err)
		return err;
	append(c, insn->pc, opcode, size);
	c->next = insn->pc + insn->size;
	c->how = odd || insn->isa == HF_ISA_T32 ? NO_HOW : ev->word[2] & HOW;
	return end_by_flow(c, ev);
}

static void put_context(struct hf_run_cutter *c, const struct hf_event *ev)
{
	hf_run_context_put(&c->context, ev);
	c->how = NO_HOW;
	c->context_changed =
		!c->context_count || c->number == HF_RUN_OTHERS || !same_context(&c->context, &c->contexts[c->number]);
}

static int put_other(struct hf_run_cutter *c, const struct hf_event *ev)
{
	int err = 0;

	switch (ev->kind) {
	case HF_EVENT_TRAP:
		err = end(c, HF_ENDED_TRAP, HF_ENTERED_TRAP);
		break;
	case HF_EVENT_TRAP_RETURN:
		err = end(c, HF_ENDED_TAKEN, HF_ENTERED_OTHER);
		break;
	case HF_EVENT_CONTEXT:
		put_context(c, ev);
		return 0;
	case HF_EVENT_DISCONTINUITY:
	case HF_EVENT_GAP:
	case HF_EVENT_DOUBT:
		err = end(c, HF_ENDED_LOSS, HF_ENTERED_OTHER);
		break;
	case HF_EVENT_CYCLES:
		break;
	default:
		return 0;
	}
	return err ? err : tell(c, ev);
}

/* Kinds of events besides instructions that may end a run, or are watched. */
enum {
	ENDING = 1 << HF_EVENT_TRAP | 1 << HF_EVENT_TRAP_RETURN | 1 << HF_EVENT_CONTEXT | 1 << HF_EVENT_DISCONTINUITY |
		 1 << HF_EVENT_GAP | 1 << HF_EVENT_DOUBT | 1 << HF_EVENT_CYCLES,
};

/*
 * The fast path for most events: takes instructions that continue the present run, and events that do not matter, up to
 * one that ends it; returns how many. Its local copies need not be read again after each store to the code.
 */
static size_t extend(struct hf_run_cutter *c, const struct hf_event *ev, size_t n)
{
	/* An opcode of RISC-V that ends with these bits has four bytes; every one of A32 and A64 has. */
	const uint32_t four = c->run.key.isa <= HF_ISA_RV64 ? 3 : 0;
	const size_t room = HF_RUN_INSNS - c->run.insns;
	const struct hf_event *at = ev, *const stop = ev + (n < room ? n : room);
	const uint64_t how = c->how;
	uint64_t next = c->next, hash = c->run.hash, size = next - c->run.key.last;
	uint8_t *to = c->code + c->run.bytes;
	uint32_t others = 0;

	while (at < stop) {
		const uint64_t what = at->word[2];

		if (at->kind != HF_EVENT_INSN) {
			if (1u << (at->kind & 31) & ENDING)
				break;
			others++;
			at++;
			continue;
		}
		if (at->insn.pc != next || (what & (HOW | SIZE)) != (how | ((what & four) == four ? FOUR : TWO)))
			break;
		size = (what & SIZE) >> 32;
		hf_put32(to, (uint32_t)what);
		to += size;
		next += size;
		hash = mix(hash, (uint32_t)what);
		if (at++->flags & (HF_EVF_TAKEN | HF_EVF_OPEN))
			break;
	}
	c->next = next;
	c->run.hash = hash;
	c->run.key.last = next - size;
	c->run.bytes = (uint32_t)(to - c->code);
	c->run.insns += (uint32_t)(at - ev) - others;
	return (size_t)(at - ev);
}

int hf_run_cutter_put(struct hf_run_cutter *c, const struct hf_event *ev, size_t n)
{
	int err = 0;

	while (n && !err) {
		const size_t taken = c->how == NO_HOW ? 0 : extend(c, ev, n);

		ev += taken;
		n -= taken;
		if (taken && ev[-1].kind == HF_EVENT_INSN && ev[-1].flags & (HF_EVF_TAKEN | HF_EVF_OPEN))
			err = end_by_flow(c, ev - 1);
		else if (n) {
			err = ev->kind == HF_EVENT_INSN ? put_insn(c, ev) : put_other(c, ev);
			ev++;
			n--;
		}
	}
	return err;
}

/* ---- stretches ---- */

static void learn(struct hf_run_known *known, const struct hf_event *ev, const struct hf_stretch *stretch)
{
	*known = (struct hf_run_known){
		.serial = stretch->serial, .power = 1, .how = ev->insn.isa == HF_ISA_T32 ? NO_HOW : ev->word[2] & HOW};
	for (unsigned i = 0; i < stretch->events; i++) {
		const struct hf_ev_insn *insn = &ev[i].insn;

		if (ev[i].kind != HF_EVENT_INSN)
			continue;
		if (insn->size != size_by_opcode(insn->isa, (uint16_t)insn->opcode))
			known->how = NO_HOW;
		hf_put32(known->code + known->bytes, insn->opcode);
		known->bytes += insn->size == 2 ? 2 : 4;
		known->hash = mix(known->hash, insn->opcode);
		known->power = mix(known->power, 0);
	}
}

/* hf_run_cutter_put for the events of a stretch. */
static int put_stretch(struct hf_run_cutter *c, const struct hf_event *ev, const struct hf_stretch *stretch)
{
	struct hf_run_known *known = &c->known[stretch->place];
	const struct hf_ev_insn *last = &ev[stretch->last].insn;
	int err = 0;

	if (known->serial != stretch->serial)
		learn(known, ev, stretch);
	if (known->how == NO_HOW ||
	    (c->run.insns && (c->how != known->how || ev->insn.pc != c->next ||
			      c->run.insns + stretch->insns > HF_RUN_INSNS)))
		return hf_run_cutter_put(c, ev, stretch->events);
	if (!c->run.insns) {
		c->entered = c->entered == HF_ENTERED_SEQUENCE && ev->insn.pc != c->next ? HF_ENTERED_OTHER : c->entered;
		err = begin(c, &ev->insn, false);
	}
	if (err)
		return err;
	memcpy(c->code + c->run.bytes, known->code, sizeof known->code);
	c->run.bytes += known->bytes;
	c->run.hash = c->run.hash * known->power + known->hash;
	c->run.insns += stretch->insns;
	c->run.key.last = last->pc;
	c->next = last->pc + last->size;
	c->how = known->how;
	return end_by_flow(c, &ev[stretch->last]);
}

int hf_run_cutter_put_known(struct hf_run_cutter *c, const struct hf_event *ev, size_t n,
			    const struct hf_stretch *stretch, size_t count)
{
	size_t at = 0;
	int err = 0;

	for (; count && !err; count--, stretch++) {
		/* What is known of the next one is on its way meanwhile: two lines. */
		if (count > 1) {
			__builtin_prefetch(&c->known[stretch[1].place]);
			__builtin_prefetch((const uint8_t *)&c->known[stretch[1].place] + 64);
		}
		if (stretch->at > at)
			err = hf_run_cutter_put(c, ev + at, stretch->at - at);
		if (!err)
			err = put_stretch(c, ev + stretch->at, stretch);
		at = stretch->at + stretch->events;
	}
	return err ? err : hf_run_cutter_put(c, ev + at, n - at);
}

int hf_run_cutter_cut(struct hf_run_cutter *c)
{
	c->told = true;
	return c->run.insns ? end(c, HF_ENDED_LIMIT, HF_ENTERED_SEQUENCE) : 0;
}

int hf_run_cutter_new(hf_run_fn put, void *ctx, struct hf_run_cutter **ret_cutter)
{
	struct hf_run_cutter *c = calloc(1, sizeof *c);

	*ret_cutter = c;
	if (!c)
		return HF_ERR_NOMEM;
	c->known = calloc(HF_STRETCH_PLACES, sizeof *c->known);
	if (!c->known) {
		free(c);
		*ret_cutter = NULL;
		return HF_ERR_NOMEM;
	}
	c->put = put;
	c->ctx = ctx;
	c->run.code = c->code;
	c->entered = HF_ENTERED_OTHER;
	c->context_changed = true;
	c->how = NO_HOW;
	return 0;
}

int hf_run_cutter_resume(struct hf_run_cutter *c, uint64_t ordinal, const struct hf_run_context *context,
			 const struct hf_run_context *known, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		err = hf_array_room(&c->contexts, i, sizeof *c->contexts);
		if (!err)
			c->contexts[i] = known[i];
	}
	if (err)
		return err;
	c->context_count = n;
	c->context = *context;
	c->insns = ordinal;
	return 0;
}

void hf_run_cutter_free(struct hf_run_cutter *c)
{
	if (c) {
		free(c->contexts);
		free(c->known);
	}
	free(c);
}

/* ---- to a file and back ---- */

void hf_run_key_keep(struct hf_run_key *key, struct hf_keep *k)
{
	HF_KEEP(k, key->first, UINT64_MAX);
	HF_KEEP(k, key->last, UINT64_MAX);
	HF_KEEP(k, key->context, HF_RUN_OTHERS);
	HF_KEEP(k, key->mode, HF_MODE_COUNT - 1);
	HF_KEEP(k, key->isa, UINT8_MAX);
	HF_KEEP(k, key->entered, HF_ENTERED_COUNT - 1);
	HF_KEEP(k, key->ended, HF_ENDED_COUNT - 1);
}

static void keep_context(struct hf_run_context *c, struct hf_keep *k)
{
	HF_KEEP(k, c->fields, UINT32_MAX);
	HF_KEEP(k, c->hw, UINT32_MAX);
	HF_KEEP(k, c->pid, UINT32_MAX);
	HF_KEEP(k, c->tid, UINT32_MAX);
	HF_KEEP(k, c->asid, UINT32_MAX);
	HF_KEEP(k, c->vmid, UINT32_MAX);
	HF_KEEP(k, c->state, UINT32_MAX);
}

static void keep_contexts(struct hf_run_cutter *c, struct hf_keep *k)
{
	size_t count = c->context_count;

	keep_context(&c->context, k);
	HF_KEEP(k, count, HF_RUN_CONTEXTS);
	for (size_t i = 0; i < count && !k->err; i++) {
		if (k->load && hf_array_room(&c->contexts, i, sizeof *c->contexts)) {
			hf_keep_fail(k, HF_ERR_NOMEM);
			return;
		}
		if (k->load)
			c->contexts[i] = (struct hf_run_context){0};
		keep_context(&c->contexts[i], k);
		c->context_count = k->load ? i + 1 : count;
	}
	HF_KEEP(k, c->number, HF_RUN_OTHERS);
	HF_KEEP(k, c->context_changed, 1);
	hf_keep_check(k, c->context_changed || c->number < count || count == HF_RUN_CONTEXTS);
}

/* What is known of stretches is learnt again. */
void hf_run_cutter_keep(struct hf_run_cutter *c, struct hf_keep *k)
{
	HF_KEEP(k, c->told, 1);
	HF_KEEP(k, c->insns, INT64_MAX);
	HF_KEEP(k, c->next, UINT64_MAX);
	HF_KEEP(k, c->how, UINT64_MAX);
	HF_KEEP(k, c->entered, HF_ENTERED_COUNT - 1);
	HF_KEEP(k, c->linked, 1);
	HF_KEEP(k, c->stub.called, 1);
	HF_KEEP(k, c->stub.links, HF_STUB_LINKS);
	HF_KEEP(k, c->stub.from, UINT64_MAX);
	HF_KEEP(k, c->odd, 1);
	hf_run_key_keep(&c->run.key, k);
	HF_KEEP(k, c->run.insns, HF_RUN_INSNS);
	HF_KEEP(k, c->run.bytes, HF_RUN_BYTES);
	hf_keep_bytes(k, &c->run.hash, sizeof c->run.hash);
	hf_keep_check(k, c->run.bytes <= 4 * c->run.insns || !c->run.insns);
	if (c->run.insns && !k->err)
		hf_keep_bytes(k, c->code, c->run.bytes);
	keep_contexts(c, k);
}
