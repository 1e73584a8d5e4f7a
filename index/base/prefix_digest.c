/* SPDX-License-Identifier: Apache-2.0 */
#include "index/base/prefix_digest.h"

#include "index/base/digest.h"

#include <string.h>

/* The modulus of the polynomials, and the point at which they are evaluated: an arbitrary number. */
#define PRIME ((UINT64_C(1) << 61) - 1)
#define PLACE UINT64_C(0x13b8d27f5a6ce941)

/* The first powers of PLACE: two accesses are mostly few instructions apart. */
static const uint64_t powers[] = {
	UINT64_C(0x0000000000000001), UINT64_C(0x13b8d27f5a6ce941), UINT64_C(0x06467a46b3fa19a5),
	UINT64_C(0x11db6a44b4bbe667), UINT64_C(0x0f36078222e28cb1), UINT64_C(0x061ca3d32ded77e4),
	UINT64_C(0x0a697a042f306f01), UINT64_C(0x1d696064f397fdfd), UINT64_C(0x167089e313833360),
	UINT64_C(0x09cab4074ec6d4bc), UINT64_C(0x0f68295685cc0520), UINT64_C(0x07860a50041f26d3),
	UINT64_C(0x123885e158b5b997), UINT64_C(0x1f9d24225c93b212), UINT64_C(0x1b986dcc9cd511e0),
	UINT64_C(0x1f77af2d02ffdf50), UINT64_C(0x0ce2e27da113037c), UINT64_C(0x1bbc131865868231),
	UINT64_C(0x15f4cfa140fc87df), UINT64_C(0x148f2f65a1dd9809), UINT64_C(0x16104b397055d7bb),
	UINT64_C(0x1ee27a24c9ae47b6), UINT64_C(0x133a92da68404272), UINT64_C(0x007ef5d8112687b7),
	UINT64_C(0x19748c7a0eb3e833), UINT64_C(0x142e7636bc74af2d), UINT64_C(0x081a53a839e110bd),
	UINT64_C(0x1e5dab56fa2953bb), UINT64_C(0x16adab7d99380312), UINT64_C(0x024093961d84e731),
	UINT64_C(0x1c9e8465b7b718d7), UINT64_C(0x1fa12d04349a4671), UINT64_C(0x1031b56726d603a0),
	UINT64_C(0x1e05a98866d1b89b), UINT64_C(0x0ed0ca30cce2c0b7), UINT64_C(0x07e52b1dc1ce8f47),
	UINT64_C(0x180566f08ac0d707), UINT64_C(0x0936c2fab1fc5858), UINT64_C(0x0c493a1418b4291f),
	UINT64_C(0x039410c8d2f2d221), UINT64_C(0x0e834c8d7cb5a6be), UINT64_C(0x15f30bd4bb1e33e6),
	UINT64_C(0x1767ae556f7ea5aa), UINT64_C(0x1692f6cfeecbe658), UINT64_C(0x16e571e03fb3fc94),
	UINT64_C(0x19df599a5de5d00e), UINT64_C(0x0a15665a4687cdc3), UINT64_C(0x1c00a2a291190f48),
	UINT64_C(0x02c1086bb27fff83), UINT64_C(0x1bd133adc5b4f108), UINT64_C(0x065950af4e4a43d6),
	UINT64_C(0x1ccf1457bf46bacd), UINT64_C(0x0dc7c4df8054e242), UINT64_C(0x0cf4fadc0c68a4c0),
	UINT64_C(0x04c3854bbd4ed5d1), UINT64_C(0x10217b5dfbe303bf), UINT64_C(0x1ee785d763a7619c),
	UINT64_C(0x0ec842b981542ce6), UINT64_C(0x195129901a26174d), UINT64_C(0x1c6144bf23e30746),
	UINT64_C(0x16eb130d798a0f19), UINT64_C(0x1b68dabe1cbb9a3f), UINT64_C(0x03ca6a241ae60b41),
	UINT64_C(0x031903bdfc3ea70e),
};
#define POWERS (sizeof powers / sizeof powers[0])

/* Added to factors of a product, so that they are not 0: arbitrary, too. */
#define FIRST UINT64_C(0x8f14e45fceea167a)
#define SECOND UINT64_C(0x6c9882bc1a2f7d35)

