/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of table time: where in a hart's listing the lines with a time are. Lines between two of them have the time
 * of the first.
 *
 * Kept are lines whose time is greater than all before in the hart, and the first line with a smaller one behind such a
 * line: from there on times are behind, until one is greater again. So the times of kept lines never fall, and the
 * order of a hart's lines stays.
 *
 * The bytes of a row: for each line its distance to the line before (0 for the first), and by how much its time exceeds
 * all before, 0 if it goes back; for the hart's first line the time itself. All are varints (LEB128). Internal to
 * index/.
 */
#ifndef HF_INDEX_TIMES_H
#define HF_INDEX_TIMES_H

#include "index/table/index_tables.h"

/* The times so far. */
struct hf_times_state {
	uint64_t max; /* the greatest */
	bool known;   /* there is one */
	bool behind;  /* they went back, and did not reach max again */
};

/* A line that is kept. */
struct hf_time_line {
	uint64_t offset; /* in the view */
	uint64_t time;	 /* the greatest one so far */
	bool back;	 /* the line's own time is smaller */
};

struct hf_times_writer {
	struct hf_times_state state;
	uint64_t at;	   /* of the last line in the row */
	struct hf_view_times row; /* n is 0: empty */
};

/* Adds a line with that time, at a greater offset than those before. There must be room. */
void hf_times_put(struct hf_times_writer *w, uint64_t offset, uint64_t time);
/* Whether there is no room for another line: then the caller takes the row and sets n to 0. */
bool hf_times_is_full(const struct hf_times_writer *w);

struct hf_times_reader {
	struct hf_times_state state;
	uint64_t at;
	const uint8_t *p, *end;
	bool first;
};

/* data[n]: the bytes of the row, or a copy, borrowed. */
void hf_times_begin(struct hf_times_reader *r, const struct hf_view_times *row, const uint8_t *data, size_t n);
/* HF_NOTE_END: there are no more in this row. HF_ERR_STATE: the row is damaged. */
int hf_times_next(struct hf_times_reader *r, struct hf_time_line *ret_line);

/* Key of a row: chunk is hf_row_id of its chunk. */
static inline uint64_t hf_times_key(uint64_t chunk, uint64_t number)
{
	return chunk << HF_TIMES_ROWS_BITS | number;
}

#define HF_TIMES_KEY_BITS (HF_NUMBER_BITS + HF_TIMES_ROWS_BITS)
static_assert(HF_SLOT_RECORDS < UINT64_C(1) << (63 - HF_TIMES_KEY_BITS), "all keys are positive numbers");

#endif
