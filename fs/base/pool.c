/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/pool.h"

#include "codecs/isa/disasm.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

struct hf_pool {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct {
		struct hf_job *first, **end;
		size_t load;
	} queues[HF_URGENCIES];
	bool closing;
	unsigned threads;
	pthread_t thread[];
};

/* A thread's scratch room above this is given back after the job: one huge chunk must not stay in every thread. */
#define SCRATCH_KEEP ((size_t)4 << 20)

/* Enough for LLVM and for windows on the stack; the default of 8 MiB a thread would count in limits on memory. */
#define STACK_BYTES ((size_t)2 << 20)

/* Without memory for the memo the jobs that need it have to try. */
static void worker_init(struct hf_worker *worker)
{
	*worker = (struct hf_worker){0};
	if (hf_disasm_new(&worker->env.disasm))
		worker->env.disasm = NULL;
}

static void worker_fini(struct hf_worker *worker)
{
	hf_disasm_free(worker->env.disasm);
	free(worker->scratch);
}

/* The next job in order of urgency; NULL once the pool closes and nothing is left. Called and returns locked. */
static struct hf_job *take_job(struct hf_pool *pool)
{
	for (;;) {
		for (int i = 0; i < HF_URGENCIES; i++) {
			struct hf_job *job = pool->queues[i].first;

			if (!job)
				continue;
			pool->queues[i].first = job->next;
			if (!job->next)
				pool->queues[i].end = &pool->queues[i].first;
			return job;
		}
		if (pool->closing)
			return NULL;
		pthread_cond_wait(&pool->work, &pool->lock);
	}
}

static void *run(void *arg)
{
	struct hf_pool *pool = arg;
	struct hf_worker worker;
	struct hf_job *job;

	pthread_setname_np(pthread_self(), "hartfs-decode");
	worker_init(&worker);
	pthread_mutex_lock(&pool->lock);
	while ((job = take_job(pool))) {
		enum hf_urgency urgency = job->urgency; /* the job may be gone after fn */

		pthread_mutex_unlock(&pool->lock);
		worker.env.symbols = NULL;
		job->fn(job, &worker);
		if (worker.scratch_size > SCRATCH_KEEP) {
			free(worker.scratch);
			worker.scratch = NULL;
			worker.scratch_size = 0;
		}
		pthread_mutex_lock(&pool->lock);
		pool->queues[urgency].load--;
	}
	pthread_mutex_unlock(&pool->lock);
	worker_fini(&worker);
	return NULL;
}

unsigned hf_pool_cores(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
	return 1;
}

/* Signals are for the main thread: a new thread inherits the mask of the one that starts it. */
static void start_threads(struct hf_pool *pool, unsigned threads)
{
	sigset_t all, before;
	pthread_attr_t attr;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	while (pool->threads < threads && pthread_create(&pool->thread[pool->threads], &attr, run, pool) == 0)
		pool->threads++;
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int hf_pool_new(unsigned threads, struct hf_pool **ret_pool)
{
	struct hf_pool *pool;

	if (threads == 0)
		threads = hf_pool_cores();
	pool = calloc(1, sizeof *pool + threads * sizeof *pool->thread);
	if (!pool)
		return HF_ERR_NOMEM;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	for (int i = 0; i < HF_URGENCIES; i++)
		pool->queues[i].end = &pool->queues[i].first;
	start_threads(pool, threads);
	if (pool->threads == 0) {
		hf_pool_free(pool);
		return HF_ERR_NOMEM;
	}
	*ret_pool = pool;
	return 0;
}

void hf_pool_free(struct hf_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closing = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->threads; i++)
		pthread_join(pool->thread[i], NULL);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void hf_pool_submit(struct hf_pool *pool, struct hf_job *job)
{
	assert(job->urgency < HF_URGENCIES);
	pthread_mutex_lock(&pool->lock);
	job->next = NULL;
	*pool->queues[job->urgency].end = job;
	pool->queues[job->urgency].end = &job->next;
	pool->queues[job->urgency].load++;
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

size_t hf_pool_load(struct hf_pool *pool, enum hf_urgency urgency)
{
	size_t load;

	pthread_mutex_lock(&pool->lock);
	load = pool->queues[urgency].load;
	pthread_mutex_unlock(&pool->lock);
	return load;
}

unsigned hf_pool_threads(const struct hf_pool *pool)
{
	return pool->threads;
}
