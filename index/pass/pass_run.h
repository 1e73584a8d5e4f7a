/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: the way of one hart, or of the records, through the pass.
 *
 *   decode -> ring of batches -> collect, one stage a view -> rows of the chunk -> queue -> tables (pass_write.c)
 *
 * The ring and the queue are bounded: a stage that is ahead waits. Threads and the lock are pass_workers.c's. Internal
 * to index/.
 */
#ifndef HF_INDEX_PASS_RUN_H
#define HF_INDEX_PASS_RUN_H

#include "index/pass/pass.h"
#include "index/pass/stage.h"
#include "index/table/row_queue.h"

#include <stdatomic.h>

#define HF_RUN_BATCHES 12u
/* Stages besides one for each view. */
#define HF_RUN_STAGES 4u

/* Kinds of rows, and what each holds. */
enum hf_row_kind {
	HF_ROW_POINT,	 /* struct hf_point, window */
	HF_ROW_PROBLEM,	 /* struct hf_index_problem */
	HF_ROW_ID,	 /* u32 of a hart */
	HF_ROW_VIEW,	 /* u64 number of the view in pass->views, struct hf_view_chunk up to the end of its entry */
	HF_ROW_TIMES,	 /* u64 number of the view, u64 of the chunk, u64 of the row in it, struct hf_view_times as far as used */
	HF_ROW_VIEW_END, /* u64 number of the view, u64 chunks, u64 size */
	HF_ROW_CHUNK,	 /* struct hf_chunk up to the end of its entry; all its other rows are before it */
	HF_ROW_END,	 /* nothing: the last row */
};

struct hf_pass_run {
	struct hf_pass *pass;
	uint64_t slot;
	struct hf_input *in, own;
	struct hf_dec *dec;
	struct hf_batch *batches; /* HF_RUN_BATCHES, in memory */
	struct hf_batch *ring[HF_RUN_BATCHES]; /* these in the order of use; the lock has those that no stage works on */
	struct hf_stretch_finder *finder; /* the decoding stage's; NULL for the records */
	struct hf_stage **stages; /* the first decodes */
	size_t stage_count;
	struct hf_row_queue rows;
	struct hf_row_queue summed; /* rows of the summary: u64 enum hf_table_id, u64 key, the used part of the row */
	struct hf_run_end end;	     /* used by the decoding stage until the run is finished */
	struct hf_diag diag;	     /* of an error */
	_Atomic uint64_t pos, insns; /* progress: offset in the file, retired instructions */
	_Atomic uint64_t reach;	     /* stream offset to which its container was decompressed; 0: none */
	/* with the lock of the workers */
	uint64_t joined; /* batches that all stages have finished */
	bool ended;	 /* no further batch is filled */
	/* the writer's */
	bool finished; /* HF_ROW_END was met */
};

/*
 * A run for the hart in that slot, without stages. first: it uses the input of the pass, and its points are stored;
 * other runs fork the input.
 */
int hf_pass_run_new(struct hf_pass *pass, uint64_t slot, uint32_t hart, bool first, struct hf_pass_run **ret_run);
void hf_pass_run_free(struct hf_pass_run *run);
/* The run owns the stage from now on. */
void hf_pass_run_add_stage(struct hf_pass_run *run, struct hf_stage *stage);

/* For the decoding stage: the batch to be filled, or the i-th after it. */
struct hf_batch *hf_pass_run_batch(struct hf_pass_run *run, unsigned i);

int hf_pass_run_push(struct hf_pass_run *run, enum hf_row_kind kind, const void *a, size_t an, const void *b,
		     size_t bn);

/* Pushes a row of the summary. They have their own queue: at a commit the stage's state is behind all of them. */
int hf_pass_run_push_summed(struct hf_pass_run *run, const void *a, size_t an, const void *b, size_t bn);
/* Bytes of waiting rows. */
size_t hf_pass_run_waiting(struct hf_pass_run *run);

/* ---- for the workers, with their lock unless said otherwise ---- */

/* A stage that can run, preferably one that this thread ran last; NULL: none. decodes: it may be the decoding stage. */
struct hf_stage *hf_pass_run_ready(struct hf_pass_run *run, unsigned thread, bool decodes);
/* Without the lock: runs the stage, which is marked as running. Returns as work() does. */
int hf_pass_run_work(struct hf_pass_run *run, struct hf_stage *stage);
/* Takes its result, and queues the rows of chunks that all stages have finished. */
int hf_pass_run_worked(struct hf_pass_run *run, struct hf_stage *stage, int result);
/* Whether no stage of it is running. */
bool hf_pass_run_is_idle(const struct hf_pass_run *run);

#endif