/* hf_prefix_digest.pending: in the low half the number of the last instruction's next access; in the high half that of
 * the last access's next DATA, plus 1, or 0. Another value if accesses belong to no retired instruction. */
#define NEXT_DATA (UINT64_C(1) << 32)
#define NEXT_ACCESS(pending) ((pending) & (NEXT_DATA - 1))
#define NOBODY UINT64_MAX

const struct hf_prefix_digest hf_prefix_digest_none = {.pending = NOBODY};

/* The result has 64 bits, of which a finished hash uses 61. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	const unsigned __int128 product = (unsigned __int128)(a ^ FIRST) * (b ^ SECOND);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A number below 2^62 + 2^6 with the same remainder as n. */
static inline uint64_t fold(unsigned __int128 n)
{
	return ((uint64_t)n & PRIME) + ((uint64_t)(n >> 61) & PRIME) + (uint64_t)(n >> 122);
}

static inline uint64_t times(uint64_t a, uint64_t b)
{
	return fold((unsigned __int128)a * b);
}

static inline uint64_t rest(uint64_t n)
{
	n = (n & PRIME) + (n >> 61);
	return n >= PRIME ? n - PRIME : n;
}

/* PLACE to the power of n. */
static uint64_t power(uint64_t n)
{
	uint64_t square = PLACE, all = 1;

	if (n < POWERS)
		return powers[n];
	for (; n; n >>= 1) {
		if (n & 1)
			all = times(all, square);
		square = times(square, square);
	}
	return all;
}

/* Moves the sums on to the present instruction, and adds to them. */
static inline void add(struct hf_prefix_digester *p, uint64_t access, uint64_t value)
{
	const uint64_t factor = power(p->gap);

	p->sum.access = fold((unsigned __int128)p->sum.access * factor + (access & PRIME));
	p->sum.value = fold((unsigned __int128)p->sum.value * factor + (value & PRIME));
	p->gap = 0;
}

/* Of an access that is that one of its instruction's. */
static inline uint64_t hash_access(const struct hf_event *ev, uint64_t number)
{
	const uint64_t kind = ev->flags & (HF_EVF_READ | HF_EVF_WRITE | HF_EVF_NO_ADDRESS);

	return mix(mix(number << 8 | kind, ev->mem.size), ev->mem.address) & PRIME;
}

/* Of its first word. */
static inline uint64_t hash_value(const struct hf_event *ev, uint64_t number)
{
	const uint64_t mask = ev->mem.size - 1 < 7 ? (UINT64_C(1) << 8 * ev->mem.size) - 1 : UINT64_MAX;

	return mix(number << 32, ev->mem.data & mask) & PRIME;
}

static inline void put_access(struct hf_prefix_digester *p, const struct hf_event *ev)
{
	const uint64_t number = NEXT_ACCESS(p->sum.pending);

	p->sum.told |= HF_TOLD_ACCESS | (ev->words ? HF_TOLD_VALUE : 0);
	add(p, hash_access(ev, number), ev->words ? hash_value(ev, number) : 0);
	p->sum.pending = number + 1 + (ev->words ? NEXT_DATA : 0);
}

/* Further bytes of a value. */
static void put_data(struct hf_prefix_digester *p, const struct hf_event *ev)
{
	uint64_t word[3] = {0};

	memcpy(word, ev->data.bytes, ev->used < sizeof word ? ev->used : sizeof word);
	add(p, 0, mix(mix(mix(p->sum.pending, word[0]), word[1]), word[2]));
	p->sum.pending += NEXT_DATA;
}

/* Any event but a retired instruction. */
static inline void put_other(struct hf_prefix_digester *p, const struct hf_event *ev)
{
	const uint64_t pending = p->sum.pending;

	if (ev->kind == HF_EVENT_ATTEMPT || pending == NOBODY)
		p->sum.pending = NOBODY;
	else if (ev->kind == HF_EVENT_MEM)
		put_access(p, ev);
	else if (ev->kind == HF_EVENT_DATA && pending >= NEXT_DATA)
		put_data(p, ev);
	else
		p->sum.pending = NEXT_ACCESS(pending);
}

