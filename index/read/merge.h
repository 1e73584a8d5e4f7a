/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listings of all harts merged by time, as runs of lines, each of one hart. A hart's lines from one time up to the
 * next stay together; runs are in the order of (time, id of the hart, offset in its listing). Lines of harts before
 * their first time come first, hart after hart. A line "# hart N" comes before lines of another hart than those before
 * it; other such lines say that times are not known, or go back (index/read/times.h).
 *
 * Without those lines the lines of a hart are its listing, byte for byte. They are not stored: a run says where they
 * are. Table merge has places to resume at.
 */
#ifndef HF_INDEX_MERGE_H
#define HF_INDEX_MERGE_H


#include <pthread.h>
#include <stdint.h>

struct hf_store;
struct hf_view_hart;
struct hf_merge;

enum hf_merge_kind {
	HF_MERGE_UNKNOWN, /* before the hart's first time */
	HF_MERGE_TIMED,	  /* from a line with a time on */
	HF_MERGE_BACK,	  /* the same, but its time is smaller than an earlier one */
};

struct hf_merge_run {
	uint64_t offset;   /* of its head, in the merged view; the lines follow */
	uint64_t from, to; /* these bytes of the hart's view */
	uint32_t hart;	   /* its id */
	enum hf_merge_kind kind;
	uint64_t time; /* the greatest one of the hart so far; of HF_MERGE_UNKNOWN 0 */
	size_t head_size; /* 0: the previous run is of the same hart */
	char head[48];
};

/* The next run: HF_NOTE_END behind the last. HF_ERR_STATE: the table is damaged. */
int hf_merge_next(struct hf_merge *merge, struct hf_merge_run *ret_run);
/* NULL: none. */
void hf_merge_free(struct hf_merge *merge);

/* ---- internal to index/ ---- */

/* At the first run. harts[count]: of the view, in the order of their slots. store and lock are borrowed. lock NULL:
 * nobody else uses the store. */
int hf_merge_new(struct hf_store *store, pthread_mutex_t *lock, const struct hf_view_hart *harts, size_t count,
		 struct hf_merge **ret_merge);
/* Goes to the last place in table merge at or before that offset. */
int hf_merge_seek(struct hf_merge *merge, uint64_t offset);
/* Fills table merge, if at least two harts have times; otherwise removes the times. */
int hf_merge_write(struct hf_store *store);
/* The size of the merged view, from table merge; HF_NOWHERE: there is none. */
int hf_merge_size(struct hf_store *store, uint64_t *ret_size);

#endif
