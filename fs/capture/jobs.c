/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/jobs.h"
#include "codecs/base/errors.h"
#include "fs/base/common.h"
#include "fs/base/list.h"
#include "fs/capture/build.h"
#include "fs/facts/capture.h"
#include "fs/facts/queue.h"
#include "fs/facts/shared.h"
#include "fs/facts/table.h"

#include <stddef.h>

/* How long to wait before looking again whether another process has finished a capture. */
#define AGAIN_NS (INT64_C(500) * 1000000)

static int run_index(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_capture *capture = HF_OWNER(job, struct hf_capture, job);
	const struct hf_shared *shared = capture->shared;
	struct hf_diag diag;
	int err;

	(void)worker;
	if (hf_stopping(shared->common))
		return HF_ERR_CANCELLED;
	err = hf_capture_index(capture, false, NULL, NULL, NULL, &diag);
	/* Another process indexes it, the file changes, or memory or descriptors ran out: later. After too many such
	 * failures hf_jobs_add_after queues it no more. */
	if (!hf_stopping(shared->common) && (err == HF_ERR_BUSY || err == HF_ERR_CHANGED || err == HF_ERR_CANCELLED ||
			     hf_err_is_shortage(err)))
		hf_jobs_add_after(capture, false, AGAIN_NS);
	return err;
}

static bool is_idle(const struct hf_jobs *jobs)
{
	return !jobs->walking && !hf_exec_load(jobs->common->exec, HF_WORK_INDEX, HF_URGENT) &&
	       !hf_exec_load(jobs->common->exec, HF_WORK_INDEX, HF_LATER);
}

static void look_if_idle(struct hf_jobs *jobs)
{
	HF_LOCKED(&jobs->lock);
	if (is_idle(jobs)) {
		pthread_cond_broadcast(&jobs->idle);
		if (jobs->on_idle)
			hf_job_submit(jobs->common->exec, &jobs->tell_idle);
	}
}

static void end_index(struct hf_job *job, int err)
{
	(void)err;
	look_if_idle(HF_OWNER(job, struct hf_capture, job)->shared->jobs);
}

static int run_notice(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_capture *capture = HF_OWNER(job, struct hf_capture, notice);

	(void)worker;
	capture->shared->jobs->on_change(capture->shared->jobs->ctx, capture);
	return 0;
}

static int run_tell_idle(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_jobs *jobs = HF_OWNER(job, struct hf_jobs, tell_idle);
	void (*on_idle)(void *ctx) = NULL;

	(void)worker;
	pthread_mutex_lock(&jobs->lock);
	/* When the file system is closing, jobs were cancelled, and idle does not mean that the work is done. */
	if (is_idle(jobs) && !hf_stopping(jobs->common)) {
		on_idle = jobs->on_idle;
		jobs->on_idle = NULL;
	}
	pthread_mutex_unlock(&jobs->lock);
	if (on_idle)
		on_idle(jobs->on_idle_ctx);
	return 0;
}

void hf_jobs_init(struct hf_jobs *jobs, struct hf_common *common, struct hf_capture_table *table)
{
	jobs->common = common;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->idle, NULL);
	table->index_job = (struct hf_job){
		.fn = run_index, .done = end_index, .work = HF_WORK_INDEX, .urgency = HF_LATER};
	if (jobs->on_change)
		table->notice_job = (struct hf_job){.fn = run_notice, .work = HF_WORK_SERVE};
	jobs->tell_idle = (struct hf_job){.fn = run_tell_idle, .work = HF_WORK_CHORE};
}

void hf_jobs_stop(struct hf_jobs *jobs)
{
	HF_LOCKED(&jobs->lock);
	jobs->stop = true;
	jobs->on_idle = NULL;
	pthread_cond_broadcast(&jobs->idle);
}

void hf_jobs_fini(struct hf_jobs *jobs)
{
	pthread_mutex_destroy(&jobs->lock);
	pthread_cond_destroy(&jobs->idle);
}

bool hf_jobs_search_begins(struct hf_jobs *jobs)
{
	bool begin;

	HF_LOCKED(&jobs->lock);
	begin = !jobs->walking && !jobs->stop;
	jobs->walking |= begin;
	return begin;
}

void hf_jobs_search_ends(struct hf_jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->walking = false;
	pthread_mutex_unlock(&jobs->lock);
	look_if_idle(jobs);
}

void hf_jobs_idle(struct hf_jobs *jobs)
{
	HF_LOCKED(&jobs->lock);
	while (!is_idle(jobs) && !jobs->stop)
		pthread_cond_wait(&jobs->idle, &jobs->lock);
}

void hf_jobs_when_idle(struct hf_jobs *jobs, void (*fn)(void *ctx), void *ctx)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->on_idle = fn;
	jobs->on_idle_ctx = ctx;
	pthread_mutex_unlock(&jobs->lock);
	look_if_idle(jobs);
}

bool hf_jobs_searching(struct hf_jobs *jobs)
{
	HF_LOCKED(&jobs->lock);
	return jobs->walking;
}
