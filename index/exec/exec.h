/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor: all work that is not done on the spot is a job of it. Jobs are embedded in what they are about, wait in
 * order of urgency, and run on threads that are started when they are needed. Each kind of work has a bounded number of
 * seats; reading and serving have threads of their own, all other work runs on threads of low priority.
 *
 * No job may wait for the work of a job that may not have begun. What it needs wakes it up: HF_JOB_ASIDE.
 */
#ifndef HF_INDEX_EXEC_H
#define HF_INDEX_EXEC_H

#include "index/exec/job.h"

/* What is not said (0) is as many seats as there are cores, or one of these. */
enum { HF_PAUSED_MAX = 8 };
#define HF_URGENT_NS (INT64_C(2) * 1000000000)

struct hf_exec_limits {
	unsigned seats[HF_WORKS]; /* how many jobs of each kind run at the same time */
	unsigned paused;          /* how many jobs pause at the same time, of one kind */
	int64_t urgent_ns;        /* so long a job that runs is urgent */
	bool no_nice;             /* all threads are of the process's priority */
};

/* Cores this process may use, which taskset and containers make fewer than there are. */
unsigned hf_exec_cores(void);

/* HF_ERR_NOMEM: not even one thread of each priority can be started. */
int hf_exec_new(const struct hf_exec_limits *limits, struct hf_exec **ret_exec);
/* Cancels what waits, tells what runs that it is to end, and joins the threads. From then on submitting cancels. */
void hf_exec_stop(struct hf_exec *exec);
/* Stops it. No job may be put aside any more. May be NULL. */
void hf_exec_free(struct hf_exec *exec);
unsigned hf_exec_seats(const struct hf_exec *exec, enum hf_work work);
/* Jobs of that kind that are queued, running or put aside. */
size_t hf_exec_load(struct hf_exec *exec, enum hf_work work, enum hf_urgency urgency);
/* Jobs that pause look whether they are still wanted. */
void hf_exec_wake(struct hf_exec *exec);

/*
 * Queues the job, not to run before delay_ns nanoseconds have passed (0: at once). One that is queued stays so, for the
 * earlier of the two times; one that is running runs once more, without done in between. After hf_exec_stop done is
 * called before this returns, so that no lock may be held that done takes.
 */
void hf_job_submit(struct hf_exec *exec, struct hf_job *job);
void hf_job_submit_after(struct hf_exec *exec, struct hf_job *job, int64_t delay_ns);
/* One that is queued or paused becomes urgent, and due; one that runs stays as it is, or it could never be interrupted.
 */
void hf_job_hurry(struct hf_job *job);
/* One that is queued is done: true. One that runs is told to end. */
bool hf_job_cancel(struct hf_job *job);
/* Waits until the job is neither queued nor running, nor its done. A job may only wait for one that it has cancelled.
 */
void hf_job_join(struct hf_job *job);
/* For fn, at the bounds of chunks: whether to end with HF_ERR_CANCELLED. */
bool hf_job_stopping(const struct hf_job *job);
/*
 * For fn, at the bounds of chunks: whether it is to give way, since all seats are taken and a more urgent job waits for
 * one. Then it pauses: it sleeps until there is a seat that no more urgent one wants, or it is stopped, or stop (may be
 * NULL) says so. An urgent one becomes ordinary when it has run for limits.urgent_ns. Only limits.paused pause: then
 * others wait for a seat. Returns how many nanoseconds it paused.
 */
bool hf_job_must_give_way(struct hf_job *job);
int64_t hf_job_give_way(struct hf_job *job, const struct hf_stop *stop);
/* Around a wait for another job that is running: its seat is free meanwhile, if not too many do so. job may be NULL. */
bool hf_job_leave_seat(struct hf_job *job);
void hf_job_take_seat(struct hf_job *job, bool left);
/* Before such a wait: whether the job is to end instead. A spare one is, where so many are away that it would keep its
 * seat, or one that is not spare soon would. job may be NULL. */
bool hf_job_gives_up(struct hf_job *job);
/* The job that runs on the calling thread, or NULL. */
struct hf_job *hf_job_here(void);

#endif
