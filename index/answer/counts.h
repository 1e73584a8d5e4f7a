/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often each instruction of a hart was executed. The table is made from a summary, which is fast for any length of
 * the capture, or, with the same result, from the hart's events.
 */
#ifndef HF_INDEX_COUNTS_H
#define HF_INDEX_COUNTS_H

#include "codecs/base/hash_map.h"
#include "index/read/cursor.h"
#include "index/summary/summary.h"
#include "index/summary/summary_tree.h"

/* Rows of a table: 40 bytes each, and half as much again while it is made. */
#define HF_COUNTS_MAX (UINT32_C(1) << 21)

/* An instruction at a pc. Code that changed has a row for each opcode. */
struct hf_count {
	uint64_t pc;
	uint32_t opcode;
	uint8_t size, isa; /* bytes; enum hf_isa */
	uint64_t count;	   /* executions */
	uint64_t taken;	   /* of these, how often it was a taken branch or jump */
	uint64_t open;	   /* of a branch: how often it is unknown whether it was taken */
};

/* A zeroed one is empty. */
struct hf_counts {
	struct hf_count *row; /* owned; after hf_counts_end by pc, then opcode */
	size_t n;
	uint64_t insns;	  /* of all */
	struct hf_hash_map map; /* while it is made */
};

/* Adds count executions of a run. HF_ERR_COUNTS_LIMIT: there are too many rows. HF_ERR_STATE: the count overflows. */
int hf_counts_add(struct hf_counts *counts, const struct hf_run *run, uint64_t count);
/* After the last add. */
void hf_counts_end(struct hf_counts *counts);
void hf_counts_free(struct hf_counts *counts);

/* All of a hart from the summary, ended. HF_ERR_STATE: the summary is damaged. */
int hf_counts_of_summary(struct hf_summary *summary, uint32_t hart, struct hf_counts *ret_counts);

/* Instructions [first, end) of the hart. stop (may be NULL) is called for each chunk; true: HF_ERR_CANCELLED. */
struct hf_counted_range {
	uint64_t first, end;
	bool (*stop)(void *ctx);
	void *ctx;
};
/* The same for a range: from the summary, and by decoding the chunks where it begins and ends. summary NULL: all of it
 * is decoded. cursor, here and below, is new and to be ended by the caller. */
int hf_counts_of_range(struct hf_cursor *cursor, struct hf_summary *summary, const struct hf_counted_range *range,
		       struct hf_counts *ret_counts, struct hf_diag *diag);
/* The same by decoding, with the calls in the range; calls before it are not known. */
int hf_counts_of_events(struct hf_cursor *cursor, const struct hf_counted_range *range, struct hf_counts *ret_counts,
			struct hf_summary_tree **ret_tree, struct hf_diag *diag);

#endif
