/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/armwalk.h"

#include "codecs/base/bytes.h"
#include "codecs/ete/errors.h"
#include "codecs/isa/arm.h"
#include "tests/lib/check.h"

enum kind { PLAIN, WIDE, SKIP, JUMP, CALL, OTHER, ZERO, TEST, GO, GO_CALL, RETURN, MAYBE, SVC, ERET, ISB, WFI, KINDS };

/* 0: there is none. OTHER calls into the other instruction set, MAYBE is a return that may fail its condition. */
static const uint32_t templates[3][KINDS] = {
	{0xd503201f, 0, 0x54000001, 0x14000000, 0x94000000, 0, 0xb4000003, 0x36000003, 0xd61f0020, 0xd63f0020, 0xd65f03c0, 0,
	 0xd4000001, 0xd69f03e0, 0xd5033fdf, 0xd503207f},
	{0xe320f000, 0, 0x1a000000, 0xea000000, 0xeb000000, 0xfa000000, 0, 0, 0xe12fff11, 0xe12fff31, 0xe12fff1e, 0x112fff1e,
	 0xef000000, 0, 0xf57ff06f, 0xe320f003},
	{0xbf00, 0xf3af8000, 0xd100, 0xe000, 0xf000d000, 0xf000c000, 0xb100, 0, 0x4708, 0x4788, 0x4770, 0x4770, 0xdf00, 0,
	 0xf3bf8f6f, 0xbf30},
};

/* How often, of 64. */
static const uint8_t weights[KINDS] = {24, 4, 8, 3, 5, 1, 3, 3, 2, 2, 4, 1, 1, 1, 1, 1};

static uint32_t draw(struct hf_armwalk *w, uint32_t n)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return (uint32_t)((w->seed >> 20) % n);
}

static bool one_in(struct hf_armwalk *w, uint32_t n)
{
	return draw(w, n) == 0;
}

static enum kind draw_kind(struct hf_armwalk *w, unsigned set)
{
	for (;;) {
		unsigned at = draw(w, 64), kind = 0;

		while (kind < KINDS - 1 && at >= weights[kind])
			at -= weights[kind++];
		if (templates[set][kind])
			return (enum kind)kind;
	}
}

/* ---- the program ---- */

static unsigned set_of(unsigned isa)
{
	return isa == HF_ISA_A64 ? 0 : isa == HF_ISA_A32 ? 1 : 2;
}

/* The opcode with its distance in it, in bytes from the instruction. */
static uint32_t encode(unsigned isa, enum kind kind, uint32_t op, uint64_t pc, uint64_t to)
{
	const uint32_t d = (uint32_t)(to - pc), a = d - 8, t = d - 4;

	if (isa == HF_ISA_A64)
		return kind == JUMP || kind == CALL ? op | (d >> 2 & 0x3ffffff) :
		       kind == TEST		    ? op | (d >> 2 & 0x3fff) << 5 :
						      op | (d >> 2 & 0x7ffff) << 5;
	if (isa == HF_ISA_A32)
		return op | (a >> 2 & 0xffffff) | (kind == OTHER ? (a >> 1 & 1) << 24 : 0);
	if (kind == ZERO)
		return op | (t >> 6 & 1) << 9 | (t >> 1 & 31) << 3;
	if (kind == SKIP || kind == JUMP)
		return op | (t >> 1 & (kind == SKIP ? 0xff : 0x7ff));
	if (kind == OTHER) /* from the word that it is in */
		return encode(isa, CALL, op & ~0x1000u, pc & ~3ull, to);
	return op | (t >> 31) << 26 | 0x2800 | (t >> 12 & 0x3ff) << 16 | (t >> 1 & 0x7ff);
}

static unsigned slot_at(const struct hf_armwalk *w, uint64_t pc)
{
	for (unsigned i = 0; i < w->count; i++)
		if (w->pc[i] == pc)
			return i;
	return w->count;
}

/* Aims the branch in slot i at another slot; it becomes a plain instruction if none is in reach. */
static void aim(struct hf_armwalk *w, unsigned i, enum kind kind)
{
	const uint32_t op = w->opcode[i];

	for (unsigned tries = 0; tries < 200; tries++) {
		const unsigned to = kind == CALL || kind == OTHER ? draw(w, w->count) : (i + draw(w, 40) + w->count - 18) % w->count;
		uint64_t target;
		unsigned isa;

		w->opcode[i] = encode(w->isa[i], kind, op, w->pc[i], w->pc[to]);
		if (hf_arm_target(w->opcode[i], w->size[i], w->isa[i], w->pc[i], &target, &isa) && target == w->pc[to] &&
		    isa == w->isa[to])
			return;
	}
	w->opcode[i] = w->size[i] == 4 && w->isa[i] == HF_ISA_T32 ? templates[2][WIDE] : templates[set_of(w->isa[i])][PLAIN];
}

