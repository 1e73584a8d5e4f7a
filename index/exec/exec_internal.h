/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the executor: exec_queue.c chooses the next job, exec.c has the threads that run it. On these
 * stand exec_job.c (calls of a job's owner) and exec_seats.c (calls of a running job about its seat). All functions are
 * called with the executor's lock held.
 */
#ifndef HF_INDEX_EXEC_INTERNAL_H
#define HF_INDEX_EXEC_INTERNAL_H

#include "index/base/lock.h"
#include "index/exec/job.h"

#include <pthread.h>
#include <time.h>

/* Of threads. A thread cannot raise its priority again, so work of low priority has its own. */
enum hf_exec_priority { HF_EXEC_FOREGROUND, HF_EXEC_BACKGROUND, HF_EXEC_PRIORITIES };

struct hf_exec_queue {
	struct hf_job *first, *last;
};

struct hf_exec_work {
	unsigned seats, running, away;
	unsigned paused[HF_URGENCIES];
	size_t queued[HF_URGENCIES], load[HF_URGENCIES];
	struct hf_exec_queue queue[HF_URGENCIES];
};

struct hf_exec_thread {
	struct hf_exec *exec;
	enum hf_exec_priority priority;
	pthread_t thread;
	struct hf_job *current; /* until its done has returned: the job itself may be gone by then */
	struct hf_worker worker;
	struct hf_exec_thread *next;
};

struct hf_exec_threads {
	struct hf_exec_thread *first;
	unsigned idle;
	struct hf_exec_queue delayed; /* in the order of their times */
	pthread_cond_t wake;
};

struct hf_exec {
	pthread_mutex_t lock;
	struct hf_exec_work work[HF_WORKS];
	struct hf_exec_threads threads[HF_EXEC_PRIORITIES];
	pthread_cond_t changed; /* for those that pause or join */
	unsigned waiting;       /* for changed */
	unsigned paused_max;
	int64_t urgent_ns;
	bool no_nice;
	atomic_bool stopping;
};

static inline void hf_exec_wait_until(pthread_cond_t *cond, struct hf_exec *exec, int64_t until_ns)
{
	const struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};

	pthread_cond_timedwait(cond, &exec->lock, &until);
}

static inline enum hf_exec_priority hf_exec_priority(enum hf_work work)
{
	return work >= HF_WORK_INDEX ? HF_EXEC_BACKGROUND : HF_EXEC_FOREGROUND;
}

static inline struct hf_exec_threads *hf_exec_threads_of(const struct hf_job *job)
{
	return &job->exec->threads[hf_exec_priority(job->work)];
}

static inline struct hf_exec_work *hf_exec_work_of(const struct hf_job *job)
{
	return &job->exec->work[job->work];
}

/* Wakes who waits for changed. */
static inline void hf_exec_tell_changed(struct hf_exec *exec)
{
	if (exec->waiting)
		pthread_cond_broadcast(&exec->changed);
}

/* ---- exec_queue.c ---- */

/* Behind those that are as urgent. */
void hf_queue_add(struct hf_job *job);
/* To wait until job->due_ns. */
void hf_queue_add_delayed(struct hf_job *job);
/* Queues delayed jobs whose time has come. */
void hf_queue_add_due(struct hf_exec_threads *threads);
void hf_queue_remove(struct hf_job *job);
/* The job must be in no queue. */
void hf_queue_set_urgency(struct hf_job *job, enum hf_urgency urgency);
/* Whether a more urgent job, or (equals) an equally urgent paused one, wants a seat. */
bool hf_queue_is_wanted_before(const struct hf_exec_work *work, enum hf_urgency urgency, bool equals);
/* The job to run next on a thread of that priority, or NULL. */
struct hf_job *hf_queue_next(struct hf_exec *exec, enum hf_exec_priority priority);
/* A job that waits in a queue, or NULL. */
struct hf_job *hf_queue_any(struct hf_exec *exec);

/* ---- exec.c ---- */

/* Starts threads: one for each job that could run, and one that waits for the next due time. No error if it fails. */
void hf_exec_start_if_needed(struct hf_exec *exec, enum hf_exec_priority priority);
/* Cancels a queued job. Releases the lock meanwhile; the job may be gone afterwards. */
void hf_exec_end_queued(struct hf_exec *exec, struct hf_job *job);

#endif
