/* SPDX-License-Identifier: Apache-2.0 */
#include "index/exec.h"

#include "codecs/isa/disasm.h"
#include "codecs/source/source.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* Of threads: work of low priority must not take those of reads, since a thread cannot raise its priority again. */
enum priority { FOREGROUND, BACKGROUND, PRIORITIES };

/* A thread's scratch room above this is given back after the job: one huge chunk must not stay in every thread. */
#define SCRATCH_KEEP ((size_t)4 << 20)
/* Enough for LLVM and for windows on the stack; the default of 8 MiB a thread would count in limits on memory. */
#define STACK_BYTES ((size_t)2 << 20)
/* One that pauses looks so often whether it is still wanted. */
#define LOOK_NS (INT64_C(1) * 1000000000)
/* Jobs that have left their seats. */
enum { NICE = 10, AWAY_MAX = 32 };

struct queue {
	struct hf_job *first, *last;
};

struct work {
	unsigned seats, running, away;
	unsigned paused[HF_URGENCIES];
	size_t queued[HF_URGENCIES], load[HF_URGENCIES];
	struct queue queue[HF_URGENCIES];
};

struct thread {
	struct hf_exec *exec;
	enum priority priority;
	pthread_t thread;
	struct hf_job *current; /* until its done has returned: the job itself may be gone by then */
	struct hf_worker worker;
	struct thread *next;
};

struct threads {
	struct thread *first;
	unsigned idle;
	struct queue delayed; /* in the order of their times */
	pthread_cond_t wake;
};

struct hf_exec {
	pthread_mutex_t lock;
	struct work work[HF_WORKS];
	struct threads threads[PRIORITIES];
	pthread_cond_t changed; /* for those that pause or join */
	unsigned waiting;       /* for changed */
	unsigned paused_max;
	int64_t urgent_ns;
	atomic_bool stopping;
};

static _Thread_local struct hf_job *here;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void wait_until(pthread_cond_t *cond, struct hf_exec *exec, int64_t until_ns)
{
	const struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};

	pthread_cond_timedwait(cond, &exec->lock, &until);
}

static enum priority priority_of(enum hf_work work)
{
	return work >= HF_WORK_INDEX ? BACKGROUND : FOREGROUND;
}

static struct threads *threads_of(const struct hf_job *job)
{
	return &job->exec->threads[priority_of(job->work)];
}

static struct work *work_of(const struct hf_job *job)
{
	return &job->exec->work[job->work];
}

/* ---- queues ---- */

/* Behind that one; NULL: as the first. */
static void link_behind(struct queue *queue, struct hf_job *before, struct hf_job *job)
{
	job->prev = before;
	job->next = before ? before->next : queue->first;
	*(job->prev ? &job->prev->next : &queue->first) = job;
	*(job->next ? &job->next->prev : &queue->last) = job;
}

static void unlink_job(struct queue *queue, struct hf_job *job)
{
	*(job->prev ? &job->prev->next : &queue->first) = job->next;
	*(job->next ? &job->next->prev : &queue->last) = job->prev;
}

static void enqueue(struct hf_job *job)
{
	struct work *work = work_of(job);

	job->delayed = false;
	link_behind(&work->queue[job->now], work->queue[job->now].last, job);
	work->queued[job->now]++;
}

static void dequeue(struct hf_job *job)
{
	struct work *work = work_of(job);

	if (job->delayed) {
		unlink_job(&threads_of(job)->delayed, job);
		return;
	}
	unlink_job(&work->queue[job->now], job);
	work->queued[job->now]--;
}

static void enqueue_delayed(struct hf_job *job)
{
	struct queue *queue = &threads_of(job)->delayed;
	struct hf_job *before = queue->last;

	while (before && before->due_ns > job->due_ns)
		before = before->prev;
	job->delayed = true;
	link_behind(queue, before, job);
}

static void enqueue_due(struct threads *threads)
{
	struct hf_job *job = threads->delayed.first;
	const int64_t now = job ? now_ns() : 0;

	for (; job && job->due_ns <= now; job = threads->delayed.first) {
		unlink_job(&threads->delayed, job);
		enqueue(job);
	}
}

/* ---- seats ---- */

static void set_urgency(struct hf_job *job, enum hf_urgency urgency)
{
	struct work *work = work_of(job);

	work->load[job->now]--;
	work->load[urgency]++;
	if (job->paused) {
		work->paused[job->now]--;
		work->paused[urgency]++;
	}
	job->now = urgency;
}

