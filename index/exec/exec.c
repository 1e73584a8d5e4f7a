/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of the executor: one more is started when there is a job for it; all are joined at the end. */
#include "index/base/lock.h"
#include "index/exec/exec_internal.h"

#include "codecs/isa/disasm.h"
#include "codecs/source/source.h"
#include "index/exec/exec.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

/* A thread's scratch room above this is given back after the job: one huge chunk must not stay in every thread. */
#define SCRATCH_KEEP ((size_t)4 << 20)
/* Enough for LLVM and for windows on the stack; the default of 8 MiB a thread would count in limits on memory. */
#define STACK_BYTES ((size_t)2 << 20)
enum { NICE = 10 };

static _Thread_local struct hf_job *here;

struct hf_job *hf_job_here(void)
{
	return here;
}

static struct hf_job *take_job(struct hf_exec_thread *self)
{
	struct hf_exec *exec = self->exec;
	struct hf_exec_threads *threads = &exec->threads[self->priority];
	struct hf_job *job;

	for (;;) {
		hf_queue_add_due(threads);
		job = hf_queue_next(exec, self->priority);
		if (job || exec->stopping)
			break;
		threads->idle++;
		if (threads->delayed.first)
			hf_exec_wait_until(&threads->wake, exec, threads->delayed.first->due_ns);
		else
			pthread_cond_wait(&threads->wake, &exec->lock);
		threads->idle--;
	}
	if (!job)
		return NULL;
	hf_queue_remove(job);
	exec->work[job->work].running++;
	job->state = HF_JOB_RUNNING;
	job->since_ns = hf_now_ns();
	return job;
}

static void call(struct hf_exec_thread *self, struct hf_job *job)
{
	struct hf_worker *worker = &self->worker;
	struct hf_exec *exec = self->exec;
	struct hf_exec_work *work = hf_exec_work_of(job);
	int status;

	worker->env.symbols = NULL;
	here = job;
	status = job->fn(job, worker);
	here = NULL;
	if (worker->scratch_size > SCRATCH_KEEP) {
		free(worker->scratch);
		worker->scratch = NULL;
		worker->scratch_size = 0;
	}
	pthread_mutex_lock(&exec->lock);
	work->running--;
	if (job->again && exec->stopping)
		status = HF_ERR_CANCELLED;
	if (job->again && !exec->stopping) {
		job->again = false;
		hf_queue_set_urgency(job, job->urgency);
		job->state = HF_JOB_QUEUED;
		if (job->due_ns)
			hf_queue_add_delayed(job);
		else
			hf_queue_add(job);
		status = HF_JOB_ASIDE;
	} else if (status == HF_JOB_ASIDE) {
		job->state = HF_JOB_WAITING;
	} else {
		work->load[job->now]--;
		job->again = false;
		job->state = HF_JOB_DONE;
	}
	pthread_mutex_unlock(&exec->lock);
	if (status != HF_JOB_ASIDE && job->done)
		job->done(job, status);
}

/* On Linux a nice value is the thread's own. A lower priority that the process was given stays. */
static void lower_priority(void)
{
	if (getpriority(PRIO_PROCESS, 0) < NICE)
		setpriority(PRIO_PROCESS, 0, NICE);
}

static void *run(void *arg)
{
	struct hf_exec_thread *self = arg;
	struct hf_exec *exec = self->exec;
	struct hf_job *job;

	if (self->priority == HF_EXEC_BACKGROUND && !exec->no_nice)
		lower_priority();
	pthread_setname_np(pthread_self(), self->priority == HF_EXEC_BACKGROUND ? "hartfs-index" : "hartfs-decode");
	/* If there is no memory for the memo, jobs that need it try again. */
	if (self->priority == HF_EXEC_FOREGROUND)
		(void)hf_disasm_need(&self->worker.env.disasm);
	pthread_mutex_lock(&exec->lock);
	exec->threads[self->priority].idle--;
	while ((job = take_job(self))) {
		self->current = job;
		hf_exec_start_if_needed(exec, self->priority);
		pthread_mutex_unlock(&exec->lock);
		call(self, job);
		pthread_mutex_lock(&exec->lock);
		self->current = NULL;
		hf_exec_tell_changed(exec);
	}
	pthread_mutex_unlock(&exec->lock);
	hf_disasm_free(self->worker.env.disasm);
	free(self->worker.scratch);
	return NULL;
}

/* Signals are for the main thread: a new thread inherits the mask of the one that starts it. */
static bool start_thread(struct hf_exec *exec, enum hf_exec_priority priority)
{
	struct hf_exec_threads *threads = &exec->threads[priority];
	struct hf_exec_thread *thread = calloc(1, sizeof *thread);
	sigset_t all, before;
	pthread_attr_t attr;
	int err;

	if (!thread)
		return false;
	*thread = (struct hf_exec_thread){.exec = exec, .priority = priority, .next = threads->first};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	if (priority == HF_EXEC_FOREGROUND)
		pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = pthread_create(&thread->thread, &attr, run, thread);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		free(thread);
	threads->idle += !err; /* it will be, as soon as it has started */
	if (!err)
		threads->first = thread;
	return !err;
}

