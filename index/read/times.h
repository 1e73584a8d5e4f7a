/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the lines of a hart's listing are that say a time: the rows of table time. Between two of them all lines belong
 * to the first one's time.
 *
 * Kept are the lines with a time greater than all before them in the hart, and the first with a smaller one behind such
 * a line: from there on the times are behind, until one is greater again. So the times of the lines never fall, and
 * nothing of a hart changes its place.
 *
 * The bytes of a row: of each line how far it is behind the one before, 0 for the first, and by how much its time is
 * greater than all before, 0 if it goes back; of the hart's first line the time itself. All are varints (LEB128).
 * Internal to index/.
 */
#ifndef HF_INDEX_TIMES_H
#define HF_INDEX_TIMES_H

#include "index/table/index_tables.h"

/* What the times before a place come to. */
struct hf_times_state {
	uint64_t max; /* the greatest one */
	bool known;   /* there is one */
	bool behind;  /* they went back, and did not come up to it again */
};

/* A line that is kept. */
struct hf_time_line {
	uint64_t offset; /* in the view */
	uint64_t time;	 /* the greatest one so far */
	bool back;	 /* its own is smaller */
};

struct hf_times_writer {
	struct hf_times_state state;
	uint64_t at;	   /* of the last line in the row */
	struct hf_view_times row; /* n is 0: it has none */
};

/* A line with that time, at a greater offset than those before. There must be room. */
void hf_times_put(struct hf_times_writer *w, uint64_t offset, uint64_t time);
/* Whether there is no room for another line: take the row, and make n 0. */
bool hf_times_is_full(const struct hf_times_writer *w);

struct hf_times_reader {
	struct hf_times_state state;
	uint64_t at;
	const uint8_t *p, *end;
	bool first;
};

/* data[n]: the bytes of the row, or a copy, borrowed. */
void hf_times_begin(struct hf_times_reader *r, const struct hf_view_times *row, const uint8_t *data, size_t n);
/* HF_NOTE_END: there are no more in this row; HF_ERR_STATE: nobody wrote such bytes. */
int hf_times_next(struct hf_times_reader *r, struct hf_time_line *ret_line);

/* Key of a row: chunk is hf_row_id of its chunk. */
static inline uint64_t hf_times_key(uint64_t chunk, uint64_t number)
{
	return chunk << HF_TIMES_ROWS_BITS | number;
}

#define HF_TIMES_KEY_BITS (HF_NUMBER_BITS + HF_TIMES_ROWS_BITS)
static_assert(HF_SLOT_RECORDS < UINT64_C(1) << (63 - HF_TIMES_KEY_BITS), "all keys are positive numbers");

#endif
