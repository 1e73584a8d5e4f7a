/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A range of events as two numbers, which tell whether a decoder makes the same events again and whether two harts did
 * the same. Each is a polynomial over the integers modulo 2^61 - 1, evaluated at one point. Coefficient n is the sum of
 * the hashes of instruction n of the range, from 1, and of all events up to the next one; coefficient 0 is what comes
 * before the first. So the digest of two neighbouring ranges follows from theirs, and that of a stretch that was met
 * before is reused. The number of instructions is not in it.
 *
 * Two ranges that differ have the same number with a chance of their length / 2^61, unless somebody makes them so:
 * point and hashes are no secret. Internal to index/.
 */
#ifndef HF_INDEX_DIGEST_H
#define HF_INDEX_DIGEST_H

#include "codecs/stretch.h"

/* Events that are hashed before a remainder is taken: so many products fit into 128 bits. */
#define HF_DIGEST_BLOCK 48u

/* Of a chunk's events: flow of pcs and opcodes, rest of all else. For the records flow is 0. */
struct hf_digest {
	uint64_t flow, rest;
};

struct hf_digester {
	struct hf_digest sum; /* remainders, but not the least ones */
	uint64_t power;	      /* PLACE to the number of instructions so far */
	uint32_t behind;      /* events since the last instruction */
};

void hf_digester_begin(struct hf_digester *d);
void hf_digester_put(struct hf_digester *d, const struct hf_event *ev, size_t n);
struct hf_digest hf_digester_end(const struct hf_digester *d);

/* The digest of a range of insns instructions and the range behind it. Exact only if the boundary does not separate an
 * instruction from its attachments: their hashes contain the distance to it. */
struct hf_digest hf_digest_join(const struct hf_digest *first, uint64_t insns, const struct hf_digest *second);
/* The reverse: the digest of what is behind the first insns instructions of all. From digests of [0, a) and [0, b) it
 * gives that of [a, b). */
struct hf_digest hf_digest_behind(const struct hf_digest *first, uint64_t insns, const struct hf_digest *all);

static inline bool hf_digest_equal(const struct hf_digest *a, const struct hf_digest *b)
{
	return a->flow == b->flow && a->rest == b->rest;
}

/* ---- stretches ---- */

/* Digests of stretches that were met; zeroed it has none. */
struct hf_digest_memo {
	struct hf_digest_known {
		uint64_t serial;
		uint64_t flow, rest, power;
	} place[HF_STRETCH_PLACES];
};

/* As hf_digester_put of the stretch's events, of which ev is the first. */
void hf_digester_put_stretch(struct hf_digester *d, struct hf_digest_memo *memo, const struct hf_event *ev,
			     const struct hf_stretch *stretch);

#endif
