/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a range of events was, in two numbers: whether a decoder makes the same ones again, whether two harts did the
 * same. Each is a polynomial over the integers modulo 2^61 - 1. The coefficient at a place is the sum of the hashes of
 * what belongs there: instruction n of the range, counted from 1, with what follows up to the next one; at place 0 lies
 * what is in front of the first. So the digest of two ranges side by side follows from theirs, and that of a stretch
 * which was met before need not be taken again; how many instructions a range has is not in it.
 *
 * Two ranges that differ have the same number by chance once in 2^61 / (their length) cases, if nobody makes them
 * so: the place of the polynomial and the hashes are no secret. Internal to index/.
 */
#ifndef HF_INDEX_DIGEST_H
#define HF_INDEX_DIGEST_H

#include "codecs/stretch.h"

/* So many events are hashed before a remainder is taken: so many products fit into 128 bits. */
#define HF_DIGEST_BLOCK 48u

/* Of a chunk's events: pcs and opcodes; all else that they say. Of the records both are 0. */
struct hf_digest {
	uint64_t flow, rest;
};

struct hf_digester {
	struct hf_digest sum; /* not the least remainders yet */
	uint64_t power;	      /* of the place, for as many instructions as there were */
	uint32_t behind;      /* events since the last instruction */
};

void hf_digester_begin(struct hf_digester *d);
void hf_digester_put(struct hf_digester *d, const struct hf_event *ev, size_t n);
struct hf_digest hf_digester_end(const struct hf_digester *d);

/* The digest of a range of that many instructions and of the one behind it, as one. If a boundary between them cuts
 * what is attached to an instruction into two, it is not quite that of the whole: an event knows how far behind it is.
 */
struct hf_digest hf_digest_join(const struct hf_digest *first, uint64_t insns, const struct hf_digest *second);
/* The other way round: of all of it and of its first instructions, that of those behind these. With digests from the
 * beginning on, at instructions a and b, it is that of the range [a, b). */
struct hf_digest hf_digest_behind(const struct hf_digest *first, uint64_t insns, const struct hf_digest *all);

static inline bool hf_digest_equal(const struct hf_digest *a, const struct hf_digest *b)
{
	return a->flow == b->flow && a->rest == b->rest;
}

/* ---- stretches ---- */

/* Of the instructions of stretches that were met; zeroed it knows none. */
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
