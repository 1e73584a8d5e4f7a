/* SPDX-License-Identifier: Apache-2.0 */
/* How a running job gives its seat to a more urgent one for a while, or leaves it while it waits. */
#include "index/base/lock.h"
#include "index/exec/exec_internal.h"

#include "codecs/source/source.h"
#include "index/exec/exec.h"

/* How often a paused job checks whether it is still wanted. */
#define LOOK_NS (INT64_C(1) * 1000000000)
/* Most jobs that have left their seats: readers of a capture whose storage stalls may be that many. */
enum { AWAY_MAX = 64 };
/* Most of them that are spare. */
enum { AWAY_SPARE_MAX = AWAY_MAX / 4 * 3 };

static bool must_pause(const struct hf_job *job)
{
	const struct hf_exec_work *work = hf_exec_work_of(job);
	unsigned paused = 0;
	bool swap = false; /* another paused job goes on instead */

	for (unsigned u = 0; u < HF_URGENCIES; u++) {
		paused += work->paused[u];
		swap = swap || (u < job->now && work->paused[u]);
	}
	return work->running >= work->seats && (paused < job->exec->paused_max || swap) &&
	       hf_queue_is_wanted_before(work, job->now, false);
}

static bool may_go_on(const struct hf_job *job, const struct hf_stop *stop)
{
	const struct hf_exec_work *work = hf_exec_work_of(job);

	return (work->running < work->seats && !hf_queue_is_wanted_before(work, job->now, false)) ||
	       hf_job_stopping(job) || (stop && hf_stop_wanted(stop));
}

/* With the lock held, which it releases meanwhile. */
static void pause_job(struct hf_job *job, const struct hf_stop *stop)
{
	struct hf_exec *exec = job->exec;
	struct hf_exec_work *work = hf_exec_work_of(job);

	job->paused = true;
	work->paused[job->now]++;
	work->running--;
	hf_exec_start_if_needed(exec, hf_exec_priority(job->work));
	exec->waiting++;
	pthread_cond_broadcast(&exec->changed);
	while (!may_go_on(job, stop))
		hf_exec_wait_until(&exec->changed, exec, hf_now_ns() + LOOK_NS);
	exec->waiting--;
	work->running++;
	work->paused[job->now]--;
	job->paused = false;
}

bool hf_job_must_give_way(struct hf_job *job)
{
	struct hf_exec *exec = job->exec;

	HF_LOCKED(&exec->lock);
	if (job->now == HF_URGENT && hf_now_ns() - job->since_ns >= exec->urgent_ns)
		hf_queue_set_urgency(job, HF_LATER);
	hf_queue_add_due(hf_exec_threads_of(job));
	return must_pause(job);
}

int64_t hf_job_give_way(struct hf_job *job, const struct hf_stop *stop)
{
	struct hf_exec *exec = job->exec;
	const int64_t begun = hf_now_ns();
	int64_t paused = 0;

	pthread_mutex_lock(&exec->lock);
	if (must_pause(job)) {
		pause_job(job, stop);
		job->since_ns = hf_now_ns();
		paused = job->since_ns - begun;
	}
	pthread_mutex_unlock(&exec->lock);
	return paused;
}

bool hf_job_leave_seat(struct hf_job *job)
{
	struct hf_exec_work *work;
	bool left;

	if (!job)
		return false;
	work = hf_exec_work_of(job);
	HF_LOCKED(&job->exec->lock);
	left = work->away < AWAY_MAX;
	if (left) {
		work->away++;
		work->running--;
		hf_exec_start_if_needed(job->exec, hf_exec_priority(job->work));
	}
	return left;
}

void hf_job_take_seat(struct hf_job *job, bool left)
{
	if (!left)
		return;
	HF_LOCKED(&job->exec->lock);
	hf_exec_work_of(job)->away--;
	hf_exec_work_of(job)->running++;
}

bool hf_job_gives_up(struct hf_job *job)
{
	if (!job || !job->spare)
		return false;
	HF_LOCKED(&job->exec->lock);
	job->gave_up = hf_exec_work_of(job)->away >= AWAY_SPARE_MAX;
	return job->gave_up;
}