/* Whether somebody more urgent, or as urgent and (paused) earlier, wants the seat first. */
static bool is_wanted_before(const struct work *work, enum hf_urgency urgency, bool equals)
{
	for (unsigned u = 0; u < urgency + (equals ? 1u : 0u); u++)
		if (work->paused[u] || (u < urgency && work->queued[u]))
			return true;
	return false;
}

/* The most urgent job of the kind that may run now. One that pauses goes on before another one begins. */
static struct hf_job *next_of(struct work *work)
{
	for (unsigned u = 0; u < HF_URGENCIES; u++)
		if (work->queue[u].first && work->running < work->seats)
			return is_wanted_before(work, u, true) ? NULL : work->queue[u].first;
	return NULL;
}

static struct hf_job *next_job(struct hf_exec *exec, enum priority priority)
{
	struct hf_job *job = NULL;

	for (unsigned i = 0; i < HF_WORKS && !job; i++)
		if (priority_of(i) == priority)
			job = next_of(&exec->work[i]);
	return job;
}

/* One waits for changed. */
static void tell_changed(struct hf_exec *exec)
{
	if (exec->waiting)
		pthread_cond_broadcast(&exec->changed);
}

/* ---- threads ---- */

static struct hf_job *take_job(struct thread *self)
{
	struct hf_exec *exec = self->exec;
	struct threads *threads = &exec->threads[self->priority];
	struct hf_job *job;

	for (;;) {
		enqueue_due(threads);
		job = next_job(exec, self->priority);
		if (job || exec->stopping)
			break;
		threads->idle++;
		if (threads->delayed.first)
			wait_until(&threads->wake, exec, threads->delayed.first->due_ns);
		else
			pthread_cond_wait(&threads->wake, &exec->lock);
		threads->idle--;
	}
	if (!job)
		return NULL;
	dequeue(job);
	exec->work[job->work].running++;
	job->state = HF_JOB_RUNNING;
	job->since_ns = now_ns();
	return job;
}

