/* SPDX-License-Identifier: Apache-2.0 */
#include "index/pass/pass_workers.h"

#include "index/base/lock.h"
#include "index/exec/exec.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* For smaller files threads are not worth starting. */
#define MANY_SIZE (UINT64_C(128) << 10)
/* Bytes of the stream that a run may be ahead of another. */
#define FAR (HF_SHARED_BYTES / 2)
/* So long the owner waits for others before it checks whether to tell the progress. */
#define NAP_NS 5000000L

struct helper {
	struct hf_job job;
	struct hf_pass_workers *workers;
	unsigned number; /* from 1 */
};

struct hf_pass_workers {
	struct hf_pass *pass;
	pthread_t owner;   /* number 0: the thread that made them */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned waiting;  /* threads that wait for changed */
	unsigned allowed;  /* threads, the owner among them */
	bool stop;
	int err;           /* the first one, of failed */
	struct hf_pass_run *failed;
	struct hf_pass_run *run[HF_WORKERS_RUNS];
	size_t run_count;
	struct hf_pass_run *turn; /* the one that is written */
	size_t started;
	struct helper helper[HF_WORKERS_THREADS - 1];
};

/* With the lock, when something may be ready. */
static void wake(struct hf_pass_workers *workers)
{
	if (workers->waiting)
		pthread_cond_broadcast(&workers->changed);
}

/* With the lock. */
static void sleep_on(struct hf_pass_workers *workers)
{
	workers->waiting++;
	pthread_cond_wait(&workers->changed, &workers->lock);
	workers->waiting--;
}

size_t hf_pass_workers_ahead(const struct hf_pass_workers *workers)
{
	return workers->allowed < HF_WORKERS_RUNS ? workers->allowed - 1 : HF_WORKERS_RUNS - 1;
}

static uint64_t reach_of(const struct hf_pass_run *run)
{
	return atomic_load_explicit(&run->reach, memory_order_relaxed);
}

/*
 * With the lock. A run that is FAR ahead of another waits: further decompressed blocks would not be kept until the
 * other gets there. It does not wait for one that cannot go on.
 */
static bool is_far_ahead(const struct hf_pass_workers *workers, const struct hf_pass_run *run, unsigned thread)
{
	for (size_t i = 0; i < workers->run_count; i++) {
		struct hf_pass_run *other = workers->run[i];

		if (!other->ended && reach_of(run) > reach_of(other) + FAR &&
		    (!hf_pass_run_is_idle(other) || hf_pass_run_ready(other, thread, true)))
			return true;
	}
	return false;
}

/*
 * With the lock, without other threads: a stage of the run that is written, for others' rows would only wait; of runs
 * that share a container the one furthest behind.
 */
static struct hf_stage *pick_alone(struct hf_pass_workers *workers)
{
	struct hf_stage *best = NULL;

	for (size_t i = 0; i < workers->run_count; i++) {
		struct hf_pass_run *run = workers->run[i];
		struct hf_stage *stage = NULL;

		if (run == workers->turn || run->in->box)
			stage = hf_pass_run_ready(run, 0, true);
		if (stage && (!best || reach_of(run) < reach_of(best->run)))
			best = stage;
	}
	return best;
}

/* With the lock. */
static struct hf_stage *pick(struct hf_pass_workers *workers, unsigned thread)
{
	struct hf_stage *stage = NULL;

	if (workers->err || thread >= workers->allowed)
		return NULL;
	if (workers->allowed == 1)
		return pick_alone(workers);
	/* Each thread looks first at another run: what one has decoded is not in the caches of the others. */
	for (size_t i = 0; i < workers->run_count && !stage; i++) {
		struct hf_pass_run *run = workers->run[(i + thread) % workers->run_count];

		stage = hf_pass_run_ready(run, thread, !is_far_ahead(workers, run, thread));
	}
	return stage;
}

/* With the lock, which it releases meanwhile. */
static void run_stage(struct hf_pass_workers *workers, unsigned thread, struct hf_stage *stage)
{
	int err;

	stage->running = true;
	stage->last = thread;
	pthread_mutex_unlock(&workers->lock);
	err = hf_pass_run_work(stage->run, stage);
	pthread_mutex_lock(&workers->lock);
	stage->running = false;
	err = hf_pass_run_worked(stage->run, stage, err);
	if (err && !workers->err) {
		workers->err = err;
		workers->failed = stage->run;
	}
	wake(workers);
}

/* Runs until the pass ends; between stages it waits for those that others are running. */
static int help(struct hf_job *job, struct hf_worker *worker)
{
	const struct helper *helper = (const struct helper *)job;
	struct hf_pass_workers *workers = helper->workers;
	struct hf_stage *stage;

	(void)worker;
	HF_LOCKED(&workers->lock);
	while (!workers->stop) {
		stage = pick(workers, helper->number);
		if (stage)
			run_stage(workers, helper->number, stage);
		else
			sleep_on(workers);
	}
	return 0;
}

/* Asks how many threads may work now, and starts missing ones. It is no error if one cannot be started. */
static void ask_allowed(struct hf_pass_workers *workers)
{
	const struct hf_build *build = workers->pass->build;
	unsigned allowed = workers->pass->many ? build->threads(build->ctx) : 1;

	if (allowed < 1)
		allowed = 1;
	if (allowed > HF_WORKERS_THREADS)
		allowed = HF_WORKERS_THREADS;
	while (build->exec && workers->started + 1 < allowed) {
		struct helper *helper = &workers->helper[workers->started];

		*helper = (struct helper){.job = {.fn = help, .work = HF_WORK_HELP, .urgency = HF_LATER},
					  .workers = workers,
					  .number = (unsigned)workers->started + 1};
		hf_job_submit(build->exec, &helper->job);
		workers->started++;
	}
	HF_LOCKED(&workers->lock);
	if (workers->allowed != allowed) {
		workers->allowed = allowed;
		wake(workers);
	}
}

