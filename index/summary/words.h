/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which chunks touch memory: what a summary says of writes and reads.
 *
 * A chunk that has touched a byte of the range is always among the answers; one that has not may be, for what is kept
 * are words of 8 bytes (reads: lines of 64), or coarser units where a program touched too many. The coarsest unit of an
 * answer says how much of it is to be believed; decoding the chunk tells the instruction. A chunk is that of the
 * instruction: where a chunk ends between one and its accesses, these are decoded with the next chunk. Those of an
 * attempt are in the chunk of the last instruction that retired before it; in chunk 0 if none did. Addresses are as the
 * source has them, so an address with a tag is another one than that without.
 */
#ifndef HF_INDEX_SUMMARY_WORDS_H
#define HF_INDEX_SUMMARY_WORDS_H

#include "index/summary/chunk_set.h"
#include "index/summary/units.h"

/* What is asked. Of attempts, which did not retire, apart. */
enum hf_words_what {
	HF_WORDS_WRITES = HF_SECTION_WRITES,
	HF_WORDS_READS = HF_SECTION_READS,
	HF_WORDS_ATTEMPT_WRITES = HF_SECTION_ATTEMPT_WRITES,
	HF_WORDS_ATTEMPT_READS = HF_SECTION_ATTEMPT_READS,
};

/* Units: 1 << level bytes. */
#define HF_WORDS_WORD 3u
#define HF_WORDS_LINE 6u
#define HF_WORDS_PAGE 12u
#define HF_WORDS_MIB 20u
#define HF_WORDS_GIB 30u
#define HF_WORDS_ALL HF_UNITS_ALL
/* Accesses whose address the source does not tell have this level: they may be anywhere. */
#define HF_WORDS_UNKNOWN 63u

/* Bytes in [first, last], and chunks in [low, high). anywhere: an access of unknown address may be one of them. */
struct hf_words_place {
	uint64_t first, last, low, high;
	bool anywhere;
};

/*
 * The chunks that may touch a byte of [first, last], in *ret_set, to be freed; its level is the coarsest unit that made
 * one of them an answer, at least that of the part. Chunks with an access of unknown address are in *ret_unknown
 * instead, unless that is NULL, or in *ret_set with anywhere. Of chunks outside of [low, high) nothing is known afterwards.
 *
 * HF_ERR_UNSUPPORTED: the source tells nothing of such accesses, so nobody knows. HF_ERR_NOT_FOUND: there is no such
 * hart. HF_ERR_STATE, HF_ERR_NOMEM.
 */
int hf_words_find_in(struct hf_summary *summary, uint32_t hart, enum hf_words_what what,
		     const struct hf_words_place *place, struct hf_chunk_set *ret_set, struct hf_chunk_set *ret_unknown);
/* The same of all chunks. */
int hf_words_find(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, uint64_t first, uint64_t last,
		  struct hf_chunk_set *ret_set, struct hf_chunk_set *ret_unknown);

/* A chunk touches [range.first, range.last], exactly up to the unit of its level; HF_WORDS_UNKNOWN: anywhere. */
typedef int (*hf_words_fn)(void *ctx, uint64_t chunk, const struct hf_range *range, unsigned level);
/* All ranges of the chunks in [low, high), in the order of chunks; returns what fn did, if not 0. Errors as above. */
int hf_words_each(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, uint64_t low, uint64_t high,
		  hf_words_fn fn, void *ctx);

#endif
