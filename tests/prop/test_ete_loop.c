/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events to an ETE and back: random walks through random A64, A32 and T32 programs, with every parameter of the view and
 * a synchronisation every 1, 2, 3, 7, 100 instructions and none at all, come back as they were; an encoder that takes
 * over at any boundary makes the same bytes.
 */
#include "codecs/ete/packet.h"
#include "tests/lib/armwalk.h"
#include "tests/lib/check.h"
#include "tests/lib/eteloop.h"

/* ---- comparing ---- */

/* The type of exception that an ETE says for a trap; interrupts as they are. */
static uint64_t type_of(const struct hf_event *ev)
{
	if (ev->flags & HF_EVF_ASYNC)
		return ev->trap.cause;
	if (ev->trap.cause >= HF_TRAP_ETE)
		return ev->trap.cause - HF_TRAP_ETE;
	switch (ev->trap.cause) {
	case 0x11: case 0x15: return HF_ETE_EXC_CALL;
	case 0x22: return HF_ETE_EXC_ALIGNMENT;
	case 0x24: return HF_ETE_EXC_DATA_FAULT;
	case 0x34: return HF_ETE_EXC_DATA_DEBUG;
	default: return HF_ETE_EXC_TRAP;
	}
}

struct cursor {
	const struct hf_event *ev, *end;
	uint64_t attempt; /* where the trap at ev happened, if that is known */
	bool gap, jump, untraced; /* lie before it */
};

/* On to the next instruction or trap; past the end ev is end. */
static void forward(struct cursor *c)
{
	c->attempt = 0;
	c->gap = c->jump = c->untraced = false;
	for (; c->ev < c->end; c->ev++)
		switch (c->ev->kind) {
		case HF_EVENT_INSN: case HF_EVENT_TRAP: return;
		case HF_EVENT_ATTEMPT: c->attempt = c->ev->insn.pc; break;
		case HF_EVENT_GAP: c->gap = true; break;
		case HF_EVENT_DISCONTINUITY:
			c->jump = true;
			c->untraced |= c->ev->flags & HF_EVF_UNTRACED;
			break;
		case HF_EVENT_DOUBT: case HF_EVENT_NOTE:
			fprintf(stderr, "%s\n", hf_err_name(-(int)c->ev->code));
			exit(1);
		default: break;
		}
}

static bool same_insn(const struct hf_event *a, const struct hf_event *b)
{
	const struct hf_ev_insn *x = &a->insn, *y = &b->insn;

	if (a->flags & HF_EVF_TAKEN && b->flags & HF_EVF_TAKEN && x->target != y->target)
		return false;
	/* Whether a conditional branch was taken shows; a jump's target is not known where trace is lost behind it. */
	if (x->flow == HF_FLOW_BRANCH && (a->flags ^ b->flags) & HF_EVF_TAKEN)
		return false;
	return x->pc == y->pc && x->opcode == y->opcode && x->size == y->size && x->isa == y->isa &&
	       x->flow == y->flow && x->mode == y->mode;
}

static bool same(const struct cursor *a, const struct cursor *b)
{
	/* What ran behind the last branch ends as if the PE was halted there. */
	if (a->ev == a->end || b->ev == b->end)
		return a->ev == a->end && b->ev == b->end && a->gap == b->gap;
	if (a->gap != b->gap || (a->untraced && !a->gap && !b->jump) || (b->jump && !a->jump && !a->gap))
		return false;
	if (a->ev->kind != b->ev->kind)
		return false;
	if (a->ev->kind == HF_EVENT_INSN)
		return same_insn(a->ev, b->ev);
	return (a->ev->flags & HF_EVF_ASYNC) == (b->ev->flags & HF_EVF_ASYNC) && type_of(a->ev) == type_of(b->ev) &&
	       a->attempt == b->attempt &&
	       (!(a->ev->flags & b->ev->flags & HF_EVF_HANDLER) || a->ev->trap.handler == b->ev->trap.handler);
}

static void show(const char *what, const struct cursor *c)
{
	const struct hf_event *ev = c->ev;

	fprintf(stderr, "%s:%s%s", what, c->gap ? " gap" : "", c->jump ? " jump" : "");
	if (ev == c->end)
		fprintf(stderr, " the end\n");
	else if (ev->kind == HF_EVENT_TRAP)
		fprintf(stderr, " trap %u type %" PRIu64 " at %" PRIx64 " to %" PRIx64 "\n", ev->flags, type_of(ev), c->attempt,
			ev->trap.handler);
	else
		fprintf(stderr, " pc %" PRIx64 " opcode %x isa %u mode %u flags %u target %" PRIx64 "\n", ev->insn.pc,
			ev->insn.opcode, ev->insn.isa, ev->insn.mode, ev->flags, ev->insn.target);
}

static void compare(const struct hf_armwalk *w, const struct hf_event *got, size_t n, const char *params)
{
	struct cursor a = {.ev = w->events, .end = w->events + w->event_count}, b = {.ev = got, .end = got + n};

	for (size_t i = 0;; i++, a.ev++, b.ev++) {
		forward(&a);
		forward(&b);
		if (!same(&a, &b)) {
			fprintf(stderr, "%s: %zu differs\n", params, i);
			show("put in", &a);
			show("came out", &b);
			exit(1);
		}
		if (a.ev == a.end)
			return;
	}
}

