/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hart did up to a place, in a few numbers: with those of two places follows what it did between them, so that
 * two captures are compared without decoding either. It depends on nothing but the retired instructions and their
 * accesses, neither on chunks, nor on the format of a capture, nor on the ordinals at which they are.
 *
 * That of instructions is the digest of all of them (digest.h). Those of accesses are polynomials modulo 2^61-1, too: the
 * n-th instruction from the end has power n, from 0, and as its coefficient the sum of the hashes of its accesses, each with
 * its number among them. Of two different stretches of n instructions the numbers are equal with a chance of about
 * n / 2^61, unless somebody made them to be.
 */
#ifndef HF_INDEX_PREFIX_DIGEST_H
#define HF_INDEX_PREFIX_DIGEST_H

#include "codecs/stretch.h"

/* Bits of hf_prefix_digest.told. */
#define HF_TOLD_ACCESS 1u /* an access */
#define HF_TOLD_VALUE 2u  /* its value */

struct hf_prefix_digest {
	uint64_t flow;	  /* pcs, opcodes, instruction sets */
	uint64_t access;  /* which bytes were read and written, */
	uint64_t value;	  /*   and what they are, as far as that is known */
	uint64_t pending; /* of the accesses of the last instruction: which one is next */
	uint64_t told;	  /* what there was of any instruction */
};

/* Goes through the events of a hart. */
struct hf_prefix_digester {
	struct hf_prefix_digest sum; /* access and value as they were before the last instructions, */
	uint64_t gap;	      /*   which are so many */
	uint64_t insns;	      /* behind which flow is */
};

/* Before the first event of a hart. */
extern const struct hf_prefix_digest hf_prefix_digest_none;

/* before: as hf_prefix_digester_end gave it for the events before those to come, which were that many instructions. */
void hf_prefix_digester_begin(struct hf_prefix_digester *p, const struct hf_prefix_digest *before, uint64_t insns);
void hf_prefix_digester_put(struct hf_prefix_digester *p, const struct hf_event *ev, size_t n);
/* The same without flow and insns. */
void hf_prefix_digester_put_accesses(struct hf_prefix_digester *p, const struct hf_event *ev, size_t n);
/* As hf_prefix_digester_put_accesses of the stretch's events, of which ev is the first. */
void hf_prefix_digester_put_stretch(struct hf_prefix_digester *p, const struct hf_event *ev,
				    const struct hf_stretch *stretch);
/* It can go on afterwards. */
struct hf_prefix_digest hf_prefix_digester_end(struct hf_prefix_digester *p);

/* Of the insns instructions between two places, of which the first is that ordinal. Of it only flow, access and value
 * count. */
struct hf_prefix_digest hf_prefix_digest_between(const struct hf_prefix_digest *first, uint64_t ordinal,
						 const struct hf_prefix_digest *end, uint64_t insns);

#endif
