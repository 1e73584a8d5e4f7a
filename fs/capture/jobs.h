/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Background work on captures, as jobs of the executor: indexing, and telling the kernel that something changed, which
 * the thread that answers the kernel must not do. And whether any work is left.
 */
#ifndef HF_FS_JOBS_H
#define HF_FS_JOBS_H

#include "fs/facts/table.h"

/* lock may be taken with any other lock held but the executor's. */
struct hf_jobs {
	/* Set by who opens: makes the kernel forget what it knows of a capture's files. NULL: there is no kernel, as
	 * in commands without a mount. */
	void (*on_change)(void *ctx, struct hf_capture *capture);
	void *ctx;
	struct hf_common *common;
	pthread_mutex_t lock;
	pthread_cond_t idle;
	struct hf_job tell_idle;
	void (*on_idle)(void *ctx); /* called once, then NULL */
	void *on_idle_ctx;
	bool walking; /* the archive is being searched for captures */
	bool stop;
};

/* table: whose captures get these jobs. */
void hf_jobs_init(struct hf_jobs *jobs, struct hf_common *common, struct hf_capture_table *table);
/* Ends all waits for it. */
void hf_jobs_stop(struct hf_jobs *jobs);
/* After the executor was stopped. */
void hf_jobs_fini(struct hf_jobs *jobs);

/* Before a search for captures; hf_jobs_search_ends after it. False: there is one already, or the fs is closing. */
bool hf_jobs_search_begins(struct hf_jobs *jobs);
void hf_jobs_search_ends(struct hf_jobs *jobs);
bool hf_jobs_searching(struct hf_jobs *jobs);

/* hf_fs_idle, hf_fs_when_idle. */
void hf_jobs_idle(struct hf_jobs *jobs);
void hf_jobs_when_idle(struct hf_jobs *jobs, void (*fn)(void *ctx), void *ctx);

#endif