void hf_armwalk_program(struct hf_armwalk *w, uint64_t base, bool a64, uint64_t seed)
{
	static uint8_t kinds[HF_ARMWALK_SLOTS];
	uint64_t pc = base;

	memset(w, 0, sizeof *w);
	w->base = base;
	w->seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	w->count = HF_ARMWALK_SLOTS;
	for (unsigned i = 0; i < w->count; i++) {
		w->isa[i] = a64 ? HF_ISA_A64 : i < w->count / 2 ? HF_ISA_A32 : HF_ISA_T32;
		kinds[i] = (uint8_t)draw_kind(w, set_of(w->isa[i]));
		if (i + 1 == w->count) /* nothing runs over the end */
			kinds[i] = RETURN;
		w->opcode[i] = templates[set_of(w->isa[i])][kinds[i]];
		if (!a64 && i == w->count / 2 - 1) /* nor into the other instruction set */
			w->opcode[i] = templates[1][kinds[i] = RETURN];
		w->size[i] = w->opcode[i] >> 16 ? 4 : 2;
		w->pc[i] = pc;
		pc += w->size[i];
	}
	for (unsigned i = 0; i < w->count; i++) {
		uint8_t *p = w->code + (w->pc[i] - base);

		if (kinds[i] >= SKIP && kinds[i] <= TEST)
			aim(w, i, (enum kind)kinds[i]);
		if (w->isa[i] == HF_ISA_T32 && w->size[i] == 4) {
			hf_put16(p, (uint16_t)(w->opcode[i] >> 16));
			hf_put16(p + 2, (uint16_t)w->opcode[i]);
		} else if (w->size[i] == 4) {
			hf_put32(p, w->opcode[i]);
		} else {
			hf_put16(p, (uint16_t)w->opcode[i]);
		}
	}
}

/* ---- the walk ---- */

static struct hf_event *add(struct hf_armwalk *w, unsigned kind)
{
	CHECK(w->event_count < HF_ARMWALK_EVENTS);
	w->events[w->event_count] = (struct hf_event){.kind = (uint8_t)kind};
	return &w->events[w->event_count++];
}

static struct hf_event *put(struct hf_armwalk *w, unsigned kind, unsigned i)
{
	struct hf_event *ev = add(w, kind);

	ev->insn = (struct hf_ev_insn){.pc = w->pc[i],
				       .opcode = w->opcode[i],
				       .size = w->size[i],
				       .isa = w->isa[i],
				       .flow = hf_arm_classify(w->opcode[i], w->size[i], w->isa[i]).flow,
				       .mode = (uint8_t)w->mode};
	return ev;
}

/* A trap where the walk is; it goes on at the slot returned. */
static unsigned trap(struct hf_armwalk *w, unsigned flags, uint64_t cause)
{
	struct hf_event *ev = add(w, HF_EVENT_TRAP);
	const unsigned to = draw(w, w->count);

	w->mode = HF_MODE_EL1;
	ev->flags = (uint8_t)(flags | HF_EVF_CAUSE | (one_in(w, 3) ? 0 : HF_EVF_HANDLER | HF_EVF_MODE));
	ev->mode = (uint16_t)w->mode;
	ev->trap.cause = cause;
	ev->trap.handler = w->pc[to];
	/* A second one where the first went: only if that was said, and in this instruction set. */
	if (ev->flags & HF_EVF_HANDLER && w->isa[to] != HF_ISA_T32 && one_in(w, 6))
		return trap(w, HF_EVF_ASYNC, draw(w, 3));
	return to;
}

/* Where the taken indirect branch in slot i goes. */
static unsigned go(struct hf_armwalk *w, struct hf_event *ev, struct hf_arm_class class)
{
	unsigned to = draw(w, w->count);

	if (class.flow == HF_FLOW_RETURN && w->depth && !one_in(w, 5))
		to = w->stack[--w->depth];
	if (class.flow == HF_FLOW_TRAP_RETURN) {
		w->mode = one_in(w, 3) ? HF_MODE_EL1 : HF_MODE_EL0;
		if (w->flags & HF_ARMWALK_PLAIN_RETURNS)
			return to;
		if (one_in(w, 2)) {
			struct hf_event *back = add(w, HF_EVENT_TRAP_RETURN);

			back->flags = HF_EVF_HANDLER | HF_EVF_MODE;
			back->mode = (uint16_t)w->mode;
			back->trap.handler = w->pc[to];
		}
	}
	ev->flags = HF_EVF_TAKEN;
	ev->insn.target = w->pc[to];
	return to;
}

