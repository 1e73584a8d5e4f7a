/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the executor share: exec_queue.c says which job is next, exec.c has the threads that run it, and on
 * these stand exec_job.c (what an owner does with a job) and exec_seats.c (what a job that runs does with its seat).
 * All is called with the executor's lock held.
 */
#ifndef HF_INDEX_EXEC_INTERNAL_H
#define HF_INDEX_EXEC_INTERNAL_H

#include "index/exec/job.h"
#include "index/base/lock.h"

#include <pthread.h>
#include <time.h>

/* Of threads: work of low priority must not take those of reads, since a thread cannot raise its priority again. */
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

/* To whoever waits for changed. */
static inline void hf_exec_tell_changed(struct hf_exec *exec)
{
	if (exec->waiting)
		pthread_cond_broadcast(&exec->changed);
}

/* ---- exec_queue.c ---- */

/* By its urgency now, behind those that are as urgent. */
void hf_queue_add(struct hf_job *job);
/* Until job->due_ns. */
void hf_queue_add_delayed(struct hf_job *job);
/* Those whose time has come. */
void hf_queue_add_due(struct hf_exec_threads *threads);
void hf_queue_remove(struct hf_job *job);
/* Of a job that is in no queue. */
void hf_queue_set_urgency(struct hf_job *job, enum hf_urgency urgency);
/* Whether somebody more urgent, or as urgent and (paused) earlier, wants the seat first. */
bool hf_queue_is_wanted_before(const struct hf_exec_work *work, enum hf_urgency urgency, bool equals);
/* The job to run next on a thread of that priority, or NULL. */
struct hf_job *hf_queue_next(struct hf_exec *exec, enum hf_exec_priority priority);
/* A job that waits in a queue, or NULL. */
struct hf_job *hf_queue_any(struct hf_exec *exec);

/* ---- exec.c ---- */

/* One thread for each job that could run, and one that waits for the next time. What cannot be started is not missed.
 */
void hf_exec_start_if_needed(struct hf_exec *exec, enum hf_exec_priority priority);
/* Cancels one that is queued. Gives up the lock; the job may be gone afterwards. */
void hf_exec_end_queued(struct hf_exec *exec, struct hf_job *job);

#endif
