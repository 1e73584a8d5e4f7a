/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary while it is being made. It is made from the first chunk on: what an interrupted build left is of no use.
 * Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_PART_H
#define HF_INDEX_SUMMARY_PART_H

#include "index/store.h"

struct hf_summary_part {
	struct hf_part file;
	struct hf_store *store; /* NULL: none is being made */
};

/* Whether a build in that directory can have one: not among small captures, of which there is little to sum up. */
bool hf_summary_part_is_possible(int dirfd);
/* Locks, and creates it. HF_ERR_BUSY. */
int hf_summary_part_open(struct hf_summary_part *part, int dirfd, const struct hf_identity *identity,
			 const struct hf_chunk_limits *limits);
void hf_summary_part_close(struct hf_summary_part *part);
/* A row of one of its tables besides meta. */
int hf_summary_part_put(struct hf_summary_part *part, enum hf_table_id table, uint64_t key, const void *row);
int hf_summary_part_commit(struct hf_summary_part *part);
/* Writes meta as complete and closes the database; the file stays locked until it is published and closed. */
int hf_summary_part_finish(struct hf_summary_part *part, const struct hf_identity *identity,
			   const struct hf_chunk_limits *limits);

#endif