void hf_prefix_digester_begin(struct hf_prefix_digester *p, const struct hf_prefix_digest *before, uint64_t insns)
{
	*p = (struct hf_prefix_digester){.sum = *before, .insns = insns};
}

void hf_prefix_digester_put_accesses(struct hf_prefix_digester *p, const struct hf_event *ev, size_t n)
{
	for (; n; n--, ev++) {
		if (ev->kind == HF_EVENT_INSN) {
			p->sum.pending = 0;
			p->gap++;
		} else {
			put_other(p, ev);
		}
	}
}

/* Adds sums whose last instruction is so many behind that of the sums at hand. */
static inline void add_sums(struct hf_prefix_digester *p, uint64_t insns, unsigned __int128 access,
			    unsigned __int128 value)
{
	const uint64_t factor = power(p->gap + insns);

	p->sum.access = fold((unsigned __int128)p->sum.access * factor + fold(access));
	p->sum.value = fold((unsigned __int128)p->sum.value * factor + fold(value));
}

static_assert(HF_STRETCH_EVENTS <= POWERS && HF_STRETCH_EVENTS <= 32, "no more products than a sum has room for");

void hf_prefix_digester_put_stretch(struct hf_prefix_digester *p, const struct hf_event *ev,
				    const struct hf_stretch *stretch)
{
	const uint32_t all = stretch->events - (uint32_t)stretch->insns;
	uint32_t insn = 0, others = 0, number = 0, last;
	unsigned __int128 access = 0, value = 0;

	p->sum.pending = 0;
	if (!all) {
		p->gap += stretch->insns;
		return;
	}
	/* The instruction to which the last of them is attached, counted from 1. */
	last = 32 - (uint32_t)__builtin_clz(stretch->others) - all;
	for (uint32_t left = stretch->others; left; left &= left - 1, others++) {
		const uint32_t i = (uint32_t)__builtin_ctz(left);
		const struct hf_event *other = &ev[i];

		number = i - others == insn ? number : 0;
		insn = i - others;
		if (other->kind != HF_EVENT_MEM) {
			p->sum.pending = number;
			continue;
		}
		access += (unsigned __int128)hash_access(other, number) * powers[last - insn];
		value += other->words ? (unsigned __int128)hash_value(other, number) * powers[last - insn] : 0;
		p->sum.told |= HF_TOLD_ACCESS | (other->words ? HF_TOLD_VALUE : 0);
		p->sum.pending = ++number + (other->words ? NEXT_DATA : 0);
	}
	add_sums(p, last, access, value);
	p->gap = stretch->insns - last;
	p->sum.pending = p->gap ? 0 : p->sum.pending;
}

void hf_prefix_digester_put(struct hf_prefix_digester *p, const struct hf_event *ev, size_t n)
{
	const struct hf_digest before = {.flow = p->sum.flow};
	struct hf_digester digester;
	struct hf_digest digest;

	hf_digester_begin(&digester);
	hf_digester_put(&digester, ev, n);
	digest = hf_digester_end(&digester);
	p->sum.flow = hf_digest_join(&before, p->insns, &digest).flow;
	for (size_t i = 0; i < n; i++)
		p->insns += ev[i].kind == HF_EVENT_INSN;
	hf_prefix_digester_put_accesses(p, ev, n);
}

struct hf_prefix_digest hf_prefix_digester_end(struct hf_prefix_digester *p)
{
	add(p, 0, 0);
	p->sum.access = rest(p->sum.access);
	p->sum.value = rest(p->sum.value);
	return p->sum;
}

/* end - first * factor */
static uint64_t between(uint64_t first, uint64_t end, uint64_t factor)
{
	return rest(rest(end) + (PRIME - rest(times(rest(first), factor))));
}

struct hf_prefix_digest hf_prefix_digest_between(const struct hf_prefix_digest *first, uint64_t ordinal,
						 const struct hf_prefix_digest *end, uint64_t insns)
{
	const uint64_t factor = rest(power(insns));
	const struct hf_digest before = {.flow = first->flow}, all = {.flow = end->flow};

	return (struct hf_prefix_digest){.flow = hf_digest_behind(&before, ordinal, &all).flow,
					 .access = between(first->access, end->access, factor),
					 .value = between(first->value, end->value, factor)};
}
