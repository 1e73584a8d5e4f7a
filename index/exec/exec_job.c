/* SPDX-License-Identifier: Apache-2.0 */
/* What the owner of a job does with it: submitting, hurrying, cancelling and joining. */
#include "index/base/lock.h"
#include "index/exec/exec_internal.h"

#include "index/exec/exec.h"

/* Puts the job into the queue or among the delayed ones. */
static void place(struct hf_job *job, int64_t due_ns)
{
	job->state = HF_JOB_QUEUED;
	job->due_ns = due_ns;
	if (due_ns)
		hf_queue_add_delayed(job);
	else
		hf_queue_add(job);
	hf_exec_start_if_needed(job->exec, hf_exec_priority(job->work));
}

void hf_job_submit(struct hf_exec *exec, struct hf_job *job)
{
	hf_job_submit_after(exec, job, 0);
}

void hf_job_submit_after(struct hf_exec *exec, struct hf_job *job, int64_t delay_ns)
{
	const int64_t due_ns = delay_ns ? hf_now_ns() + delay_ns : 0;
	bool refused = false;

	pthread_mutex_lock(&exec->lock);
	job->exec = exec;
	switch ((enum hf_job_state)job->state) {
	case HF_JOB_RUNNING:
	case HF_JOB_STOPPING:
		if (!job->again || due_ns < job->due_ns)
			job->due_ns = due_ns;
		job->again = true;
		break;
	case HF_JOB_QUEUED:
		if (due_ns < job->due_ns && job->delayed) {
			hf_queue_remove(job);
			place(job, due_ns);
		}
		break;
	default:
		refused = exec->stopping;
		if (job->state != HF_JOB_WAITING) {
			job->now = job->urgency;
			hf_exec_work_of(job)->load[job->now] += !refused;
		} else if (refused) {
			hf_exec_work_of(job)->load[job->now]--;
		}
		if (refused)
			job->state = HF_JOB_DONE;
		else
			place(job, due_ns);
	}
	pthread_mutex_unlock(&exec->lock);
	if (refused && job->done)
		job->done(job, HF_ERR_CANCELLED);
}

void hf_job_hurry(struct hf_job *job)
{
	struct hf_exec *exec = job->exec;

	if (!exec)
		return;
	HF_LOCKED(&exec->lock);
	if (job->state == HF_JOB_QUEUED && (job->now != HF_URGENT || job->delayed)) {
		hf_queue_remove(job);
		hf_queue_set_urgency(job, HF_URGENT);
		place(job, 0);
	} else if (job->paused) {
		hf_queue_set_urgency(job, HF_URGENT);
		hf_exec_tell_changed(exec);
	}
}

bool hf_job_cancel(struct hf_job *job)
{
	struct hf_exec *exec = job->exec;

	if (!exec)
		return false;
	pthread_mutex_lock(&exec->lock);
	if (job->state == HF_JOB_QUEUED) {
		hf_exec_end_queued(exec, job);
		return true;
	}
	job->again = false;
	if (job->state == HF_JOB_RUNNING)
		job->state = HF_JOB_STOPPING;
	hf_exec_tell_changed(exec);
	pthread_mutex_unlock(&exec->lock);
	return false;
}

static bool is_under_way(const struct hf_job *job)
{
	if (job->state != HF_JOB_NEW && job->state != HF_JOB_DONE)
		return true;
	for (const struct hf_exec_thread *t = hf_exec_threads_of(job)->first; t; t = t->next)
		if (t->current == job)
			return true;
	return false;
}

void hf_job_join(struct hf_job *job)
{
	struct hf_exec *exec = job->exec;

	if (!exec)
		return;
	HF_LOCKED(&exec->lock);
	exec->waiting++;
	while (is_under_way(job))
		pthread_cond_wait(&exec->changed, &exec->lock);
	exec->waiting--;
}

bool hf_job_stopping(const struct hf_job *job)
{
	return job->state == HF_JOB_STOPPING || job->exec->stopping;
}