/* Executes slot i and returns the next one. */
static unsigned step(struct hf_armwalk *w, unsigned i)
{
	const struct hf_arm_class class = hf_arm_classify(w->opcode[i], w->size[i], w->isa[i]);
	const bool may_fail = class.flags & HF_ARM_CONDITIONAL ||
			      (w->isa[i] == HF_ISA_T32 && w->isa[i - 1] == HF_ISA_T32 && class.flags & HF_ARM_P0);
	struct hf_event *ev = put(w, HF_EVENT_INSN, i);
	unsigned isa, next = i + 1;
	uint64_t target;

	if (may_fail && i + 1 < w->count && draw(w, 8) < 3)
		return next;
	if (class.flags & HF_ARM_LINK && w->depth < (w->flags & HF_ARMWALK_DEEP ? 64 : 12) && i + 1 < w->count)
		w->stack[w->depth++] = i + 1;
	if (class.flags & HF_ARM_INDIRECT) {
		next = go(w, ev, class);
	} else if (hf_arm_target(w->opcode[i], w->size[i], w->isa[i], w->pc[i], &target, &isa)) {
		ev->flags = HF_EVF_TAKEN;
		ev->insn.target = target;
		next = slot_at(w, target);
	} else if (class.flow == HF_FLOW_TRAP_CALL && w->flags & HF_ARMWALK_TRAPS) {
		next = trap(w, 0, w->isa[i] == HF_ISA_A64 ? 0x15 : 0x11);
	}
	CHECK(next < w->count);
	return next;
}

/* What happens between instructions. */
static unsigned meanwhile(struct hf_armwalk *w, unsigned i)
{
	const struct hf_event *last = w->event_count ? &w->events[w->event_count - 1] : NULL;
	/* Nobody says where an ERET went, or in which instruction set, so nothing may happen there. */
	const bool unsaid = last && last->kind == HF_EVENT_INSN &&
			    ((last->insn.flow == HF_FLOW_TRAP_RETURN && !(last->flags & HF_EVF_TAKEN)) ||
			     last->insn.isa != w->isa[i]);
	const bool handled = last && last->kind == HF_EVENT_TRAP;

	if (w->flags & HF_ARMWALK_TIMES && one_in(w, 30))
		add(w, HF_EVENT_TIMESTAMP)->time.value =
			one_in(w, 5) ? 0 : (w->seed * UINT64_C(0x2545f4914f6cdd1d)) >> draw(w, 64);
	if (w->flags & HF_ARMWALK_TRAPS && !unsaid && !handled && one_in(w, 40))
		return trap(w, HF_EVF_ASYNC, draw(w, 3));
	if (w->flags & HF_ARMWALK_TRAPS && one_in(w, 60)) {
		static const uint8_t causes[] = {0x24, 0x22, 0x18, 0x34};

		put(w, HF_EVENT_ATTEMPT, i);
		return trap(w, 0, causes[draw(w, 4)]);
	}
	if (w->flags & HF_ARMWALK_HOLES && one_in(w, 80)) {
		if (one_in(w, 3)) {
			struct hf_event *ev = add(w, HF_EVENT_GAP);

			ev->code = (uint32_t)-HF_ERR_ETE_OVERFLOW;
		} else {
			add(w, HF_EVENT_DISCONTINUITY)->flags = one_in(w, 2) ? HF_EVF_UNTRACED : 0;
		}
		return draw(w, w->count);
	}
	return i;
}

void hf_armwalk_run(struct hf_armwalk *w, unsigned insns, unsigned flags)
{
	unsigned i = 0;

	w->event_count = 0;
	w->flags = flags;
	w->depth = 0;
	w->mode = HF_MODE_EL1;
	for (unsigned n = 0; n < insns; n++) {
		if (n)
			i = meanwhile(w, i);
		if (flags & HF_ARMWALK_IDS && one_in(w, 50)) {
			struct hf_event *ev = add(w, HF_EVENT_CONTEXT);

			ev->fields = HF_CONTEXT_PID;
			ev->context.pid = draw(w, 4);
		}
		i = step(w, i);
	}
}
