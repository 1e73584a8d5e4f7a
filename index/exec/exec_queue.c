/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that wait, in order of urgency or until their time, and which of them is next. */
#include "index/base/lock.h"
#include "index/exec/exec_internal.h"

/* before NULL: as the first. */
static void link_behind(struct hf_exec_queue *queue, struct hf_job *before, struct hf_job *job)
{
	job->prev = before;
	job->next = before ? before->next : queue->first;
	*(job->prev ? &job->prev->next : &queue->first) = job;
	*(job->next ? &job->next->prev : &queue->last) = job;
}

static void unlink_job(struct hf_exec_queue *queue, struct hf_job *job)
{
	*(job->prev ? &job->prev->next : &queue->first) = job->next;
	*(job->next ? &job->next->prev : &queue->last) = job->prev;
}

void hf_queue_add(struct hf_job *job)
{
	struct hf_exec_work *work = hf_exec_work_of(job);

	job->delayed = false;
	link_behind(&work->queue[job->now], work->queue[job->now].last, job);
	work->queued[job->now]++;
}

void hf_queue_remove(struct hf_job *job)
{
	struct hf_exec_work *work = hf_exec_work_of(job);

	if (job->delayed) {
		unlink_job(&hf_exec_threads_of(job)->delayed, job);
		return;
	}
	unlink_job(&work->queue[job->now], job);
	work->queued[job->now]--;
}

void hf_queue_add_delayed(struct hf_job *job)
{
	struct hf_exec_queue *queue = &hf_exec_threads_of(job)->delayed;
	struct hf_job *before = queue->last;

	while (before && before->due_ns > job->due_ns)
		before = before->prev;
	job->delayed = true;
	link_behind(queue, before, job);
}

void hf_queue_add_due(struct hf_exec_threads *threads)
{
	struct hf_job *job = threads->delayed.first;
	const int64_t now = job ? hf_now_ns() : 0;

	for (; job && job->due_ns <= now; job = threads->delayed.first) {
		unlink_job(&threads->delayed, job);
		hf_queue_add(job);
	}
}

void hf_queue_set_urgency(struct hf_job *job, enum hf_urgency urgency)
{
	struct hf_exec_work *work = hf_exec_work_of(job);

	work->load[job->now]--;
	work->load[urgency]++;
	if (job->paused) {
		work->paused[job->now]--;
		work->paused[urgency]++;
	}
	job->now = urgency;
}

bool hf_queue_is_wanted_before(const struct hf_exec_work *work, enum hf_urgency urgency, bool equals)
{
	for (unsigned u = 0; u < urgency + (equals ? 1u : 0u); u++)
		if (work->paused[u] || (u < urgency && work->queued[u]))
			return true;
	return false;
}

/* The most urgent job of the kind that may run now. None begins before paused ones go on. */
static struct hf_job *next_of(struct hf_exec_work *work)
{
	for (unsigned u = 0; u < HF_URGENCIES; u++)
		if (work->queue[u].first && work->running < work->seats)
			return hf_queue_is_wanted_before(work, u, true) ? NULL : work->queue[u].first;
	return NULL;
}

struct hf_job *hf_queue_next(struct hf_exec *exec, enum hf_exec_priority priority)
{
	struct hf_job *job = NULL;

	for (unsigned i = 0; i < HF_WORKS && !job; i++)
		if (hf_exec_priority(i) == priority)
			job = next_of(&exec->work[i]);
	return job;
}

struct hf_job *hf_queue_any(struct hf_exec *exec)
{
	struct hf_job *job = NULL;

	for (unsigned i = 0; i < HF_EXEC_PRIORITIES && !job; i++)
		job = exec->threads[i].delayed.first;
	for (unsigned i = 0; i < HF_WORKS && !job; i++)
		for (unsigned u = 0; u < HF_URGENCIES && !job; u++)
			job = exec->work[i].queue[u].first;
	return job;
}
