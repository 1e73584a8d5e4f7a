/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary while it is being made: a private file with the rows so far, among them those from which a build goes on after an
 * interruption (checkpoint.h). Rows that come again then are the same. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_PART_H
#define HF_INDEX_SUMMARY_PART_H

#include "index/store/store.h"
#include "index/summary/summary_tables.h"
#include "index/table/row.h"

struct hf_summary_part {
	struct hf_part file;
	struct hf_identity identity;
	struct hf_store *store; /* NULL: none is being made */
	bool resumed;		/* it has something of an earlier build: */
	bool complete;		/*   all of it */
};

/* Whether a build in that directory can have one: not among small captures, of which there is little to sum up. */
bool hf_summary_part_is_possible(const struct hf_store_dir *dir);
/* Locks, and creates it, or opens what an earlier build left, if that is of use. HF_ERR_BUSY. */
int hf_summary_part_open(struct hf_summary_part *part, const struct hf_store_dir *dir,
			 const struct hf_identity *identity, const struct hf_chunk_limits *limits);
/* Throws away what was there. */
int hf_summary_part_reset(struct hf_summary_part *part, const struct hf_chunk_limits *limits);
void hf_summary_part_close(struct hf_summary_part *part);

/* Whether all of that hart is there: 1, 0, or an error. */
int hf_summary_part_has_hart(struct hf_summary_part *part, uint64_t slot);
/* Its row: HF_NOTE_END if there is none. */
int hf_summary_part_hart(struct hf_summary_part *part, uint64_t slot, struct hf_summary_hart *ret_hart);
/* Whether there is a place to go on from in that hart, and its row: chunks and instructions before that. */
bool hf_summary_part_checkpoint(struct hf_summary_part *part, uint32_t id, struct hf_summary_hart *ret_hart);

/* A row of one of its tables besides meta. That of the checkpoint's hart without chunks removes the checkpoint. */
int hf_summary_part_put(struct hf_summary_part *part, enum hf_table_id table, uint64_t key, const void *row);
/* Writes meta as complete and closes the database; the file stays locked until it is published and closed. */
int hf_summary_part_finish(struct hf_summary_part *part, const struct hf_chunk_limits *limits);

#endif