static void call(struct thread *self, struct hf_job *job)
{
	struct hf_worker *worker = &self->worker;
	struct hf_exec *exec = self->exec;
	struct work *work = work_of(job);
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
		set_urgency(job, job->urgency);
		job->state = HF_JOB_QUEUED;
		if (job->due_ns)
			enqueue_delayed(job);
		else
			enqueue(job);
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

static void start_if_needed(struct hf_exec *exec, enum priority priority);

static void *run(void *arg)
{
	struct thread *self = arg;
	struct hf_exec *exec = self->exec;
	struct hf_job *job;

	if (self->priority == BACKGROUND)
		setpriority(PRIO_PROCESS, 0, NICE); /* on Linux this is the thread's own */
	pthread_setname_np(pthread_self(), self->priority == BACKGROUND ? "hartfs-index" : "hartfs-decode");
	/* Without memory for the memo the jobs that need it have to try. */
	if (self->priority == FOREGROUND && hf_disasm_new(&self->worker.env.disasm))
		self->worker.env.disasm = NULL;
	pthread_mutex_lock(&exec->lock);
	exec->threads[self->priority].idle--;
	while ((job = take_job(self))) {
		self->current = job;
		start_if_needed(exec, self->priority);
		pthread_mutex_unlock(&exec->lock);
		call(self, job);
		pthread_mutex_lock(&exec->lock);
		self->current = NULL;
		tell_changed(exec);
	}
	pthread_mutex_unlock(&exec->lock);
	hf_disasm_free(self->worker.env.disasm);
	free(self->worker.scratch);
	return NULL;
}

/* Signals are for the main thread: a new thread inherits the mask of the one that starts it. */
static bool start_thread(struct hf_exec *exec, enum priority priority)
{
	struct threads *threads = &exec->threads[priority];
	struct thread *thread = calloc(1, sizeof *thread);
	sigset_t all, before;
	pthread_attr_t attr;
	int err;

	if (!thread)
		return false;
	*thread = (struct thread){.exec = exec, .priority = priority, .next = threads->first};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	if (priority == FOREGROUND)
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

/* One thread for each job that could run, and one that waits for the next time. What cannot be started is not missed. */
static void start_if_needed(struct hf_exec *exec, enum priority priority)
{
	struct threads *threads = &exec->threads[priority];
	size_t need = threads->delayed.first ? 1 : 0;

	for (unsigned i = 0; i < HF_WORKS; i++) {
		const struct work *work = &exec->work[i];
		const size_t room = work->running < work->seats ? work->seats - work->running : 0;
		const size_t queued = work->queued[HF_URGENT] + work->queued[HF_LATER];

		if (priority_of(i) == priority)
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
	for (unsigned i = 0; i < HF_WORKS; i++)
		exec->work[i].seats = limits->seats[i] ? limits->seats[i] : hf_exec_cores();
	exec->paused_max = limits->paused ? limits->paused : HF_PAUSED_MAX;
	exec->urgent_ns = limits->urgent_ns ? limits->urgent_ns : HF_URGENT_NS;
	pthread_mutex_init(&exec->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&exec->changed, &attr);
	for (unsigned i = 0; i < PRIORITIES; i++)
		pthread_cond_init(&exec->threads[i].wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_lock(&exec->lock);
	for (unsigned i = 0; i < PRIORITIES && started; i++)
		started = start_thread(exec, i);
	pthread_mutex_unlock(&exec->lock);
	if (started)
		return 0;
	hf_exec_free(exec);
	*ret_exec = NULL;
	return HF_ERR_NOMEM;
}

/* A job that waits in a queue, or NULL. */
static struct hf_job *any_job(struct hf_exec *exec)
{
	struct hf_job *job = NULL;

	for (unsigned i = 0; i < PRIORITIES && !job; i++)
		job = exec->threads[i].delayed.first;
	for (unsigned i = 0; i < HF_WORKS && !job; i++)
		for (unsigned u = 0; u < HF_URGENCIES && !job; u++)
			job = exec->work[i].queue[u].first;
	return job;
}

/* With the lock, which it gives up; the job may be gone afterwards. */
static void end_queued(struct hf_exec *exec, struct hf_job *job)
{
	dequeue(job);
	work_of(job)->load[job->now]--;
	job->state = HF_JOB_DONE;
	tell_changed(exec);
	pthread_mutex_unlock(&exec->lock);
	if (job->done)
		job->done(job, HF_ERR_CANCELLED);
}

void hf_exec_stop(struct hf_exec *exec)
{
	struct hf_job *job;

	pthread_mutex_lock(&exec->lock);
	exec->stopping = true;
	while ((job = any_job(exec))) {
		end_queued(exec, job);
		pthread_mutex_lock(&exec->lock);
	}
	pthread_cond_broadcast(&exec->changed);
	for (unsigned i = 0; i < PRIORITIES; i++)
		pthread_cond_broadcast(&exec->threads[i].wake);
	pthread_mutex_unlock(&exec->lock);
	for (unsigned i = 0; i < PRIORITIES; i++)
		for (struct thread *t = exec->threads[i].first, *next; t; t = next) {
			next = t->next;
			pthread_join(t->thread, NULL);
			exec->threads[i].first = next;
			free(t);
		}
}

void hf_exec_free(struct hf_exec *exec)
{
	if (!exec)
		return;
	hf_exec_stop(exec);
	for (unsigned i = 0; i < PRIORITIES; i++)
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
	size_t load;

	pthread_mutex_lock(&exec->lock);
	load = exec->work[work].load[urgency];
	pthread_mutex_unlock(&exec->lock);
	return load;
}

void hf_exec_wake(struct hf_exec *exec)
{
	pthread_mutex_lock(&exec->lock);
	tell_changed(exec);
	pthread_mutex_unlock(&exec->lock);
}

/* ---- jobs ---- */

/* It is queued at last. */
static void place(struct hf_job *job, int64_t due_ns)
{
	job->state = HF_JOB_QUEUED;
	job->due_ns = due_ns;
	if (due_ns)
		enqueue_delayed(job);
	else
		enqueue(job);
	start_if_needed(job->exec, priority_of(job->work));
}

void hf_job_submit(struct hf_exec *exec, struct hf_job *job)
{
	hf_job_submit_after(exec, job, 0);
}

void hf_job_submit_after(struct hf_exec *exec, struct hf_job *job, int64_t delay_ns)
{
	const int64_t due_ns = delay_ns ? now_ns() + delay_ns : 0;
	bool refused = false;

	pthread_mutex_lock(&exec->lock);
	job->exec = exec;
	switch (job->state) {
	case HF_JOB_RUNNING:
	case HF_JOB_STOPPING:
		if (!job->again || due_ns < job->due_ns)
			job->due_ns = due_ns;
		job->again = true;
		break;
	case HF_JOB_QUEUED:
		if (due_ns < job->due_ns && job->delayed) {
			dequeue(job);
			place(job, due_ns);
		}
		break;
	default:
		refused = exec->stopping;
		if (job->state != HF_JOB_WAITING) {
			job->now = job->urgency;
			work_of(job)->load[job->now] += !refused;
		} else if (refused) {
			work_of(job)->load[job->now]--;
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
	pthread_mutex_lock(&exec->lock);
	if (job->state == HF_JOB_QUEUED && (job->now != HF_URGENT || job->delayed)) {
		dequeue(job);
		set_urgency(job, HF_URGENT);
		place(job, 0);
	} else if (job->paused) {
		set_urgency(job, HF_URGENT);
		tell_changed(exec);
	}
	pthread_mutex_unlock(&exec->lock);
}

bool hf_job_cancel(struct hf_job *job)
{
	struct hf_exec *exec = job->exec;

	if (!exec)
		return false;
	pthread_mutex_lock(&exec->lock);
	if (job->state == HF_JOB_QUEUED) {
		end_queued(exec, job);
		return true;
	}
	job->again = false;
	if (job->state == HF_JOB_RUNNING)
		job->state = HF_JOB_STOPPING;
	tell_changed(exec);
	pthread_mutex_unlock(&exec->lock);
	return false;
}

static bool is_under_way(const struct hf_job *job)
{
	if (job->state != HF_JOB_NEW && job->state != HF_JOB_DONE)
		return true;
	for (const struct thread *t = threads_of(job)->first; t; t = t->next)
		if (t->current == job)
			return true;
	return false;
}

void hf_job_join(struct hf_job *job)
{
	struct hf_exec *exec = job->exec;

	if (!exec)
		return;
	pthread_mutex_lock(&exec->lock);
	exec->waiting++;
	while (is_under_way(job))
		pthread_cond_wait(&exec->changed, &exec->lock);
	exec->waiting--;
	pthread_mutex_unlock(&exec->lock);
}

bool hf_job_stopping(const struct hf_job *job)
{
	return job->state == HF_JOB_STOPPING || job->exec->stopping;
}

struct hf_job *hf_job_here(void)
{
	return here;
}

/* ---- giving way ---- */

static bool must_pause(const struct hf_job *job)
{
	const struct work *work = work_of(job);
	unsigned paused = 0;
	bool swap = false; /* another one that pauses goes on instead */

	for (unsigned u = 0; u < HF_URGENCIES; u++) {
		paused += work->paused[u];
		swap = swap || (u < job->now && work->paused[u]);
	}
	return work->running >= work->seats && (paused < job->exec->paused_max || swap) &&
	       is_wanted_before(work, job->now, false);
}

static bool may_go_on(const struct hf_job *job, const struct hf_stop *stop)
{
	const struct work *work = work_of(job);

	return (work->running < work->seats && !is_wanted_before(work, job->now, false)) || hf_job_stopping(job) || (stop && hf_stop_wanted(stop));
}

/* With the lock held, which it gives up meanwhile. */
static void pause_job(struct hf_job *job, const struct hf_stop *stop)
{
	struct hf_exec *exec = job->exec;
	struct work *work = work_of(job);

	job->paused = true;
	work->paused[job->now]++;
	work->running--;
	start_if_needed(exec, priority_of(job->work));
	exec->waiting++;
	pthread_cond_broadcast(&exec->changed);
	while (!may_go_on(job, stop))
		wait_until(&exec->changed, exec, now_ns() + LOOK_NS);
	exec->waiting--;
	work->running++;
	work->paused[job->now]--;
	job->paused = false;
}

bool hf_job_must_give_way(struct hf_job *job)
{
	struct hf_exec *exec = job->exec;
	bool must;

	pthread_mutex_lock(&exec->lock);
	if (job->now == HF_URGENT && now_ns() - job->since_ns >= exec->urgent_ns)
		set_urgency(job, HF_LATER);
	enqueue_due(threads_of(job));
	must = must_pause(job);
	pthread_mutex_unlock(&exec->lock);
	return must;
}

int64_t hf_job_give_way(struct hf_job *job, const struct hf_stop *stop)
{
	struct hf_exec *exec = job->exec;
	const int64_t begun = now_ns();
	int64_t paused = 0;

	pthread_mutex_lock(&exec->lock);
	if (must_pause(job)) {
		pause_job(job, stop);
		job->since_ns = now_ns();
		paused = job->since_ns - begun;
	}
	pthread_mutex_unlock(&exec->lock);
	return paused;
}

bool hf_job_leave_seat(struct hf_job *job)
{
	struct work *work;
	bool left;

	if (!job)
		return false;
	work = work_of(job);
	pthread_mutex_lock(&job->exec->lock);
	left = work->away < AWAY_MAX;
	if (left) {
		work->away++;
		work->running--;
		start_if_needed(job->exec, priority_of(job->work));
	}
	pthread_mutex_unlock(&job->exec->lock);
	return left;
}

void hf_job_take_seat(struct hf_job *job, bool left)
{
	if (!left)
		return;
	pthread_mutex_lock(&job->exec->lock);
	work_of(job)->away--;
	work_of(job)->running++;
	pthread_mutex_unlock(&job->exec->lock);
}
