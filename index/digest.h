/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a chunk's events were, in three numbers: whether a decoder makes the same ones again. Events are hashed in
 * blocks of 64 instructions on a fixed grid of ordinals, which a chunk's beginning and end may cut, and the hashes of a
 * range of blocks are the coefficients of a polynomial: that of two ranges side by side follows from theirs. Internal
 * to index/.
 */
#ifndef HF_INDEX_DIGEST_H
#define HF_INDEX_DIGEST_H

#include "index/index.h"

#define HF_DIGEST_BLOCK 64u

struct hf_digester {
	struct hf_digest sum;	/* of the blocks that are complete */
	struct hf_digest block; /* the hashes of the block at hand */
	bool any;		/* that one has events */
	uint64_t ordinal;	/* of the next instruction */
};

/* ordinal: that of the first instruction to come. */
void hf_digester_begin(struct hf_digester *d, uint64_t ordinal);
void hf_digester_put(struct hf_digester *d, const struct hf_event *ev, size_t n);
struct hf_digest hf_digester_end(struct hf_digester *d);

static inline bool hf_digest_equal(const struct hf_digest *a, const struct hf_digest *b)
{
	return a->flow == b->flow && a->data == b->data && a->rest == b->rest;
}

#endif
