/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the runs of a hart: how often each was executed, in each chunk and in all. It has so much memory; when that is
 * full, the runs that it has become rows of the summary (span.h), and it begins anew: the same run may then come once
 * more, with another number. Numbers are given in the order in which runs first come. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_RUN_TABLE_H
#define HF_INDEX_SUMMARY_RUN_TABLE_H

#include "index/summary/group_write.h"
#include "index/summary/run.h"

/* Runs at a time, and bytes of their code: with the table of runs 15 MiB, of which what is not used costs nothing. Of
 * a chunk: bytes of what is written and read, of both by attempts, and of its rare events. Keys of rare events with
 * values. 0: as usual. */
struct hf_run_table_room {
	uint32_t runs, code, sets, attempts, rare, keys;
};
extern const struct hf_run_table_room hf_run_table_room_default;

/* A run with what is known of it. */
struct hf_run_table_run {
	struct hf_run_key key;
	uint32_t insns, bytes;
	uint64_t hash;
	uint32_t code;		    /* where it is */
	uint32_t count;		    /* in the chunk at hand */
	uint64_t total, chunks;	    /* in all chunks so far, and in how many */
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
	uint64_t first_number;	      /* of the runs that are here */
	uint32_t *executed, executed_count; /* in the chunk at hand */
	uint64_t first_chunk, chunk; /* since it began anew; at hand */
	uint64_t insns;
	struct hf_run_table_posting *postings, *spare; /* of the group at hand */
	size_t posting_count, posting_room;
	struct hf_raw numbers, bits, counts;
	struct hf_group_writer *writer; /* borrowed */
};

/* HF_ERR_NOMEM. */
int hf_run_table_new(const struct hf_run_table_room *room, struct hf_group_writer *writer,
		     struct hf_run_table **ret_table);
void hf_run_table_free(struct hf_run_table *table);

/* One more run in the chunk at hand. HF_ERR_LIMIT: there is no room, and nothing has changed. */
int hf_run_table_put(struct hf_run_table *table, const struct hf_run *run);
/* The chunk at hand ends, and with each 64th its group. */
int hf_run_table_cut(struct hf_run_table *table);
/* The hart ends behind the last chunk that was cut. */
int hf_run_table_end(struct hf_run_table *table);

/* *ret_order, for free(): the runs in the order of their keys and code. */
int hf_run_table_sort(struct hf_run_table *table, const struct hf_run_table_run ***ret_order);
/* Takes the counts of the chunk at hand: all of them are in totals then. */
int hf_run_table_settle(struct hf_run_table *table);
/* Once it is settled: empties it of runs. */
void hf_run_table_reset(struct hf_run_table *table);

/* To a file and back, into an empty one. */
void hf_run_table_keep(struct hf_run_table *table, struct hf_keep *keep);

#endif
