/* SPDX-License-Identifier: Apache-2.0 */
#include "index/base/digest.h"

#include <string.h>

/* The modulus of the polynomials, and the point at which they are evaluated: an arbitrary number. */
#define PRIME ((UINT64_C(1) << 61) - 1)
#define PLACE UINT64_C(0x0a5f3c19e7d2b84d)
/* The inverse of PLACE. */
#define UNPLACE UINT64_C(0x159341fddbc36c5f)

/* Added to factors of a product, so that they are not 0: arbitrary, too. */
#define FIRST UINT64_C(0xa0f1c3b52d6987e5)
#define SECOND UINT64_C(0x5ca32bd99a46f1c7)
#define THIRD UINT64_C(0x9e3779b97f4a7c15)

/* The opcode, size and instruction set of an instruction, without mode and flow. */
#define CODE_MASK UINT64_C(0x0000ffffffffffff)

typedef unsigned __int128 product;

/* ---- arithmetic ---- */

/* A remainder below 2^63, so that products of two fit, and not the least one. exact: the least one. */
static inline uint64_t reduce(product p)
{
	const uint64_t low = (uint64_t)p & PRIME, middle = (uint64_t)(p >> 61) & PRIME, high = (uint64_t)(p >> 122);

	return low + middle + high;
}

static inline uint64_t exact(uint64_t n)
{
	n = (n & PRIME) + (n >> 61);
	return n >= PRIME ? n - PRIME : n;
}

static inline uint64_t multiply(uint64_t a, uint64_t b)
{
	return exact(reduce((product)a * b));
}

static uint64_t raise(uint64_t base, uint64_t n)
{
	uint64_t power = 1;

	for (; n; n >>= 1, base = multiply(base, base))
		if (n & 1)
			power = multiply(power, base);
	return power;
}

/* The powers of PLACE. */
static const uint64_t powers[HF_DIGEST_BLOCK + 1] = {
	UINT64_C(0x0000000000000001), UINT64_C(0x0a5f3c19e7d2b84d), UINT64_C(0x0ffcae15549827ce),
	UINT64_C(0x1bc517a388c00757), UINT64_C(0x1c9372c7fd1b71b6), UINT64_C(0x0e6c8a3e3685385b),
	UINT64_C(0x0ce6e8708874009e), UINT64_C(0x1e3f0d721d5b836d), UINT64_C(0x0cb8d2ed0ef16dc7),
	UINT64_C(0x0c6aeb15c03e19ec), UINT64_C(0x1c2e4a4be7d39415), UINT64_C(0x1912b5421eb7151a),
	UINT64_C(0x00761000bf922bd3), UINT64_C(0x057c6556823872d9), UINT64_C(0x0c74b10452fc39f7),
	UINT64_C(0x1fac1b6a6d38f08b), UINT64_C(0x1f1dd3d883703bba), UINT64_C(0x0e83c8e9ba0c9e9e),
	UINT64_C(0x1a665437103fa6c5), UINT64_C(0x011aacdda9427354), UINT64_C(0x01e1b16472b2d168),
	UINT64_C(0x1306f3725e38aa9e), UINT64_C(0x1d3a577081fe69aa), UINT64_C(0x0f27bf56d4d2467b),
	UINT64_C(0x1b5b8470ebb22582), UINT64_C(0x18533d823916190c), UINT64_C(0x07f288207e83d531),
	UINT64_C(0x1d34c97d5e5f8464), UINT64_C(0x0fa119a6d836930a), UINT64_C(0x176ccda5e85f1621),
	UINT64_C(0x089f216180065be6), UINT64_C(0x0baa24fceb7766e9), UINT64_C(0x05bb5a759e3bf092),
	UINT64_C(0x14e8f3d9fed63123), UINT64_C(0x0e4f613f42f5fc60), UINT64_C(0x148626f87ce36a56),
	UINT64_C(0x0096856558aa8c6f), UINT64_C(0x123f1c5300d73b25), UINT64_C(0x0cb68d96fbe0a1b8),
	UINT64_C(0x020d38b102e2154f), UINT64_C(0x1d957b8933038a1f), UINT64_C(0x0b24527103c106f9),
	UINT64_C(0x1fc5d52975af691c), UINT64_C(0x035ef121668c881a), UINT64_C(0x0c2a8cecff568d0f),
	UINT64_C(0x1ded14c452b80911), UINT64_C(0x1e074ad7b074d9e3), UINT64_C(0x0c97dac5340054b4),
	UINT64_C(0x195ee3cece65217b),
};

/* ---- hashes, of 61 bits ---- */