int hf_pass_workers_new(struct hf_pass *pass, struct hf_pass_workers **ret_workers)
{
	struct hf_pass_workers *workers = calloc(1, sizeof *workers);
	pthread_condattr_t attr;

	*ret_workers = workers;
	if (!workers)
		return HF_ERR_NOMEM;
	workers->pass = pass;
	workers->owner = pthread_self();
	workers->allowed = 1;
	pass->many = pass->build->threads && (pass->build->every || pass->build->identity.size >= MANY_SIZE);
	pthread_mutex_init(&workers->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&workers->changed, &attr);
	pthread_condattr_destroy(&attr);
	ask_allowed(workers);
	return 0;
}

void hf_pass_workers_stop(struct hf_pass_workers *workers)
{
	if (!workers)
		return;
	pthread_mutex_lock(&workers->lock);
	workers->stop = true;
	pthread_cond_broadcast(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
	for (size_t i = 0; i < workers->started; i++) {
		/* A helper that has not begun must not begin. */
		hf_job_cancel(&workers->helper[i].job);
		hf_job_join(&workers->helper[i].job);
	}
	workers->started = 0;
}

void hf_pass_workers_free(struct hf_pass_workers *workers)
{
	if (!workers)
		return;
	hf_pass_workers_stop(workers);
	for (size_t i = 0; i < workers->run_count; i++)
		hf_pass_run_free(workers->run[i]);
	pthread_cond_destroy(&workers->changed);
	pthread_mutex_destroy(&workers->lock);
	free(workers);
}

int hf_pass_workers_add(struct hf_pass_workers *workers, struct hf_pass_run *run)
{
	if (workers->run_count == HF_WORKERS_RUNS) {
		hf_pass_run_free(run);
		return HF_ERR_BUG;
	}
	HF_LOCKED(&workers->lock);
	workers->run[workers->run_count++] = run;
	wake(workers);
	return 0;
}

void hf_pass_workers_remove(struct hf_pass_workers *workers, struct hf_pass_run *run)
{
	HF_LOCKED(&workers->lock);
	/* The run has ended, but a thread may still be leaving it. */
	while (!hf_pass_run_is_idle(run))
		sleep_on(workers);
	for (size_t i = 0; i < workers->run_count; i++) {
		if (workers->run[i] != run)
			continue;
		workers->run_count--;
		for (; i < workers->run_count; i++)
			workers->run[i] = workers->run[i + 1];
	}
	workers->turn = NULL;
}

void hf_pass_workers_set_turn(struct hf_pass_workers *workers, struct hf_pass_run *run)
{
	HF_LOCKED(&workers->lock);
	workers->turn = run;
}

struct hf_pass_run *hf_pass_workers_turn(const struct hf_pass_workers *workers)
{
	return workers->turn;
}

void hf_pass_workers_take_rows(struct hf_pass_workers *workers, struct hf_row_queue *queue)
{
	hf_row_queue_take(queue, &workers->turn->rows);
	/* The decoding stage may have waited for that room. */
	HF_LOCKED(&workers->lock);
	wake(workers);
}

bool hf_pass_workers_are_ours(const struct hf_pass_workers *workers)
{
	return pthread_equal(workers->owner, pthread_self());
}

/* With the lock: sleeps until something changes, but not for long. */
static void nap(struct hf_pass_workers *workers)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += NAP_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	workers->waiting++;
	pthread_cond_timedwait(&workers->changed, &workers->lock, &until);
	workers->waiting--;
}

int hf_pass_workers_work(struct hf_pass_workers *workers)
{
	struct hf_diag *diag = workers->pass->diag;
	struct hf_stage *stage;
	int err;

	if (workers->pass->many)
		ask_allowed(workers);
	pthread_mutex_lock(&workers->lock);
	stage = pick(workers, 0);
	if (stage)
		run_stage(workers, 0, stage);
	else if (!workers->err && !hf_pass_run_waiting(workers->turn))
		nap(workers);
	err = workers->err;
	pthread_mutex_unlock(&workers->lock);
	if (err && diag && workers->failed->diag.code == err)
		*diag = workers->failed->diag;
	return err;
}

static int keep_stage(struct hf_pass_workers *workers, struct hf_stage *stage)
{
	int err;

	pthread_mutex_lock(&workers->lock);
	while (stage->running)
		sleep_on(workers);
	stage->running = true;
	pthread_mutex_unlock(&workers->lock);
	err = stage->ops->keep(stage, false);
	pthread_mutex_lock(&workers->lock);
	stage->running = false;
	wake(workers);
	pthread_mutex_unlock(&workers->lock);
	return err;
}

int hf_pass_workers_keep(struct hf_pass_workers *workers)
{
	struct hf_pass_run *run = workers->turn;
	int err = 0;

	for (size_t i = 0; run && i < run->stage_count && !err; i++)
		if (run->stages[i]->ops->keep)
			err = keep_stage(workers, run->stages[i]);
	return err;
}

size_t hf_pass_workers_sum(const struct hf_pass_workers *workers, uint64_t *ret_pos, uint64_t *ret_insns)
{
	const uint64_t size = workers->pass->build->identity.size;

	*ret_pos = *ret_insns = 0;
	/* Without the lock: only this thread changes the list. */
	for (size_t i = 0; i < workers->run_count; i++) {
		uint64_t pos = atomic_load_explicit(&workers->run[i]->pos, memory_order_relaxed);

		*ret_pos += pos < size ? pos : size;
		*ret_insns += atomic_load_explicit(&workers->run[i]->insns, memory_order_relaxed);
	}
	return workers->run_count;
}
