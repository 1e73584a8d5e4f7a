/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/stretch.h"

#include "codecs/base/err.h"
#include "codecs/isa/riscv.h"

#include <stdlib.h>
#include <string.h>

/* Two ways for stretches that begin at places of one hash, and two ways out of each: a branch has so many. */
#define WAYS 2u
#define EXITS 2u
#define SETS (HF_STRETCH_PLACES / (WAYS * EXITS))
#define FEW_SETS (HF_STRETCH_FEW / (WAYS * EXITS))

static_assert(HF_STRETCH_EVENTS <= 32, "a bit for each event");

/* Two words side by side. */
typedef uint64_t pair __attribute__((vector_size(16)));

/* An event as four words: which bits of it have to be there. */
enum what {
	WHAT_INSN,
	WHAT_LAST, /* its flags and its target are the exit's */
	WHAT_OTHER, /* a register, or an access; of one of less than 8 bytes the data has no more: */
	WHAT_SIZE,
	WHATS = WHAT_SIZE + 8
};

static const pair masks[WHATS][2] = {
	[WHAT_INSN] = {{UINT64_MAX, UINT64_MAX}, {0, UINT64_MAX}},
	[WHAT_LAST] = {{~(UINT64_C(0xff) << 8), UINT64_MAX}, {0, UINT64_MAX}},
	[WHAT_OTHER] = {{UINT64_MAX, 0}, {0, UINT64_MAX}},
#define SIZE(n) [WHAT_SIZE + (n)] = {{UINT64_MAX, 0}, {UINT64_MAX << (8 * (n)), UINT64_MAX}}
	SIZE(1), SIZE(2), SIZE(3), SIZE(4), SIZE(5), SIZE(6), SIZE(7),
#undef SIZE
};

static_assert(offsetof(struct hf_event, flags) == 1, "the second byte");

/* What a stretch is but for the flags and the target of its last instruction. */
struct body {
	uint64_t pc;
	uint32_t others;
	uint8_t events; /* 0: there is none */
	uint8_t insns, last, before, halves;
	bool riscv;
	uint8_t oldest; /* of the exits */
	struct exit {
		uint64_t serial; /* 0: there is none */
		uint64_t target;
		uint8_t flags;
	} exit[EXITS];
	uint8_t what[HF_STRETCH_EVENTS]; /* enum what, of each event */
	pair value[HF_STRETCH_EVENTS][2];	 /* what of it has to be there */
};

struct hf_stretch_finder {
	uint64_t serial; /* the last one that was given */
	uint32_t set_mask;
	uint8_t oldest[SETS];
	struct body body[]; /* WAYS in a set */
};

static_assert((SETS & (SETS - 1)) == 0 && (FEW_SETS & (FEW_SETS - 1)) == 0, "what a mask leaves");

int hf_stretch_finder_new(bool few, struct hf_stretch_finder **ret_finder)
{
	const uint32_t sets = few ? FEW_SETS : SETS;

	*ret_finder = calloc(1, sizeof **ret_finder + sets * WAYS * sizeof(struct body));
	if (!*ret_finder)
		return HF_ERR_NOMEM;
	(*ret_finder)->set_mask = sets - 1;
	return 0;
}

void hf_stretch_finder_free(struct hf_stretch_finder *finder)
{
	free(finder);
}

/* ---- learning ---- */

/* Of an access of 1 to 7 bytes the data has no more. */
static uint64_t wide_bits(const struct hf_event *ev)
{
	return ev->words && ev->mem.size - 1 < 7 ? UINT64_MAX << (8 * ev->mem.size) : 0;
}

static bool may_belong(const struct hf_event *ev)
{
	if (ev->kind == HF_EVENT_REG)
		return !ev->size && ev->reg.class != HF_REG_ZA_INDEX;
	return ev->kind == HF_EVENT_MEM && !ev->size && !(ev->mem.data & wide_bits(ev));
}

/* Whether what follows this instruction may be in the stretch, too. */
static bool is_plain(const struct hf_event *ev)
{
	return ev->insn.flow == HF_FLOW_PLAIN && !ev->flags;
}

static bool continues(const struct hf_event *last, const struct hf_event *ev)
{
	return is_plain(last) && ev->insn.pc == last->insn.pc + last->insn.size && ev->insn.mode == last->insn.mode &&
	       ev->insn.isa == last->insn.isa;
}

static bool is_riscv(const struct hf_ev_insn *insn)
{
	return (insn->isa == HF_ISA_RV32 || insn->isa == HF_ISA_RV64) && hf_riscv_size(insn->opcode) == insn->size &&
	       !hf_riscv_is_code_size(insn->opcode);
}

/*
 * The stretch with which ev[n] begins. False if it is none, or ends only because nothing is known of what follows, or
 * something interrupts it: without that it is longer, and should be met as a whole.
 */
