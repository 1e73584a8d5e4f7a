/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a pass: the one that called hf_build_run, and as many more as it may use. Each takes whatever stage of
 * whatever run is ready. Nothing else in the pass knows of threads. Internal to index/.
 */
#ifndef HF_INDEX_PASS_WORKERS_H
#define HF_INDEX_PASS_WORKERS_H

#include "index/pass/pass_run.h"

/* Runs at a time: what they need of memory is some ten megabytes each. */
#define HF_WORKERS_RUNS 8u
#define HF_WORKERS_THREADS 64u

/* Sets pass->many. */
int hf_pass_workers_new(struct hf_pass *pass, struct hf_pass_workers **ret_workers);
/* Ends the threads; the runs stay as they are. */
void hf_pass_workers_stop(struct hf_pass_workers *workers);
/* With their runs. */
void hf_pass_workers_free(struct hf_pass_workers *workers);

/* How many runs may be ahead of the one that is written, just now. */
size_t hf_pass_workers_ahead(const struct hf_pass_workers *workers);
/* The run, with all its stages, is theirs from now on, also after an error. Those that come earlier go first. */
int hf_pass_workers_add(struct hf_pass_workers *workers, struct hf_pass_run *run);
/* Waits until no stage of it runs, and gives it back. */
void hf_pass_workers_remove(struct hf_pass_workers *workers, struct hf_pass_run *run);

/* The run whose rows are written; without further threads only that one goes on, and those of the same container. NULL:
 * none. */
void hf_pass_workers_set_turn(struct hf_pass_workers *workers, struct hf_pass_run *run);
struct hf_pass_run *hf_pass_workers_turn(const struct hf_pass_workers *workers);

/* Runs one stage on this thread, or sleeps a little if none is ready. An error is the first one of any stage. */
int hf_pass_workers_work(struct hf_pass_workers *workers);
/* Moves the rows of the run whose turn it is to an empty queue. */
void hf_pass_workers_take_rows(struct hf_pass_workers *workers, struct hf_row_queue *queue);
/* Whether this is the thread that made them. */
bool hf_pass_workers_are_ours(const struct hf_pass_workers *workers);
/* Lets each stage of the run whose turn it is store what rows do not say, as at a commit. */
int hf_pass_workers_keep(struct hf_pass_workers *workers);

/* For the progress: of all runs that there are; returns how many. */
size_t hf_pass_workers_sum(const struct hf_pass_workers *workers, uint64_t *ret_pos, uint64_t *ret_insns);

#endif
