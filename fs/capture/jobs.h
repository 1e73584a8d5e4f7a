/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Background work of captures as jobs of the executor: indexing, looking for captures, and the messages to the kernel
 * that something changed, which must not be sent by the thread that answers it.
 */
#ifndef HF_FS_JOBS_H
#define HF_FS_JOBS_H

#include "fs/capture/capture.h"

/* lock may be taken with any other lock held but the executor's. */
struct hf_jobs {
	pthread_mutex_t lock;
	pthread_cond_t idle;
	struct hf_job walk, tell_idle;
	void (*on_idle)(void *ctx); /* told once, then NULL */
	void *on_idle_ctx;
	bool walking; /* captures are being looked for */
	bool stop;
};

void hf_jobs_init(struct hf_captures *all);
/* Nobody waits any longer. */
void hf_jobs_stop(struct hf_captures *all);
/* After the executor was stopped. */
void hf_jobs_fini(struct hf_captures *all);
/* The jobs of a new capture. */
void hf_jobs_init_capture(struct hf_capture *capture);

/* Queues a capture for indexing unless it is queued or being indexed: it becomes QUEUED. urgent: somebody looked. */
void hf_jobs_add(struct hf_captures *all, struct hf_capture *capture, bool urgent);
/* Moves a queued capture before those nobody waits for, and lets one that was put aside go on. */
void hf_jobs_hurry(struct hf_capture *capture);
/* The kernel will be told to forget what it knows of the capture's views. */
void hf_jobs_notify(struct hf_captures *all, struct hf_capture *capture);
/* Whether the archive is searched for captures. */
bool hf_jobs_searching(struct hf_captures *all);

#endif
