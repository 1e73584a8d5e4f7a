/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/jobs.h"
#include "codecs/base/errors.h"
#include "fs/capture/captures.h"

#include <stddef.h>
#include <stdlib.h>

/* Between two looks whether another process has finished a capture. */
#define AGAIN_NS (INT64_C(500) * 1000000)

static int run_index(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_capture *capture = HF_OWNER(job, struct hf_capture, job);
	struct hf_captures *all = capture->all;
	struct hf_diag diag;
	int err;

	(void)worker;
	if (hf_stopping(all->common))
		return HF_ERR_CANCELLED;
	err = hf_capture_index(capture, false, NULL, NULL, NULL, &diag);
	/* Another process is at it, the file changed meanwhile and perhaps goes on changing, or memory or descriptors
	 * ran out; if that happened too often it is not queued any more. */
	if (!hf_stopping(all->common) && (err == HF_ERR_BUSY || err == HF_ERR_CHANGED || err == HF_ERR_CANCELLED ||
			     hf_err_is_shortage(err)))
		hf_jobs_add_after(capture, false, AGAIN_NS);
	return err;
}

static bool is_idle(struct hf_captures *all)
{
	return !all->jobs.walking && !hf_exec_load(all->common->exec, HF_WORK_INDEX, HF_URGENT) &&
	       !hf_exec_load(all->common->exec, HF_WORK_INDEX, HF_LATER);
}

static void look_if_idle(struct hf_captures *all)
{
	struct hf_jobs *jobs = &all->jobs;

	HF_LOCKED(&jobs->lock);
	if (is_idle(all)) {
		pthread_cond_broadcast(&jobs->idle);
		if (jobs->on_idle)
			hf_job_submit(all->common->exec, &jobs->tell_idle);
	}
}

static void end_index(struct hf_job *job, int err)
{
	struct hf_capture *capture = HF_OWNER(job, struct hf_capture, job);

	(void)err;
	look_if_idle(capture->all);
}

static int run_notice(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_capture *capture = HF_OWNER(job, struct hf_capture, notice);

	(void)worker;
	capture->all->on_change(capture->all->ctx, capture);
	return 0;
}

static bool add_found(void *ctx, const char *path, const char *view_dir)
{
	struct hf_captures *all = ctx;
	struct hf_capture *capture;
	struct hf_facts *facts;

	(void)view_dir;
	if (hf_stopping(all->common))
		return false;
	/* Either there is an index of it already, or this queues it. */
	if (!hf_capture_at(all, path, &capture) && !hf_capture_facts(capture, 0, &facts))
		hf_facts_unref(facts);
	return true;
}

static struct hf_captures *all_of(struct hf_jobs *jobs)
{
	return HF_OWNER(jobs, struct hf_captures, jobs);
}

static int run_walk(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_captures *all = all_of(HF_OWNER(job, struct hf_jobs, walk));

	(void)worker;
	return all->each(all->ctx, add_found, all);
}

static void end_walk(struct hf_job *job, int err)
{
	struct hf_jobs *jobs = HF_OWNER(job, struct hf_jobs, walk);

	(void)err;
	pthread_mutex_lock(&jobs->lock);
	jobs->walking = false;
	pthread_mutex_unlock(&jobs->lock);
	look_if_idle(all_of(jobs));
}

static int run_tell_idle(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_jobs *jobs = HF_OWNER(job, struct hf_jobs, tell_idle);
	void (*on_idle)(void *ctx) = NULL;

	(void)worker;
	pthread_mutex_lock(&jobs->lock);
	/* Jobs that were cancelled because all is to end have left nothing done. */
	if (is_idle(all_of(jobs)) && !hf_stopping(all_of(jobs)->common)) {
		on_idle = jobs->on_idle;
		jobs->on_idle = NULL;
	}
	pthread_mutex_unlock(&jobs->lock);
	if (on_idle)
		on_idle(jobs->on_idle_ctx);
	return 0;
}

void hf_jobs_init(struct hf_captures *all)
{
	struct hf_jobs *jobs = &all->jobs;

	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->idle, NULL);
	all->index_job = (struct hf_job){
		.fn = run_index, .done = end_index, .work = HF_WORK_INDEX, .urgency = HF_LATER};
	all->notice_job = (struct hf_job){.fn = run_notice, .work = HF_WORK_SERVE};
	jobs->walk = (struct hf_job){.fn = run_walk, .done = end_walk, .work = HF_WORK_CHORE};
	jobs->tell_idle = (struct hf_job){.fn = run_tell_idle, .work = HF_WORK_CHORE};
}

void hf_jobs_stop(struct hf_captures *all)
{
	struct hf_jobs *jobs = &all->jobs;

	HF_LOCKED(&jobs->lock);
	jobs->stop = true;
	jobs->on_idle = NULL;
	pthread_cond_broadcast(&jobs->idle);
}

void hf_jobs_fini(struct hf_captures *all)
{
	pthread_mutex_destroy(&all->jobs.lock);
	pthread_cond_destroy(&all->jobs.idle);
}

void hf_captures_index_all(struct hf_captures *all)
{
	struct hf_jobs *jobs = &all->jobs;
	bool begin;

	pthread_mutex_lock(&jobs->lock);
	begin = !jobs->walking && !jobs->stop;
	jobs->walking |= begin;
	pthread_mutex_unlock(&jobs->lock);
	if (begin)
		hf_job_submit(all->common->exec, &jobs->walk);
}

void hf_captures_idle(struct hf_captures *all)
{
	struct hf_jobs *jobs = &all->jobs;

	HF_LOCKED(&jobs->lock);
	while (!is_idle(all) && !jobs->stop)
		pthread_cond_wait(&jobs->idle, &jobs->lock);
}

void hf_captures_when_idle(struct hf_captures *all, void (*fn)(void *ctx), void *ctx)
{
	struct hf_jobs *jobs = &all->jobs;

	pthread_mutex_lock(&jobs->lock);
	jobs->on_idle = fn;
	jobs->on_idle_ctx = ctx;
	pthread_mutex_unlock(&jobs->lock);
	look_if_idle(all);
}

bool hf_jobs_searching(struct hf_captures *all)
{
	HF_LOCKED(&all->jobs.lock);
	return all->jobs.walking;
}
