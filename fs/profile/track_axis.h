/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hart against the time that all harts of a capture have in common: which of its instructions ran in which column.
 * Between two times of the hart its instructions are spread evenly. Internal to fs/profile/.
 */
#ifndef HF_FS_PROFILE_TRACK_AXIS_H
#define HF_FS_PROFILE_TRACK_AXIS_H

#include "fs/profile/timeline.h"

/* What is known of when something ran, in a column. */
enum hf_track_known {
	HF_TRACK_NOTHING, /* no instruction was under way, as far as the trace tells */
	HF_TRACK_GUESSED, /* several may have been: the hart has no time there */
	HF_TRACK_TIMED,	  /* the hart has a time there */
	HF_TRACK_BACK,	  /* it goes back there */
};

/* The time from the left to the right, of all harts. */
struct hf_track_span {
	uint64_t first, length;
};

struct hf_track_axis {
	struct hf_track_span span;
	struct hf_timeline_axis column, part;
	uint8_t known[HF_TIMELINE_COLUMNS];
	bool timed;		 /* of the hart there is a time, */
	uint64_t first, end;	 /* instructions of which it is known when they ran, or between which times */
	uint64_t ordinal, time;	 /* the last time, and the instruction behind it */
	uint32_t columns, parts; /* so many have begun */
};

/* The last column ends with the length, of which there may be fewer units than columns. */
void hf_track_axis_init(struct hf_track_axis *axis, const struct hf_track_span *span, uint32_t parts);
/* It was that time before the instruction. In order; what goes back says that it does. */
void hf_track_axis_put(struct hf_track_axis *axis, uint64_t ordinal, uint64_t time);
/* All of it was put, of a hart that has so many instructions. */
void hf_track_axis_end(struct hf_track_axis *axis, uint64_t insns);
/* When the i-th of pieces begins. */
uint64_t hf_track_begin(const struct hf_track_span *span, uint32_t i, uint32_t pieces);

#endif
