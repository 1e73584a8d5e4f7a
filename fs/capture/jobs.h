/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Background work: the queue of captures to be indexed, with threads of low priority of its own, and the messages to
 * the kernel that something changed, which must not be sent by the thread that answers it.
 */
#ifndef HF_FS_JOBS_H
#define HF_FS_JOBS_H

#include "fs/capture/capture.h"

struct hf_jobs_queue {
	struct hf_capture *first, *last;
};

struct hf_jobs {
	pthread_mutex_t lock;
	pthread_cond_t work, idle, notices;
	struct hf_jobs_queue urgent, normal; /* urgent: somebody looked */
	struct hf_jobs_queue notify;
	size_t queued, running;              /* captures */
	size_t walking;                      /* threads that look for captures */
	unsigned threads;                    /* wanted; started with the first capture */
	pthread_t *thread;
	unsigned started;
	pthread_t notifier, walker;
	bool has_notifier, has_walker;
	bool stop;
};

int hf_jobs_init(struct hf_fs *fs);
/* Cancels what is under way and joins the threads. */
void hf_jobs_fini(struct hf_fs *fs);

/* Queues a capture for indexing unless it is queued or being indexed: it becomes QUEUED. */
void hf_jobs_add(struct hf_fs *fs, struct hf_capture *capture, bool urgent);
/* Moves a queued capture before those nobody waits for. */
void hf_jobs_hurry(struct hf_fs *fs, struct hf_capture *capture);
/* The kernel will be told to forget what it knows of the capture's views. */
void hf_jobs_notify(struct hf_fs *fs, struct hf_capture *capture);

#endif
