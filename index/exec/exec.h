/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor runs all work that is not done at once, as jobs. A job is embedded in the struct that it is about. Jobs
 * wait in order of urgency, and threads are started as needed. Each kind of work has a bounded number of seats: so many
 * jobs run at a time. Reading and serving have threads of their own, other work has threads of low priority.
 *
 * No job may wait for a job that may not have begun: it returns HF_JOB_ASIDE, and what it needs submits it again.
 */
#ifndef HF_INDEX_EXEC_H
#define HF_INDEX_EXEC_H

#include "index/exec/job.h"

/* A member that is 0 has its default: for seats the number of cores. */
enum { HF_PAUSED_MAX = 8 };
#define HF_URGENT_NS (INT64_C(2) * 1000000000)

struct hf_exec_limits {
	unsigned seats[HF_WORKS]; /* how many jobs of each kind run at the same time */
	unsigned paused;          /* how many jobs pause at the same time, of one kind */
	int64_t urgent_ns;        /* so long a running job stays urgent */
	bool no_nice;             /* all threads have the process's priority */
};

/* Cores this process may use, which taskset and containers make fewer than there are. */
unsigned hf_exec_cores(void);

/* HF_ERR_NOMEM: not even one thread of each priority can be started. */
int hf_exec_new(const struct hf_exec_limits *limits, struct hf_exec **ret_exec);
/* Cancels waiting jobs, tells running ones to end, and joins the threads. A job submitted later is cancelled. */
void hf_exec_stop(struct hf_exec *exec);
/* Stops and frees it (may be NULL). No job may be put aside any more. */
void hf_exec_free(struct hf_exec *exec);
unsigned hf_exec_seats(const struct hf_exec *exec, enum hf_work work);
/* Jobs of that kind that are queued, running or put aside. */
size_t hf_exec_load(struct hf_exec *exec, enum hf_work work, enum hf_urgency urgency);
/* Paused jobs check whether they are still wanted. */
void hf_exec_wake(struct hf_exec *exec);

/*
 * Queues the job, to run after delay_ns nanoseconds (0: at once). A queued job keeps the earlier of the two times; a
 * running one runs once more, without done in between. After hf_exec_stop this calls done itself: no lock may be held
 * that done takes.
 */
void hf_job_submit(struct hf_exec *exec, struct hf_job *job);
void hf_job_submit_after(struct hf_exec *exec, struct hf_job *job, int64_t delay_ns);
/* Makes a queued or paused job urgent and due. A running one stays as it is, or it could never be interrupted. */
void hf_job_hurry(struct hf_job *job);
/* Ends a queued job, and returns true. Tells a running one to end. */
bool hf_job_cancel(struct hf_job *job);
/* Waits until neither the job nor its done is queued or running. A job may only join one that it has cancelled. */
void hf_job_join(struct hf_job *job);
/* For fn, at the bounds of chunks: whether to end with HF_ERR_CANCELLED. */
bool hf_job_stopping(const struct hf_job *job);
/*
 * For fn, at the bounds of chunks. must_give_way: whether all seats are taken and a more urgent job waits for one.
 * give_way: sleeps until there is a seat that no more urgent job wants, or it is stopped, or stop (may be NULL) says
 * so; returns the nanoseconds. An urgent job becomes ordinary after limits.urgent_ns. At most limits.paused jobs pause;
 * then more urgent ones wait for a seat.
 */
bool hf_job_must_give_way(struct hf_job *job);
int64_t hf_job_give_way(struct hf_job *job, const struct hf_stop *stop);
/* Around a wait for another running job: frees the seat meanwhile, unless too many jobs do so. job may be NULL. */
bool hf_job_leave_seat(struct hf_job *job);
void hf_job_take_seat(struct hf_job *job, bool left);
/* Before such a wait: whether the job must end instead. That is for spare jobs, when so many have left their seats that
 * it could not leave its own, or other jobs soon could not. job may be NULL. */
bool hf_job_gives_up(struct hf_job *job);
/* The job that runs on the calling thread, or NULL. */
struct hf_job *hf_job_here(void);

#endif