/* The values of one kind of event, in their order and each once; -1: no more. */
static int64_t next_value(struct cursor *c, unsigned kind)
{
	while (c->ev < c->end) {
		const struct hf_event *ev = c->ev++;

		if (ev->kind == kind && kind == HF_EVENT_CONTEXT && ev->fields & HF_CONTEXT_PID)
			return ev->context.pid;
		if (ev->kind == kind && kind == HF_EVENT_TIMESTAMP && ev->time.value)
			return (int64_t)(ev->time.value >> 1);
	}
	return -1;
}

static void compare_times(const struct hf_armwalk *w, const struct hf_event *got, size_t n)
{
	struct cursor a = {.ev = w->events, .end = w->events + w->event_count}, b = {.ev = got, .end = got + n};
	int64_t value;

	do {
		value = next_value(&a, HF_EVENT_TIMESTAMP);
		CHECK_EQ(next_value(&b, HF_EVENT_TIMESTAMP), value);
	} while (value >= 0);
}

/* The process that each instruction ran in, where it was said before the branch that the instruction follows. */
static void compare_ids(const struct hf_armwalk *w, const struct hf_event *got, size_t n)
{
	struct cursor b = {.ev = got, .end = got + n};
	bool seen[4] = {false}, want[4] = {false};
	int64_t value;

	while ((value = next_value(&b, HF_EVENT_CONTEXT)) >= 0) {
		CHECK(value < 4);
		seen[value] = true;
	}
	for (size_t i = 0; i < w->event_count; i++)
		if (w->events[i].kind == HF_EVENT_CONTEXT)
			want[w->events[i].context.pid] = true;
	for (unsigned i = 1; i < 4; i++)
		CHECK_EQ(seen[i], want[i]);
}

/* ---- what is tried ---- */

static void loop(const struct hf_armwalk *w, const char *params)
{
	static struct ete_loop l;
	struct hf_event *got;
	size_t n;

	ete_loop_open(&l, w->events, w->event_count, params, w->base, w->code, sizeof w->code);
	got = ete_events(&l.capture, l.capture.stream->info.first_hart, 64, &n);
	compare(w, got, n, params);
	if (w->flags & HF_ARMWALK_TIMES && !strstr(params, "timestamps=0"))
		compare_times(w, got, n);
	if (w->flags & HF_ARMWALK_IDS && !strstr(params, "contextid=0"))
		compare_ids(w, got, n);
	free(got);
	ete_loop_close(&l);
}

static void test_states(const struct hf_armwalk *w, const char *params)
{
	static const size_t steps[] = {1, 2, 7};
	struct hf_sink whole, parts;

	ete_loop_encode(w->events, w->event_count, params, 0, &whole);
	for (size_t i = 0; i < 3; i++) {
		ete_loop_encode(w->events, w->event_count, params, steps[i], &parts);
		CHECK_EQ(parts.p - parts.start, whole.p - whole.start);
		CHECK(memcmp(parts.start, whole.start, (size_t)(whole.p - whole.start)) == 0);
		hf_sink_fini_memory(&parts);
	}
	hf_sink_fini_memory(&whole);
}

static void test_walk(uint64_t seed, uint64_t base, bool a64, unsigned flags)
{
	static const unsigned syncs[] = {1, 2, 3, 7, 100, 0};
	static struct hf_armwalk w;
	char params[128];

	hf_armwalk_program(&w, base, a64, seed);
	hf_armwalk_run(&w, 2500, flags);
	for (size_t k = 0; k < 6; k++)
		for (unsigned i = 0; i < 4; i++) {
			snprintf(params, sizeof params,
				 "contextid=%u,q_elements=%u,return_stack=%u,sync_instructions=%u,timestamps=%u",
				 (unsigned)(seed + k) & 1, i & 1, i >> 1, syncs[k], (unsigned)(seed >> 1) & 1);
			loop(&w, params);
			if (i == k % 4)
				test_states(&w, params);
		}
	loop(&w, "");
}

int main(void)
{
	const unsigned all = HF_ARMWALK_TRAPS | HF_ARMWALK_HOLES | HF_ARMWALK_IDS | HF_ARMWALK_TIMES;
	const uint64_t seeds = HF_TEST_SAMPLE ? 2 : 12;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		test_walk(seed, HF_ARMWALK_BASE, true, 0);
		test_walk(seed + 100, HF_ARMWALK_BASE, true, HF_ARMWALK_DEEP);
		test_walk(seed + 200, HF_ARMWALK_BASE, true, HF_ARMWALK_TRAPS | HF_ARMWALK_PLAIN_RETURNS);
		test_walk(seed + 300, UINT64_C(0xffff800010000000), true, all);
		test_walk(seed + 400, HF_ARMWALK_BASE, false, HF_ARMWALK_DEEP);
		test_walk(seed + 500, HF_ARMWALK_BASE, false, all);
	}
	return 0;
}
