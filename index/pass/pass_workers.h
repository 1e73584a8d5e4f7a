/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a pass: the one that called hf_build_run, and as many more as are allowed. Each takes any stage of any
 * run that is ready. Nothing else in the pass knows of threads. Internal to index/.
 */
#ifndef HF_INDEX_PASS_WORKERS_H
#define HF_INDEX_PASS_WORKERS_H

#include "index/pass/pass_run.h"

/* Runs at a time: each needs some ten megabytes. */
#define HF_WORKERS_RUNS 8u
#define HF_WORKERS_THREADS 64u

/* Sets pass->many. */
int hf_pass_workers_new(struct hf_pass *pass, struct hf_pass_workers **ret_workers);
/* Ends the threads; the runs stay. */
void hf_pass_workers_stop(struct hf_pass_workers *workers);
/* Also frees their runs. */
void hf_pass_workers_free(struct hf_pass_workers *workers);

/* How many runs may be ahead of the one that is written, at present. */
size_t hf_pass_workers_ahead(const struct hf_pass_workers *workers);
/* Takes the run with its stages, also after an error. Runs that were added earlier go first. */
int hf_pass_workers_add(struct hf_pass_workers *workers, struct hf_pass_run *run);
/* Waits until no stage of the run is running, and gives it back to the caller. */
void hf_pass_workers_remove(struct hf_pass_workers *workers, struct hf_pass_run *run);

/* Sets the run whose rows are written (NULL: none). Without other threads only that one and those of the same container
 * go on. */
void hf_pass_workers_set_turn(struct hf_pass_workers *workers, struct hf_pass_run *run);
struct hf_pass_run *hf_pass_workers_turn(const struct hf_pass_workers *workers);

/* Runs one stage on this thread, or sleeps a little. Returns the first error of any stage. */
int hf_pass_workers_work(struct hf_pass_workers *workers);
/* Moves the rows of the run that is written to an empty queue. */
void hf_pass_workers_take_rows(struct hf_pass_workers *workers, struct hf_row_queue *queue);
/* Whether the calling thread made them. */
bool hf_pass_workers_are_ours(const struct hf_pass_workers *workers);
/* Calls keep of each stage of the run that is written, as for a commit. */
int hf_pass_workers_keep(struct hf_pass_workers *workers);

/* For the progress: sums over all runs; returns how many there are. */
size_t hf_pass_workers_sum(const struct hf_pass_workers *workers, uint64_t *ret_pos, uint64_t *ret_insns);

#endif
