/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which chunks write or read which memory, from a summary.
 *
 * Each chunk that touched a byte of the range is among the answers; others may be, for stored are words of 8 bytes
 * (reads: lines of 64), or coarser units where a program touched too many. The level of an answer is the coarsest unit
 * in it; decoding the chunk gives the instructions. The chunk is that of the instruction, even if its accesses are
 * decoded with the next chunk. Accesses of an attempt are in the chunk of the last instruction that retired before it;
 * in chunk 0 if none did. Addresses are those of the source: with a tag an address is another one.
 */
#ifndef HF_INDEX_SUMMARY_WORDS_H
#define HF_INDEX_SUMMARY_WORDS_H

#include "index/summary/chunk_set.h"
#include "index/summary/units.h"

/* What is asked. Attempts, which did not retire, are separate. */
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

/* Bytes [first, last], and chunks [low, high). anywhere: an access of unknown address counts, too. */
struct hf_words_place {
	uint64_t first, last, low, high;
	bool anywhere;
};

/*
 * *ret_set, to be freed: the chunks that may touch a byte of [first, last]; its level is the coarsest unit that made
 * one of them an answer. Chunks with an access of unknown address are in *ret_unknown (may be NULL) instead, or with
 * anywhere in *ret_set. Of chunks outside of [low, high) the sets tell nothing.
 *
 * HF_ERR_UNSUPPORTED: the source does not tell such accesses. HF_ERR_NOT_FOUND: there is no such hart. HF_ERR_STATE,
 * HF_ERR_NOMEM.
 */
int hf_words_find_in(struct hf_summary *summary, uint32_t hart, enum hf_words_what what,
		     const struct hf_words_place *place, struct hf_chunk_set *ret_set, struct hf_chunk_set *ret_unknown);
/* The same for all chunks. */
int hf_words_find(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, uint64_t first, uint64_t last,
		  struct hf_chunk_set *ret_set, struct hf_chunk_set *ret_unknown);

/* A chunk touches [range.first, range.last], exactly up to the unit of its level; HF_WORDS_UNKNOWN: anywhere. */
typedef int (*hf_words_fn)(void *ctx, uint64_t chunk, const struct hf_range *range, unsigned level);
/* All ranges of the chunks in [low, high), in the order of chunks; returns what fn did, if not 0. Errors as above. */
int hf_words_each(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, uint64_t low, uint64_t high,
		  hf_words_fn fn, void *ctx);

#endif
