/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the runs of a hart: how often each was executed, in each chunk and in all. When its memory is full, its runs
 * become rows of the summary (span.h), and it starts again empty: then the same run may come once more, with another
 * number. Runs are numbered in the order of first execution. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_RUN_TABLE_H
#define HF_INDEX_SUMMARY_RUN_TABLE_H

#include "index/summary/group_write.h"
#include "index/summary/run.h"

/* Most runs at a time, and bytes of their code: with the table 15 MiB, of which unused memory costs nothing. For a
 * chunk: bytes of the sets of what it writes and reads, of both for attempts, and of its rare events. Most keys of rare
 * events with values. 0: the usual number. */
struct hf_run_table_room {
	uint32_t runs, code, sets, attempts, rare, keys;
};
extern const struct hf_run_table_room hf_run_table_room_default;

/* A run with its counts. */
struct hf_run_table_run {
	struct hf_run_key key;
	uint32_t insns, bytes;
	uint64_t hash;
	uint32_t code;		    /* its offset in code */
	uint32_t count;		    /* in the present chunk */
	uint64_t total, chunks;	    /* in all chunks so far; how many these are */
	uint64_t first, last;	    /* groups */
};

struct hf_run_table_posting {
	uint64_t run;
	uint32_t chunk, count; /* chunk: in its group */
};

struct hf_run_table {
	struct hf_run_table_room room;
	struct hf_run_table_run *runs;
	uint32_t *slots, slot_mask; /* number of a run plus 1, or 0 */
	uint8_t *code;
	uint32_t run_count, code_size;
	uint64_t first_number;	      /* the number of runs[0] */
	uint32_t *executed, executed_count; /* in the present chunk */
	uint64_t first_chunk, chunk; /* since it was empty; the present one */
	uint64_t insns;
	struct hf_run_table_posting *postings, *spare; /* of the present group */
	size_t posting_count, posting_room;
	struct hf_raw numbers, bits, counts;
	struct hf_group_writer *writer; /* borrowed */
};

/* HF_ERR_NOMEM. */
int hf_run_table_new(const struct hf_run_table_room *room, struct hf_group_writer *writer,
		     struct hf_run_table **ret_table);
void hf_run_table_free(struct hf_run_table *table);

/* Counts a run in the present chunk. HF_ERR_LIMIT: there is no room, and nothing has changed. */
int hf_run_table_put(struct hf_run_table *table, const struct hf_run *run);
/* Ends the present chunk, and with each 64th its group. */
int hf_run_table_cut(struct hf_run_table *table);
/* At the end of the hart, after its last cut. */
int hf_run_table_end(struct hf_run_table *table);

/* *ret_order, for free(): the runs sorted by key and code. */
int hf_run_table_sort(struct hf_run_table *table, const struct hf_run_table_run ***ret_order);
/* Adds the counts of the present chunk to the totals. */
int hf_run_table_settle(struct hf_run_table *table);
/* After hf_run_table_settle: removes all runs. */
void hf_run_table_reset(struct hf_run_table *table);

/* To a file and back, into an empty one. */
void hf_run_table_keep(struct hf_run_table *table, struct hf_keep *keep);

#endif
