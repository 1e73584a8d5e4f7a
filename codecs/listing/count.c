/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The length of a listing without its bytes. There is no second grammar here: an event is written once, to nowhere, and
 * the length of what came out is remembered with all that it depends on. Of an instruction that is everything but the
 * digits of its ordinal, of an access all but address and data, of a register all but the digits of its value. Of a
 * stretch it is the sum of these.
 */
#include "codecs/listing/listing.h"

/* What of hf_event.flags an instruction's line depends on. */
#define INSN_FLAGS (HF_EVF_TAKEN | HF_EVF_OPEN)
#define MEM_FLAGS 0x1fu
#define MEM_WORDS 0x100u
#define MEM_WIDE 0x200u /* data has more bytes than the access */

/* The value of an instruction: its length, and the blanks that are owed behind it. */
#define OWED_SHIFT 16

static_assert(LISTING_ROOM < 1 << OWED_SHIFT, "a length fits");

/* How long the event is on that kind of line, begun before it or by it; l is as it was but for symbol and line. */
static uint32_t measure(struct listing *l, listing_put_fn put, enum listing_line line, const struct hf_event *ev)
{
	uint8_t nowhere[LISTING_ROOM];
	struct listing probe = *l;
	uint32_t size;

	probe.state.line = (uint8_t)line;
	size = (uint32_t)(put(&probe, nowhere, ev) - nowhere);
	l->symbol = probe.symbol;
	l->line = probe.line;
	l->inlined = probe.inlined;
	l->calls = probe.calls;
	if (ev->kind == HF_EVENT_INSN)
		size = (size - l->digits) | (uint32_t)probe.state.owed << OWED_SHIFT;
	return size;
}

static inline uint32_t remember(struct listing *l, listing_put_fn put, enum listing_line line,
				const struct hf_event *ev, uint64_t a, uint64_t b, uint32_t of)
{
	struct hf_memo_slot *slot = hf_memo_at(l->enc.env->memo, a, of);

	if (!hf_memo_is(slot, a, b, of))
		*slot = (struct hf_memo_slot){.a = a, .b = b, .of = of, .value = measure(l, put, line, ev)};
	return slot->value;
}

/* Without its ordinal. */
static inline uint64_t count_insn(struct listing *l, listing_put_fn put, const struct hf_event *ev)
{
	const uint32_t of = HF_EVENT_INSN | (uint32_t)(ev->flags & INSN_FLAGS) << 8 | (uint32_t)ev->it << 16;
	const uint32_t value = remember(l, put, LISTING_NONE, ev, ev->word[0], ev->word[2], of);
	const unsigned ends = (l->state.line != LISTING_NONE) + (l->state.line == LISTING_TEXT);

	l->state.line = LISTING_INSN;
	l->state.run = HF_EVENT_NONE;
	l->state.owed = (uint8_t)(value >> OWED_SHIFT);
	return (value & ((1u << OWED_SHIFT) - 1)) + ends;
}

/* Room for an attachment on the line that is open, if one is that takes it. */
static inline bool attach(struct listing *l, unsigned kind, uint64_t *size)
{
	if (l->state.line != LISTING_INSN && l->state.line != LISTING_LOOSE)
		return false;
	*size += l->state.owed;
	l->state.owed = 0;
	l->state.run = (uint8_t)kind;
	l->state.place = 0;
	return true;
}

static inline bool count_mem(struct listing *l, listing_put_fn put, const struct hf_event *ev, uint64_t *size)
{
	const struct hf_ev_mem *mem = &ev->mem;
	uint64_t a = ev->flags & MEM_FLAGS;

	if (!attach(l, HF_EVENT_MEM, size))
		return false;
	if (ev->words)
		a |= mem->size - 1 < 7 && mem->data >> (8 * mem->size) ? MEM_WORDS | MEM_WIDE : MEM_WORDS;
	*size += remember(l, put, LISTING_LOOSE, ev, a ^ ev->word[2] << 10, ev->word[2],
			  HF_EVENT_MEM | (uint32_t)a << 8);
	return true;
}

/* Its values have a length that does not depend on them. */
static inline bool is_whole(const struct hf_ev_reg *reg)
{
	return reg->class == HF_REG_VECTOR || reg->class == HF_REG_ARM_VECTOR;
}

