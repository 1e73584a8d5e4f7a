/* SPDX-License-Identifier: Apache-2.0 */
/* The decode pool: urgent jobs first, each job once, what a worker offers, and a shutdown that finishes the queue. */
#include "codecs/isa/disasm.h"
#include "fs/base/pool.h"
#include "tests/lib/check.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define JOBS 20000

struct counted {
	struct hf_job job;
	atomic_uint *sum;
	struct hf_pool *pool; /* submits another job from within */
	struct counted *other;
};

static void count(struct hf_job *job, struct hf_worker *worker)
{
	struct counted *c = (struct counted *)job;

	(void)worker;
	if (c->other)
		hf_pool_submit(c->pool, &c->other->job);
	atomic_fetch_add(c->sum, 1);
}

/* Jobs of both kinds, half of them submitted by jobs, all done when the pool is gone. */
static void test_all_done(unsigned threads)
{
	static struct counted jobs[JOBS];
	static atomic_uint sum;
	struct hf_pool *pool;

	sum = 0;
	CHECK_EQ(hf_pool_new(threads, &pool), 0);
	if (threads)
		CHECK_EQ(hf_pool_threads(pool), threads);
	CHECK(hf_pool_threads(pool) >= 1);
	for (int i = 0; i < JOBS; i++)
		jobs[i] = (struct counted){.job = {.fn = count, .urgency = i % HF_URGENCIES}, .sum = &sum, .pool = pool,
					   .other = i % 2 ? NULL : &jobs[i + 1]};
	for (int i = 0; i < JOBS; i += 2)
		hf_pool_submit(pool, &jobs[i].job);
	hf_pool_free(pool);
	CHECK_EQ(sum, JOBS);
}

/* A job that waits until it may go on. */
struct gate {
	struct hf_job job;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool entered, open;
};

static void pass_gate(struct hf_job *job, struct hf_worker *worker)
{
	struct gate *gate = (struct gate *)job;

	(void)worker;
	pthread_mutex_lock(&gate->lock);
	gate->entered = true;
	pthread_cond_broadcast(&gate->changed);
	while (!gate->open)
		pthread_cond_wait(&gate->changed, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

static void open_gate(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->open = true;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

static void await_entry(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	while (!gate->entered)
		pthread_cond_wait(&gate->changed, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

struct ordered {
	struct hf_job job;
	unsigned *next;
	unsigned when;
};

static void note_order(struct hf_job *job, struct hf_worker *worker)
{
	struct ordered *o = (struct ordered *)job;

	(void)worker;
	o->when = (*o->next)++;
}

static void test_urgency(void)
{
	struct gate gate = {.job = {.fn = pass_gate}, .lock = PTHREAD_MUTEX_INITIALIZER,
			    .changed = PTHREAD_COND_INITIALIZER};
	struct ordered jobs[6];
	struct hf_pool *pool;
	unsigned next = 0;

	CHECK_EQ(hf_pool_new(1, &pool), 0);
	hf_pool_submit(pool, &gate.job);
	await_entry(&gate);
	CHECK_EQ(hf_pool_load(pool, HF_URGENT), 1);
	for (int i = 0; i < 6; i++) {
		jobs[i] = (struct ordered){.job = {.fn = note_order, .urgency = i < 3 ? HF_AHEAD : HF_URGENT},
					   .next = &next};
		hf_pool_submit(pool, &jobs[i].job);
	}
	CHECK_EQ(hf_pool_load(pool, HF_URGENT), 4);
	CHECK_EQ(hf_pool_load(pool, HF_AHEAD), 3);
	open_gate(&gate);
	hf_pool_free(pool);
	for (unsigned i = 0; i < 6; i++)
		CHECK_EQ(jobs[i].when, (i + 3) % 6);
}

struct look {
	struct hf_job job;
	char name[32];
	bool blocked, disasm, clean;
	size_t scratch_before, take;
};

static void look_around(struct hf_job *job, struct hf_worker *worker)
{
	struct look *look = (struct look *)job;
	uint8_t text[HF_DISASM_ROOM];
	sigset_t set;

	pthread_getname_np(pthread_self(), look->name, sizeof look->name);
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	look->blocked = sigismember(&set, SIGTERM) == 1 && sigismember(&set, SIGINT) == 1;
	if (worker->env.disasm) {
		uint8_t *end = hf_disasm_put(worker->env.disasm, text, 0x00000013, 4, HF_ISA_RV64);

		look->disasm = end - text > 9 && memcmp(text, "00000013", 8) == 0;
	}
	look->clean = !worker->env.symbols;
	worker->env.symbols = (const struct hf_symbols *)look; /* forgotten before the next job */
	look->scratch_before = worker->scratch_size;
	if (look->take > worker->scratch_size) {
		worker->scratch = realloc(worker->scratch, look->take);
		worker->scratch_size = look->take;
	}
}

static void test_worker(void)
{
	const size_t take[4] = {1000, 64 << 20, 10, 10};
	const size_t before[4] = {0, 1000, 0, 10};
	struct hf_pool *pool;
	struct look look[4] = {0};
	sigset_t set;

	CHECK_EQ(hf_pool_new(1, &pool), 0);
	for (int i = 0; i < 4; i++) {
		look[i].job.fn = look_around;
		look[i].take = take[i];
		hf_pool_submit(pool, &look[i].job);
	}
	hf_pool_free(pool);
	for (int i = 0; i < 4; i++) {
		CHECK_STR(look[i].name, "hartfs-decode");
		CHECK(look[i].blocked && look[i].disasm && look[i].clean);
		CHECK_EQ(look[i].scratch_before, before[i]);
	}
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	CHECK(!sigismember(&set, SIGTERM)); /* the caller's mask is as it was */
}

/* Many threads submit while the pool works. */
struct submitter {
	struct hf_pool *pool;
	struct counted jobs[2000];
};

static void *submit_all(void *ctx)
{
	struct submitter *s = ctx;

	for (int i = 0; i < 2000; i++)
		hf_pool_submit(s->pool, &s->jobs[i].job);
	return NULL;
}

static void test_submitters(void)
{
	static struct submitter s[4];
	static atomic_uint sum;
	pthread_t thread[4];
	struct hf_pool *pool;

	CHECK_EQ(hf_pool_new(3, &pool), 0);
	for (int t = 0; t < 4; t++) {
		s[t].pool = pool;
		for (int i = 0; i < 2000; i++)
			s[t].jobs[i] = (struct counted){.job = {.fn = count, .urgency = i % HF_URGENCIES}, .sum = &sum};
		CHECK_EQ(pthread_create(&thread[t], NULL, submit_all, &s[t]), 0);
	}
	for (int t = 0; t < 4; t++)
		pthread_join(thread[t], NULL);
	for (int i = 0; hf_pool_load(pool, HF_URGENT) + hf_pool_load(pool, HF_AHEAD); i++) {
		CHECK(i < 10000);
		usleep(1000);
	}
	CHECK_EQ(sum, 8000);
	hf_pool_free(pool);
}

int main(void)
{
	test_all_done(0);
	test_all_done(1);
	test_all_done(4);
	test_urgency();
	test_worker();
	test_submitters();
	hf_pool_free(NULL);
	return 0;
}
