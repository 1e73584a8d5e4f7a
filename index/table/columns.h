/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of numbers as bytes, column by column: the numbers of a column are much alike, and often like those of another one.
 * A row may have fewer columns than the others: the last ones are missing. Internal to index/.
 *
 * A column is u8 form, then of each row that has it, for form 0, 8 bytes, little-endian; of the others a varint (LEB128)
 * says how far the number is from a guess, with the sign in bit 0 but for form 1. The guess is, for form
 *   1  0
 *   2  the number of the row before
 *   3  that and the difference which it has to the one before it
 *   4  the number of an earlier column in the same row: after the form a varint says which
 *   5  twice that
 *   6  what follows from other columns, also of the rows beside it (struct hf_follow)
 */
#ifndef HF_INDEX_COLUMNS_H
#define HF_INDEX_COLUMNS_H

#include "index/table/row.h"

struct hf_columns {
	uint32_t rows;
	uint32_t end[HF_PAGE_ROWS]; /* of each row: where in v its numbers end, and those of the next one begin */
	uint64_t *v;
};

/* Each column takes at most a byte more than 8 for each number, or than its numbers take as varints. */
uint8_t *hf_columns_put(uint8_t *p, const struct hf_columns *c, const struct hf_follow *follow);
/* The other way round: rows and end are known, v has room. NULL: those are no such columns. */
const uint8_t *hf_columns_get(const uint8_t *p, const uint8_t *end, struct hf_columns *c,
			      const struct hf_follow *follow);

#endif