static inline bool count_reg(struct listing *l, listing_put_fn put, const struct hf_event *ev, uint64_t *size)
{
	const struct hf_ev_reg *reg = &ev->reg;
	/* A number of the value's digits has a length of its own: that of the others is the same. */
	const uint32_t digits = is_whole(reg) ? 0 : hf_text_hex_digits(reg->value);

	if (reg->class == HF_REG_ZA_INDEX || !attach(l, HF_EVENT_REG, size))
		return false;
	*size += remember(l, put, LISTING_LOOSE, ev, ev->word[2] << 5 | digits, ev->size, HF_EVENT_REG);
	return true;
}

/* Digits of the numbers from first on: one each, and one more for each power of ten that is not above it. */
static uint64_t count_digits(uint64_t first, uint64_t n)
{
	const uint64_t end = first + n;
	uint64_t size = n, power = 10;

	while (power < end) {
		size += end - (power > first ? power : first);
		if (power > UINT64_MAX / 10)
			break;
		power *= 10;
	}
	return size;
}

/* But for the ordinals. */
static uint64_t count_events(struct listing *l, listing_put_fn put, const struct hf_event *ev, size_t n,
			     uint64_t *insns)
{
	uint64_t size = 0;

	for (; n; n--, ev++) {
		uint8_t nowhere[LISTING_ROOM];

		if (ev->kind == HF_EVENT_INSN) {
			size += count_insn(l, put, ev);
			++*insns;
		} else if (!(ev->kind == HF_EVENT_MEM && count_mem(l, put, ev, &size)) &&
			   !(ev->kind == HF_EVENT_REG && count_reg(l, put, ev, &size))) {
			size += (uint64_t)(put(l, nowhere, ev) - nowhere);
		}
	}
	return size;
}

/* What the length of a stretch depends on besides what it is: the digits of values of registers. */
static uint64_t count_values(const struct hf_event *ev, const struct hf_stretch *stretch)
{
	uint64_t size = 0;

	for (uint32_t left = stretch->others; left; left &= left - 1) {
		const struct hf_event *other = &ev[__builtin_ctz(left)];

		if (other->kind == HF_EVENT_REG && !is_whole(&other->reg))
			size += hf_text_hex_digits(other->reg.value);
	}
	return size;
}

static_assert(HF_MEMO_STRETCHES == HF_STRETCH_PLACES, "each has its place");

/* The same as of its events. */
static inline uint64_t count_stretch(struct listing *l, listing_put_fn put, const struct hf_event *ev,
				     const struct hf_stretch *stretch, uint64_t *insns)
{
	struct hf_memo_stretch *known = &l->enc.env->memo->stretch[stretch->place];
	const uint64_t values = stretch->others ? count_values(ev, stretch) : 0;
	/* A line of text has two bytes at its end, and before the first line there is none. */
	const uint64_t quote = l->state.line == LISTING_TEXT, begins = l->state.line == LISTING_NONE;
	uint64_t size;

	if (known->serial != stretch->serial || begins) {
		size = count_events(l, put, ev, stretch->events, insns);
		*known = (struct hf_memo_stretch){.serial = stretch->serial,
						  .value = (size + begins - quote - values) << 8 | l->state.owed};
		return size;
	}
	l->state.line = LISTING_INSN;
	l->state.run = stretch->last + 1 == stretch->events ? HF_EVENT_NONE : ev[stretch->events - 1].kind;
	l->state.owed = (uint8_t)known->value;
	if (stretch->others)
		l->state.place = 0;
	*insns += stretch->insns;
	return (known->value >> 8) + values + quote;
}

uint64_t hf_listing_count(struct listing *l, listing_put_fn put, const struct hf_event *ev, size_t n,
			  const struct hf_stretch *stretch, size_t count)
{
	uint64_t size = 0, insns = 0;
	size_t at = 0;

	for (; count; count--, stretch++) {
		size += count_events(l, put, ev + at, stretch->at - at, &insns);
		size += count_stretch(l, put, ev + stretch->at, stretch, &insns);
		at = stretch->at + stretch->events;
	}
	size += count_events(l, put, ev + at, n - at, &insns);
	size += count_digits(l->state.ordinal, insns);
	l->state.ordinal += insns;
	return size;
}
