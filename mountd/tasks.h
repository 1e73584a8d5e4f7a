/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that does small things one after the other, for callers that must not do them where they stand: cancel
 * reads (from inside libfuse's locks).
 */
#ifndef HF_MOUNTD_TASKS_H
#define HF_MOUNTD_TASKS_H

#include <pthread.h>
#include <stdbool.h>

/* Embedded by its owner, who must not touch it between push and fn. */
struct hf_task {
	void (*fn)(struct hf_task *task);
	struct hf_task *next;
};

struct hf_tasks {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	struct hf_task *first, **last;
	bool stop, joined;
};

int hf_tasks_init(struct hf_tasks *tasks);
/* False if they were stopped: the task stays its owner's. */
bool hf_tasks_push(struct hf_tasks *tasks, struct hf_task *task);
/* Does what was pushed, then ends the thread. Stopping twice, by the same thread, does nothing. */
void hf_tasks_stop(struct hf_tasks *tasks);

#endif
