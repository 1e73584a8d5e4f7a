/* SPDX-License-Identifier: Apache-2.0 */
/* A set of chunks of a hart, as an answer: a bit for each chunk. */
#ifndef HF_INDEX_SUMMARY_CHUNK_SET_H
#define HF_INDEX_SUMMARY_CHUNK_SET_H

#include <stdbool.h>
#include <stdint.h>

struct hf_summary;

struct hf_chunk_set {
	uint64_t *bits;
	uint64_t chunks; /* of the hart */
	uint64_t count;	 /* in the set */
	unsigned level;	 /* the coarsest unit that it was made of (words.h) */
};

/* HF_ERR_NOMEM. */
int hf_chunk_set_init(struct hf_chunk_set *set, uint64_t chunks);
void hf_chunk_set_free(struct hf_chunk_set *set);
/* Adds n chunks from first on, as far as the hart has them. */
void hf_chunk_set_add(struct hf_chunk_set *set, uint64_t first, uint64_t n);
/* Adds the chunks of more, a set of no more chunks. */
void hf_chunk_set_join(struct hf_chunk_set *set, const struct hf_chunk_set *more);
bool hf_chunk_set_has(const struct hf_chunk_set *set, uint64_t chunk);
/* The first one at or behind chunk; the last one at or before it. False: there is none. */
bool hf_chunk_set_next(const struct hf_chunk_set *set, uint64_t chunk, uint64_t *ret_chunk);
bool hf_chunk_set_previous(const struct hf_chunk_set *set, uint64_t chunk, uint64_t *ret_chunk);

#endif
