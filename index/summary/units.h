/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of units of memory: ranges of words, lines or larger units, and their form as bytes. A set with too many bytes
 * is coarsened by 8 until it fits. Internal to index/.
 *
 * As bytes: number of bytes << 1 | whether there are accesses of unknown address. If there are any bytes, the level
 * follows (bits of a unit); then for each range the distance of its first unit to the last unit before it, from -1, and
 * its further units: a 1 for each of up to two, else a 0 and their number minus 3.
 */
#ifndef HF_INDEX_SUMMARY_UNITS_H
#define HF_INDEX_SUMMARY_UNITS_H

#include "index/summary/address_set.h"
#include "index/summary/group.h"

/* All memory is one unit. */
#define HF_UNITS_ALL 64u

struct hf_units {
	struct hf_range *range;
	size_t n, room;
	unsigned level;	 /* a unit has 1 << level bytes */
	bool together;	 /* ranges ascend, with something between each two */
	bool unknown;	 /* there are also accesses of unknown address */
};

/* Adds ranges of units, ascending, as from hf_address_set_take. HF_ERR_NOMEM. */
int hf_units_add(struct hf_units *units, const struct hf_range *ranges, size_t n);
void hf_units_free(struct hf_units *units);
/* To a file and back. */
void hf_units_keep(struct hf_units *units, struct hf_keep *keep);
/* Larger units. */
void hf_units_coarsen(struct hf_units *units, unsigned level);
/* Coarsens them until both together have at most `most` bytes. */
void hf_units_fit(struct hf_units *const sets[2], size_t most);
/* Appends its bytes to raw, which keeps an error. */
void hf_units_code(const struct hf_units *units, struct hf_raw *raw);

/* Reads one. Its bytes are borrowed, and may be damaged. */
struct hf_units_reader {
	const uint8_t *at, *end;
	uint64_t next; /* unit behind the last range */
	unsigned level;
	bool unknown;
};

/* Opens the set at *p, below end; *p goes behind it. HF_ERR_STATE. */
int hf_units_open(struct hf_units_reader *reader, const uint8_t **p, const uint8_t *end);
/* The next range, in bytes. HF_NOTE_END: there is none. HF_ERR_STATE. */
int hf_units_next(struct hf_units_reader *reader, struct hf_range *ret_range);
/* Whether it has a byte of [first, last]: 1, 0, or HF_ERR_STATE. Reads up to there. */
int hf_units_touch(struct hf_units_reader *reader, uint64_t first, uint64_t last);

#endif