void hf_exec_start_if_needed(struct hf_exec *exec, enum hf_exec_priority priority)
{
	struct hf_exec_threads *threads = &exec->threads[priority];
	size_t need = threads->delayed.first ? 1 : 0;

	for (unsigned i = 0; i < HF_WORKS; i++) {
		const struct hf_exec_work *work = &exec->work[i];
		const size_t room = work->running < work->seats ? work->seats - work->running : 0;
		const size_t queued = work->queued[HF_URGENT] + work->queued[HF_LATER];

		if (hf_exec_priority(i) == priority)
			need += queued < room ? queued : room;
	}
	if (!need || exec->stopping)
		return;
	if (threads->idle)
		pthread_cond_signal(&threads->wake);
	if (need > threads->idle)
		start_thread(exec, priority);
}

unsigned hf_exec_cores(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
	return 1;
}

int hf_exec_new(const struct hf_exec_limits *limits, struct hf_exec **ret_exec)
{
	struct hf_exec *exec = *ret_exec = calloc(1, sizeof *exec);
	pthread_condattr_t attr;
	bool started = true;

	if (!exec)
		return HF_ERR_NOMEM;
	/* Not in a thread: at the end of the program the library would be unmapped below a thread that loads it. */
	hf_disasm_load();
	for (unsigned i = 0; i < HF_WORKS; i++)
		exec->work[i].seats = limits->seats[i] ? limits->seats[i] : hf_exec_cores();
	exec->paused_max = limits->paused ? limits->paused : HF_PAUSED_MAX;
	exec->no_nice = limits->no_nice;
	exec->urgent_ns = limits->urgent_ns ? limits->urgent_ns : HF_URGENT_NS;
	pthread_mutex_init(&exec->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&exec->changed, &attr);
	for (unsigned i = 0; i < HF_EXEC_PRIORITIES; i++)
		pthread_cond_init(&exec->threads[i].wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_lock(&exec->lock);
	for (unsigned i = 0; i < HF_EXEC_PRIORITIES && started; i++)
		started = start_thread(exec, i);
	pthread_mutex_unlock(&exec->lock);
	if (started)
		return 0;
	hf_exec_free(exec);
	*ret_exec = NULL;
	return HF_ERR_NOMEM;
}

void hf_exec_end_queued(struct hf_exec *exec, struct hf_job *job)
{
	hf_queue_remove(job);
	hf_exec_work_of(job)->load[job->now]--;
	job->state = HF_JOB_DONE;
	hf_exec_tell_changed(exec);
	pthread_mutex_unlock(&exec->lock);
	if (job->done)
		job->done(job, HF_ERR_CANCELLED);
}

void hf_exec_stop(struct hf_exec *exec)
{
	struct hf_job *job;

	pthread_mutex_lock(&exec->lock);
	exec->stopping = true;
	while ((job = hf_queue_any(exec))) {
		hf_exec_end_queued(exec, job);
		pthread_mutex_lock(&exec->lock);
	}
	pthread_cond_broadcast(&exec->changed);
	for (unsigned i = 0; i < HF_EXEC_PRIORITIES; i++)
		pthread_cond_broadcast(&exec->threads[i].wake);
	pthread_mutex_unlock(&exec->lock);
	for (unsigned i = 0; i < HF_EXEC_PRIORITIES; i++)
		for (struct hf_exec_thread *t = exec->threads[i].first; t; t = t->next)
			pthread_join(t->thread, NULL);
	/* Not before: a job's done may look through the threads to join another job. */
	for (unsigned i = 0; i < HF_EXEC_PRIORITIES; i++)
		for (struct hf_exec_thread *t = exec->threads[i].first; t; t = exec->threads[i].first) {
			exec->threads[i].first = t->next;
			free(t);
		}
}

void hf_exec_free(struct hf_exec *exec)
{
	if (!exec)
		return;
	hf_exec_stop(exec);
	for (unsigned i = 0; i < HF_EXEC_PRIORITIES; i++)
		pthread_cond_destroy(&exec->threads[i].wake);
	pthread_cond_destroy(&exec->changed);
	pthread_mutex_destroy(&exec->lock);
	free(exec);
}

unsigned hf_exec_seats(const struct hf_exec *exec, enum hf_work work)
{
	return exec->work[work].seats;
}

size_t hf_exec_load(struct hf_exec *exec, enum hf_work work, enum hf_urgency urgency)
{
	HF_LOCKED(&exec->lock);
	return exec->work[work].load[urgency];
}

void hf_exec_wake(struct hf_exec *exec)
{
	HF_LOCKED(&exec->lock);
	hf_exec_tell_changed(exec);
}