static bool measure(const struct hf_event *ev, size_t n, struct body *b)
{
	size_t i = 1;

	memset(b, 0, offsetof(struct body, what));
	b->pc = ev->insn.pc;
	b->insns = 1;
	b->riscv = is_riscv(&ev->insn);
	for (; i < n && i < HF_STRETCH_EVENTS; i++) {
		if (ev[i].kind == HF_EVENT_INSN) {
			if (!continues(&ev[b->last], &ev[i]))
				break;
			b->riscv = b->riscv && is_riscv(&ev[i].insn);
			b->halves = (uint8_t)(b->halves + ev[b->last].insn.size / 2);
			b->before = b->last;
			b->last = (uint8_t)i;
			b->insns++;
		} else if (may_belong(&ev[i])) {
			b->others |= UINT32_C(1) << i;
		} else {
			break;
		}
	}
	b->events = (uint8_t)i;
	if (i < 2)
		return false;
	return i == HF_STRETCH_EVENTS || !is_plain(&ev[b->last]) ||
	       (i < n && (ev[i].kind == HF_EVENT_INSN || ev[i].kind == HF_EVENT_MEM || ev[i].kind == HF_EVENT_REG));
}

static void set_shape(struct body *b, unsigned i, const struct hf_event *ev)
{
	unsigned what = WHAT_OTHER;

	if (ev->kind == HF_EVENT_INSN)
		what = i == b->last ? WHAT_LAST : WHAT_INSN;
	else if (ev->kind == HF_EVENT_MEM && wide_bits(ev))
		what = WHAT_SIZE + ev->mem.size;
	b->what[i] = (uint8_t)what;
	memcpy(b->value[i], ev, sizeof b->value[i]);
	b->value[i][0] &= masks[what][0];
	b->value[i][1] &= masks[what][1];
}

/* ---- finding ---- */

static inline bool has_shape(const struct body *b, const struct hf_event *ev)
{
	pair differ = {0};
	uint64_t words[2];

	for (unsigned i = 0; i < b->events; i++) {
		const pair *mask = masks[b->what[i]];
		pair word[2];

		memcpy(word, &ev[i], sizeof word);
		differ |= ((word[0] & mask[0]) ^ b->value[i][0]) | ((word[1] & mask[1]) ^ b->value[i][1]);
	}
	memcpy(words, &differ, sizeof words);
	return !(words[0] | words[1]);
}

/* The way out of the body that ev is; made if it is new. */
static unsigned find_exit(struct hf_stretch_finder *f, struct body *b, const struct hf_event *ev)
{
	const uint64_t target = ev->flags & HF_EVF_TAKEN ? ev->insn.target : 0;
	unsigned i;

	for (i = 0; i < EXITS; i++)
		if (b->exit[i].serial && b->exit[i].target == target && b->exit[i].flags == ev->flags)
			return i;
	i = b->oldest;
	b->oldest = (uint8_t)(1 - i);
	b->exit[i] = (struct exit){.serial = ++f->serial, .target = target, .flags = ev->flags};
	return i;
}

static uint32_t set_of(const struct hf_stretch_finder *f, uint64_t pc)
{
	return (uint32_t)((pc >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & f->set_mask;
}

/* In the place of the one that was learned first. */
static struct body *learn(struct hf_stretch_finder *f, uint32_t set, const struct hf_event *ev, size_t n)
{
	struct body *b = &f->body[set * WAYS + f->oldest[set]], measured;

	if (!measure(ev, n, &measured))
		return NULL;
	f->oldest[set] = (uint8_t)((f->oldest[set] + 1) % WAYS);
	memcpy(b, &measured, offsetof(struct body, what));
	for (unsigned i = 0; i < b->events; i++)
		set_shape(b, i, &ev[i]);
	return b;
}

/* What comes behind the stretch is looked at next, and is not in the caches: it takes as long as this one does. */
static inline void fetch_next(const struct hf_stretch_finder *f, const struct hf_event *next)
{
	const uint8_t *p = (const uint8_t *)&f->body[set_of(f, next->insn.pc) * WAYS];

	for (unsigned i = 0; i < 6; i++)
		__builtin_prefetch(p + 64 * i);
}

/* NULL: there is none. */
static inline struct body *find_body(struct hf_stretch_finder *f, uint32_t set, const struct hf_event *ev, size_t n)
{
	for (unsigned way = 0; way < WAYS; way++) {
		struct body *b = &f->body[set * WAYS + way];

		if (b->pc != ev->insn.pc || !b->events || b->events > n)
			continue;
		if (b->events < n)
			fetch_next(f, ev + b->events);
		if (has_shape(b, ev))
			return b;
	}
	return learn(f, set, ev, n);
}

size_t hf_stretch_find(struct hf_stretch_finder *f, const struct hf_event *ev, size_t n, struct hf_stretch *ret_stretch)
{
	struct hf_stretch *to = ret_stretch;
	size_t at = 0;

	while (at < n) {
		const uint32_t set = set_of(f, ev[at].insn.pc);
		struct body *b = ev[at].kind == HF_EVENT_INSN ? find_body(f, set, ev + at, n - at) : NULL;
		unsigned way_out;

		if (!b) {
			at++;
			continue;
		}
		way_out = find_exit(f, b, &ev[at + b->last]);
		*to++ = (struct hf_stretch){
			.serial = b->exit[way_out].serial,
			.others = b->others,
			.at = (uint16_t)at,
			.place = (uint16_t)((size_t)(b - f->body) * EXITS + way_out),
			.events = b->events,
			.insns = b->insns,
			.last = b->last,
			.before = b->before,
			.halves = b->halves,
			.riscv = b->riscv,
		};
		at += b->events;
	}
	return (size_t)(to - ret_stretch);
}
