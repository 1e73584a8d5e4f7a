/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary while it is being made: a private file with the rows so far, and what its stage knew at the last commit
 * (summary_state.h). Internal to index/.
 *
 * A build that goes on after an interruption has all rows up to that state, and maybe some that came after it. These
 * come again, as they are, and are not put twice. So the file is the same as without any interruption.
 */
#ifndef HF_INDEX_SUMMARY_PART_H
#define HF_INDEX_SUMMARY_PART_H

#include "index/store/store.h"
#include "index/summary/summary_state.h"
#include "index/summary/summary_tables.h"
#include "index/table/row.h"

struct hf_summary_part {
	struct hf_part file;
	struct hf_identity identity;
	struct hf_store *store; /* NULL: none is being made */
	bool resumed;		/* it has something of an earlier build: */
	bool complete;		/*   all of it, */
	bool has_state;		/*   or what is to come from that place on */
	struct hf_summary_place place;
	bool again;			/* rows may come that are there */
	bool written;			/* a state waits for the next commit */
	uint64_t rows, last_table, last_key; /* put so far, as in a place */
};

/* Whether a build in that directory can have one: not among small captures, of which there is little to sum up. */
bool hf_summary_part_is_possible(const struct hf_store_dir *dir);
/* Locks, and creates it, or opens what an earlier build left, if that is of use. HF_ERR_BUSY. */
int hf_summary_part_open(struct hf_summary_part *part, const struct hf_store_dir *dir,
			 const struct hf_identity *identity, const struct hf_chunk_limits *limits);
/* Throws away what was there. */
int hf_summary_part_reset(struct hf_summary_part *part, const struct hf_chunk_limits *limits);
void hf_summary_part_close(struct hf_summary_part *part);
/* Its files. */
void hf_summary_part_remove(struct hf_summary_part *part);

/* Whether all of that hart is there: 1, 0, or an error. */
int hf_summary_part_has_hart(struct hf_summary_part *part, uint64_t slot);
/* Its row: HF_NOTE_END if there is none. */
int hf_summary_part_hart(struct hf_summary_part *part, uint64_t slot, struct hf_summary_hart *ret_hart);
/* The hart's state, if there is one: HF_NOTE_END, HF_ERR_STATE. */
int hf_summary_part_load(struct hf_summary_part *part, uint64_t slot, hf_summary_keep_fn fn, void *ctx);

/* A row of one of its tables besides meta. */
int hf_summary_part_put(struct hf_summary_part *part, enum hf_table_id table, uint64_t key, const void *row);
/* What the stage knows, which the next commit keeps. What cannot be kept is given up: an interrupted build begins anew
 * with the summary then. */
void hf_summary_part_keep(struct hf_summary_part *part, const struct hf_summary_place *place, hf_summary_keep_fn fn,
			  void *ctx);
int hf_summary_part_commit(struct hf_summary_part *part);
/* Writes meta as complete and closes the database; the file stays locked until it is published and closed. */
int hf_summary_part_finish(struct hf_summary_part *part, const struct hf_chunk_limits *limits);
int hf_summary_part_publish(struct hf_summary_part *part);

#endif
