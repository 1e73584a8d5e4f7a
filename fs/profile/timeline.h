/* SPDX-License-Identifier: Apache-2.0 */
/* What a hart did against time, in as many columns as a picture has. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_TIMELINE_H
#define HF_FS_PROFILE_TIMELINE_H

#include "fs/profile/block_map.h"
#include "fs/profile/hottest.h"
#include "fs/profile/texts.h"

#define HF_TIMELINE_COLUMNS 1600u

enum hf_timeline_mark {
	HF_TIMELINE_EXCEPTIONS,
	HF_TIMELINE_INTERRUPTS,
	HF_TIMELINE_CONTEXTS,
	HF_TIMELINE_JUMPS, /* that the trace does not explain */
	HF_TIMELINE_GAPS,
	HF_TIMELINE_DOUBTS,
	HF_TIMELINE_MARKS
};

/* Kinds of code that whoever wants a timeline tells apart. */
#define HF_TIMELINE_KINDS 8u

/* Bits of a cell of data. */
enum { HF_TIMELINE_READ = 1, HF_TIMELINE_WRITTEN = 2 };

/* The time in pieces of the same length. */
struct hf_timeline_axis {
	uint32_t pieces;
	double scale; /* pieces in an instruction; 0: they have different numbers of these */
	uint64_t start[HF_TIMELINE_COLUMNS + 1]; /* the first ordinal of each; behind the last: that behind all */
};

/* Another time than instructions: kinds of code against it. */
struct hf_timeline_plan {
	const struct hf_timeline_axis *column, *part; /* of the instructions that the source has */
	/* Less than HF_TIMELINE_KINDS; asked of each function once. */
	uint8_t (*kind)(const void *ctx, const struct hf_hottest_function *function);
	const void *ctx;
};

struct hf_timeline {
	uint64_t first, insns;		      /* ordinal of the first instruction, and how many there are */
	uint32_t columns;		      /* no more than instructions */
	struct hf_timeline_axis column, part; /* part: HF_HOTTEST_PARTS at most */
	bool exact;			      /* else things are spread over their chunks */
	struct hf_block_map code, data;
	struct hf_hottest hottest;
	float mode[HF_MODE_COUNT][HF_TIMELINE_COLUMNS]; /* instructions */
	float mark[HF_TIMELINE_MARKS][HF_TIMELINE_COLUMNS];
	float kind[HF_TIMELINE_KINDS][HF_TIMELINE_COLUMNS]; /* instructions; of a plan */
	uint64_t marks[HF_TIMELINE_MARKS];
	uint32_t depth[HF_TIMELINE_COLUMNS]; /* the greatest */
	uint32_t deepest;
	uint64_t depth_from; /* the ordinal from which on it is depth_now */
	uint32_t depth_now;
};

/* For the caller to free. plan: NULL, or then there are neither blocks nor depths. HF_ERR_NOT_FOUND: the hart is long and has
 * no summary. */
int hf_timeline_make(const struct hf_profiled *of, const struct hf_timeline_plan *plan, struct hf_timeline **ret_timeline);
void hf_timeline_free(struct hf_timeline *timeline);

#endif
