/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often each instruction of a hart was executed. The table is made from a summary, which is fast for any length of
 * the capture, or, with the same result, from the hart's events.
 */
#ifndef HF_INDEX_COUNTS_H
#define HF_INDEX_COUNTS_H

#include "codecs/base/hash_map.h"
#include "index/answer/range.h"
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

/* The same of a range, from a summary and by decoding the chunks in which it begins and ends; summary is NULL: all of it
 * is decoded. cursor is new, and to be ended by the caller, here and below. */
int hf_counts_of_range(struct hf_cursor *cursor, struct hf_summary *summary, const struct hf_insn_range *range,
		       struct hf_counts *ret_counts, struct hf_diag *diag);
/* The same by decoding it, with its calls: what was called before it is not known. */
int hf_counts_of_events(struct hf_cursor *cursor, const struct hf_insn_range *range, struct hf_counts *ret_counts,
			struct hf_summary_tree **ret_tree, struct hf_diag *diag);

#endif
