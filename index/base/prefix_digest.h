/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hart did up to an instruction, as a few numbers. From those of two instructions follow the numbers of what it
 * did between them, so two captures are compared without decoding them. They depend only on the retired instructions
 * and their accesses, not on chunks, formats or ordinals.
 *
 * flow is the digest of all instructions (digest.h). access and value are polynomials modulo 2^61-1, too: coefficient n
 * is the sum of the hashes of the accesses of the n-th instruction from the end, from 0; each hash has the access's
 * number among them. Two sequences of n instructions that differ have equal numbers with a chance of about n / 2^61,
 * unless somebody makes them so.
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
	uint64_t value;	  /*   and their values, where these are known */
	uint64_t pending; /* the number of the last instruction's next access */
	uint64_t told;	  /* HF_TOLD_ bits: what some instruction had */
};

/* Goes through the events of a hart. */
struct hf_prefix_digester {
	struct hf_prefix_digest sum; /* access and value lack the last instructions, */
	uint64_t gap;	      /*   so many, which have no accesses */
	uint64_t insns;	      /* instructions in flow */
};

/* Before the first event of a hart. */
extern const struct hf_prefix_digest hf_prefix_digest_none;

/* before: what hf_prefix_digester_end gave for the events so far, with insns instructions. */
void hf_prefix_digester_begin(struct hf_prefix_digester *p, const struct hf_prefix_digest *before, uint64_t insns);
void hf_prefix_digester_put(struct hf_prefix_digester *p, const struct hf_event *ev, size_t n);
/* The same without flow and insns. */
void hf_prefix_digester_put_accesses(struct hf_prefix_digester *p, const struct hf_event *ev, size_t n);
/* As hf_prefix_digester_put_accesses of the stretch's events, of which ev is the first. */
void hf_prefix_digester_put_stretch(struct hf_prefix_digester *p, const struct hf_event *ev,
				    const struct hf_stretch *stretch);
/* It can go on afterwards. */
struct hf_prefix_digest hf_prefix_digester_end(struct hf_prefix_digester *p);

/* The numbers of the insns instructions from first, which is at that ordinal, to end. Only flow, access and value are
 * set. */
struct hf_prefix_digest hf_prefix_digest_between(const struct hf_prefix_digest *first, uint64_t ordinal,
						 const struct hf_prefix_digest *end, uint64_t insns);

#endif