/* Both halves of a product: they depend on every bit of both factors. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	const product p = (product)(a ^ FIRST) * (b ^ SECOND);

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t hash_flow(const struct hf_event *ev)
{
	return mix(ev->insn.pc, ev->word[2] & CODE_MASK) >> 3;
}

static inline uint64_t hash_rest(const struct hf_event *ev)
{
	const uint64_t target = ev->flags & HF_EVF_TAKEN ? ev->insn.target : 0;

	return mix(target, (ev->word[2] & ~CODE_MASK) | ev->flags) >> 3;
}

/* The hash of the behind-th event since the last instruction. */
static inline uint64_t hash_other(const struct hf_event *ev, uint32_t behind)
{
	uint64_t head; /* kind, flags, any, size */

	memcpy(&head, ev, sizeof head);
	return mix(mix(ev->word[0] + behind * THIRD, head) ^ ev->word[1], ev->word[2] + THIRD) >> 3;
}

/* ---- digesters ---- */

void hf_digester_begin(struct hf_digester *d)
{
	*d = (struct hf_digester){.power = 1};
}

struct hf_digest hf_digester_end(const struct hf_digester *d)
{
	return (struct hf_digest){.flow = exact(d->sum.flow), .rest = exact(d->sum.rest)};
}

/* Adds more, whose places begin at that power. */
static inline uint64_t add(uint64_t sum, uint64_t more, uint64_t power)
{
	return reduce((product)more * power + sum);
}

static void put_block(struct hf_digester *d, const struct hf_event *ev, size_t n)
{
	product flow = 0, rest = 0;
	uint32_t behind = d->behind;
	unsigned place = 0;

	for (; n; n--, ev++) {
		if (ev->kind == HF_EVENT_INSN) {
			behind = 0;
			place++;
			flow += (product)hash_flow(ev) * powers[place];
			rest += (product)hash_rest(ev) * powers[place];
		} else {
			rest += (product)hash_other(ev, ++behind) * powers[place];
		}
	}
	d->behind = behind;
	d->sum.flow = add(d->sum.flow, reduce(flow), d->power);
	d->sum.rest = add(d->sum.rest, reduce(rest), d->power);
	d->power = exact(add(0, d->power, powers[place]));
}

void hf_digester_put(struct hf_digester *d, const struct hf_event *ev, size_t n)
{
	for (size_t block; n; n -= block, ev += block) {
		block = n < HF_DIGEST_BLOCK ? n : HF_DIGEST_BLOCK;
		put_block(d, ev, block);
	}
}

/* ---- ranges ---- */

struct hf_digest hf_digest_join(const struct hf_digest *first, uint64_t insns, const struct hf_digest *second)
{
	const uint64_t power = raise(PLACE, insns);

	return (struct hf_digest){.flow = exact(first->flow + multiply(second->flow, power)),
				  .rest = exact(first->rest + multiply(second->rest, power))};
}

struct hf_digest hf_digest_behind(const struct hf_digest *first, uint64_t insns, const struct hf_digest *all)
{
	const uint64_t power = raise(UNPLACE, insns);

	return (struct hf_digest){.flow = multiply(exact(all->flow + PRIME - first->flow), power),
				  .rest = multiply(exact(all->rest + PRIME - first->rest), power)};
}

/* ---- stretches ---- */

static void learn(struct hf_digest_known *known, const struct hf_event *ev, const struct hf_stretch *stretch)
{
	product flow = 0, rest = 0;
	unsigned place = 0;

	for (unsigned i = 0; i < stretch->events; i++) {
		if (ev[i].kind != HF_EVENT_INSN)
			continue;
		place++;
		flow += (product)hash_flow(&ev[i]) * powers[place];
		rest += (product)hash_rest(&ev[i]) * powers[place];
	}
	*known = (struct hf_digest_known){.serial = stretch->serial,
					  .flow = exact(reduce(flow)),
					  .rest = exact(reduce(rest)),
					  .power = powers[place]};
}

/* Adds what is attached to the instructions of a stretch. */
static void put_others(struct hf_digester *d, const struct hf_event *ev, const struct hf_stretch *stretch)
{
	uint32_t before = 0, behind = 0, others = 0;
	product rest = 0;

	for (uint32_t left = stretch->others; left; left &= left - 1, others++) {
		const uint32_t i = (uint32_t)__builtin_ctz(left);
		const product power = powers[i - others];

		behind = i == before + 1 ? behind + 1 : 1;
		before = i;
		rest += hash_other(&ev[i], behind) * power;
	}
	d->behind = stretch->last + 1u < stretch->events ? behind : 0;
	d->sum.rest = add(d->sum.rest, reduce(rest), d->power);
}

void hf_digester_put_stretch(struct hf_digester *d, struct hf_digest_memo *memo, const struct hf_event *ev,
			     const struct hf_stretch *stretch)
{
	struct hf_digest_known *known = &memo->place[stretch->place];

	if (known->serial != stretch->serial)
		learn(known, ev, stretch);
	d->behind = 0;
	if (stretch->others)
		put_others(d, ev, stretch);
	d->sum.flow = add(d->sum.flow, known->flow, d->power);
	d->sum.rest = add(d->sum.rest, known->rest, d->power);
	d->power = exact(add(0, d->power, known->power));
}

static_assert(HF_STRETCH_EVENTS < HF_DIGEST_BLOCK, "a stretch is less than a block");
