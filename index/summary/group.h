/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups: what each of 64 chunks of a hart did, in sections that are compressed separately, so that a search reads only
 * what it needs. Internal to index/.
 *
 * Numbers are LEB128. A set is what units.h makes of ranges of memory.
 *
 * section        | of each group
 * ---------------|------------------------------------------------------------------------------------------------------
 * RUNS           | how many runs; of each the difference of its number to the one before; how often each was executed
 * COUNTS         | of each of these runs 64 bits, the chunks that executed it; then how often, run by run, chunk by chunk
 * WRITES, READS, | of each chunk a set: the words written, the lines read; the same of attempts. Missing if all chunks
 *   ATTEMPT_...  |   have none
 * RARE           | the ordinal of its first instruction; of each chunk its instructions, exact events and blocks; the keys
 *                |   of these events; the differences of their ordinals; the keys and counts of blocks
 * REGISTERS      | of each chunk how many bytes, and a bit for each register of the hart that was written or stated
 * FILTERS        | with the number of 64 groups: of each group a set of what it writes, and one of what it reads, coarser
 * KEYS           | once a hart, as of group 0: what is known of accesses and registers; all keys of rare events, all registers
 */
#ifndef HF_INDEX_SUMMARY_GROUP_H
#define HF_INDEX_SUMMARY_GROUP_H

#include "codecs/base/err.h"
#include "index/summary/keep.h"

#define HF_GROUP_CHUNKS 64u
/* Groups whose filters lie together. */
#define HF_GROUP_FILTERS 64u

enum hf_section {
	HF_SECTION_RUNS,
	HF_SECTION_COUNTS,
	HF_SECTION_WRITES,
	HF_SECTION_READS,
	HF_SECTION_ATTEMPT_WRITES,
	HF_SECTION_ATTEMPT_READS,
	HF_SECTION_RARE,
	HF_SECTION_REGISTERS,
	HF_SECTION_FILTERS,
	HF_SECTION_KEYS,
	HF_SECTIONS
};
#define HF_SECTION_SETS 4u /* from WRITES on */

/* A section has one or more rows, its pieces. The number of a row in the hart: */
#define HF_SECTION_PIECES 256u
static inline uint64_t hf_section_row(uint64_t group, enum hf_section section, uint64_t piece)
{
	return group << 12 | (uint64_t)section << 8 | piece;
}

/* Bytes that become a section. An error stays until they are written, which returns it. */
struct hf_raw {
	uint8_t *p;
	size_t n, room;
	int err;
};

/* Room for n more bytes. NULL: there is no memory. */
uint8_t *hf_raw_room(struct hf_raw *raw, size_t n);
void hf_raw_number(struct hf_raw *raw, uint64_t number);
void hf_raw_bytes(struct hf_raw *raw, const void *bytes, size_t n);
/* To a file and back. */
void hf_raw_keep(struct hf_raw *raw, struct hf_keep *keep);

#endif
