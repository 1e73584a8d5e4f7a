/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor: urgent jobs first, each job once and each told its end once, cancelling, hurrying, delays, one flight at a
 * time, joining, seats and threads of two priorities, what gives way and goes on, what a worker offers, and the end.
 */
#include "codecs/isa/disasm.h"
#include "index/exec/exec.h"
#include "tests/lib/check.h"
#include "tests/lib/testclock.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS 20000
#define URGENT_MS 200
#define NEVER_NS (1000000 * MS)
#define PAUSED 3
#define MS INT64_C(1000000)

static struct hf_exec *new_exec(unsigned decode, unsigned index)
{
	const struct hf_exec_limits limits = {.seats = {[HF_WORK_DECODE] = decode,
							[HF_WORK_SERVE] = 1,
							[HF_WORK_INDEX] = index,
							[HF_WORK_HELP] = 4,
							[HF_WORK_SPOOL] = 1,
							[HF_WORK_CHORE] = 1},
					      .paused = PAUSED,
					      .urgent_ns = URGENT_MS * MS};
	struct hf_exec *exec;

	CHECK_EQ(hf_exec_new(&limits, &exec), 0);
	return exec;
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Until nothing of that kind is queued or running. */
static void await_none(struct hf_exec *exec, enum hf_work work)
{
	CHECK_COMES(!(hf_exec_load(exec, work, HF_URGENT) + hf_exec_load(exec, work, HF_LATER)));
}

struct counted {
	struct hf_job job;
	atomic_uint *sum, *dones;
	struct hf_exec *exec; /* submits another job from within */
	struct counted *other;
};

static int count(struct hf_job *job, struct hf_worker *worker)
{
	struct counted *c = (struct counted *)job;

	(void)worker;
	CHECK(hf_job_here() == job);
	if (c->other)
		hf_job_submit(c->exec, &c->other->job);
	atomic_fetch_add(c->sum, 1);
	return 7;
}

static void count_done(struct hf_job *job, int status)
{
	struct counted *c = (struct counted *)job;

	CHECK_EQ(status, 7);
	atomic_fetch_add(c->dones, 1);
}

/* Jobs of all kinds, half of them submitted by jobs. */
static void test_all_done(unsigned seats)
{
	static struct counted jobs[JOBS];
	static atomic_uint sum, dones;
	struct hf_exec *exec = new_exec(seats, seats);

	sum = dones = 0;
	CHECK(seats ? hf_exec_seats(exec, HF_WORK_DECODE) == seats : hf_exec_seats(exec, HF_WORK_DECODE) >= 1);
	for (int i = 0; i < JOBS; i++)
		jobs[i] = (struct counted){.job = {.fn = count,
						   .done = count_done,
						   .work = (unsigned)i / 2 % HF_WORKS,
						   .urgency = i % HF_URGENCIES},
					   .sum = &sum,
					   .dones = &dones,
					   .exec = exec,
					   .other = i % 2 ? NULL : &jobs[i + 1]};
	for (int i = 0; i < JOBS; i += 2)
		hf_job_submit(exec, &jobs[i].job);
	for (int i = 0; i < JOBS; i++)
		hf_job_join(&jobs[i].job);
	CHECK_EQ(sum, JOBS);
	CHECK_EQ(dones, JOBS);
	hf_exec_free(exec);
}

/* A job that waits until it may go on. */
struct gate {
	struct hf_job job;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool entered, open, pauses;
	int64_t paused_ns;
	atomic_int ended; /* status + 1 */
};

static int pass_gate(struct hf_job *job, struct hf_worker *worker)
{
	struct gate *gate = (struct gate *)job;

	(void)worker;
	pthread_mutex_lock(&gate->lock);
	gate->entered = true;
	pthread_cond_broadcast(&gate->changed);
	while (!gate->open && !hf_job_stopping(job)) {
		if (gate->pauses) {
			pthread_mutex_unlock(&gate->lock);
			if (hf_job_must_give_way(job))
				gate->paused_ns += hf_job_give_way(job, NULL);
			sleep_ms(1);
			pthread_mutex_lock(&gate->lock);
		} else {
			pthread_cond_wait(&gate->changed, &gate->lock);
		}
	}
	pthread_mutex_unlock(&gate->lock);
	return hf_job_stopping(job) ? HF_ERR_CANCELLED : 0;
}

static void end_gate(struct hf_job *job, int status)
{
	atomic_store(&((struct gate *)job)->ended, status + 1);
}

static struct gate new_gate(enum hf_work work, enum hf_urgency urgency)
{
	return (struct gate){.job = {.fn = pass_gate, .done = end_gate, .work = work, .urgency = urgency},
			     .lock = PTHREAD_MUTEX_INITIALIZER,
			     .changed = PTHREAD_COND_INITIALIZER,
			     .pauses = work == HF_WORK_INDEX};
}

static void open_gate(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->open = true;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

static bool has_entered(struct gate *gate)
{
	bool entered;

	pthread_mutex_lock(&gate->lock);
	entered = gate->entered;
	pthread_mutex_unlock(&gate->lock);
	return entered;
}

static void await_entry(struct gate *gate)
{
	CHECK_COMES(has_entered(gate));
}

struct ordered {
	struct hf_job job;
	unsigned *next;
	unsigned when;
	int status;
};

static int note_order(struct hf_job *job, struct hf_worker *worker)
{
	struct ordered *o = (struct ordered *)job;

	(void)worker;
	o->when = (*o->next)++;
	return 0;
}

static void note_status(struct hf_job *job, int status)
{
	((struct ordered *)job)->status = status;
}

/* Urgent ones first; one of the others is hurried, one cancelled. */
static void test_urgency(void)
{
	const unsigned when[7] = {4, 3, 99, 5, 0, 1, 2};
	struct gate gate = new_gate(HF_WORK_DECODE, HF_URGENT);
	struct hf_exec *exec = new_exec(1, 1);
	struct ordered jobs[7];
	unsigned next = 0;

	hf_job_submit(exec, &gate.job);
	await_entry(&gate);
	CHECK_EQ(hf_exec_load(exec, HF_WORK_DECODE, HF_URGENT), 1);
	for (int i = 0; i < 7; i++) {
		jobs[i] = (struct ordered){
			.job = {.fn = note_order, .done = note_status, .urgency = i < 4 ? HF_LATER : HF_URGENT},
			.next = &next,
			.when = 99,
			.status = 1};
		hf_job_submit(exec, &jobs[i].job);
	}
	CHECK_EQ(hf_exec_load(exec, HF_WORK_DECODE, HF_URGENT), 4);
	hf_job_hurry(&jobs[1].job);
	CHECK(hf_job_cancel(&jobs[2].job));
	CHECK_EQ(jobs[2].status, HF_ERR_CANCELLED);
	CHECK(!hf_job_cancel(&jobs[2].job));
	CHECK_EQ(hf_exec_load(exec, HF_WORK_DECODE, HF_URGENT), 5);
	CHECK_EQ(hf_exec_load(exec, HF_WORK_DECODE, HF_LATER), 2);
	open_gate(&gate);
	for (int i = 0; i < 7; i++) {
		hf_job_join(&jobs[i].job);
		CHECK_EQ(jobs[i].when, when[i]);
		CHECK_EQ(jobs[i].status, i == 2 ? HF_ERR_CANCELLED : 0);
	}
	CHECK_EQ(hf_exec_load(exec, HF_WORK_DECODE, HF_URGENT) + hf_exec_load(exec, HF_WORK_DECODE, HF_LATER), 0);
	hf_exec_free(exec);
}

/* One that runs is told to end; the end of all tells everybody, also those who come later. */
static void test_stop(void)
{
	struct gate one = new_gate(HF_WORK_INDEX, HF_LATER), two = one, three = one, late = one;
	struct hf_exec *exec = new_exec(1, 1);

	hf_job_submit(exec, &one.job);
	await_entry(&one);
	CHECK(!hf_job_cancel(&one.job));
	hf_job_join(&one.job);
	CHECK_EQ(one.ended, HF_ERR_CANCELLED + 1);
	hf_job_submit(exec, &two.job);
	await_entry(&two);
	hf_job_submit(exec, &three.job);
	hf_exec_stop(exec);
	CHECK_EQ(two.ended, HF_ERR_CANCELLED + 1);
	CHECK_EQ(three.ended, HF_ERR_CANCELLED + 1);
	CHECK(!three.entered);
	hf_job_submit(exec, &late.job);
	CHECK_EQ(late.ended, HF_ERR_CANCELLED + 1);
	hf_exec_free(exec);
}

struct timed {
	struct hf_job job;
	struct hf_exec *exec;
	int64_t at_ns;
	atomic_uint runs, within, dones;
	unsigned again;
};

static int note_time(struct hf_job *job, struct hf_worker *worker)
{
	struct timed *t = (struct timed *)job;

	(void)worker;
	CHECK_EQ(atomic_fetch_add(&t->within, 1), 0);
	t->at_ns = now_ns();
	if (atomic_fetch_add(&t->runs, 1) < t->again)
		hf_job_submit(t->exec, job);
	sleep_ms(2);
	atomic_fetch_sub(&t->within, 1);
	return 0;
}

static void count_end(struct hf_job *job, int status)
{
	(void)status;
	atomic_fetch_add(&((struct timed *)job)->dones, 1);
}

static void test_delay(void)
{
	struct hf_exec *exec = new_exec(1, 1);
	const int64_t begun_ns = now_ns();
	struct timed t[3];

	for (int i = 0; i < 3; i++) {
		t[i] = (struct timed){.job = {.fn = note_time, .done = count_end, .work = HF_WORK_CHORE}, .exec = exec};
		hf_job_submit_after(exec, &t[i].job, i < 2 ? (30 + 30 * i) * MS : NEVER_NS);
	}
	CHECK_EQ(hf_exec_load(exec, HF_WORK_CHORE, HF_URGENT), 3);
	/* Later than it is: no change. Then earlier. */
	hf_job_submit_after(exec, &t[0].job, NEVER_NS);
	hf_job_submit_after(exec, &t[2].job, 20 * MS);
	for (int i = 0; i < 3; i++) {
		CHECK_COMES(t[i].runs);
		hf_job_join(&t[i].job);
		CHECK_EQ(t[i].runs, 1);
		CHECK(t[i].at_ns >= begun_ns + (i < 2 ? 30 + 30 * i : 20) * MS);
	}
	/* Somebody wants it now. */
	hf_job_submit_after(exec, &t[0].job, NEVER_NS);
	hf_job_hurry(&t[0].job);
	hf_job_join(&t[0].job);
	CHECK_EQ(t[0].runs, 2);
	CHECK_EQ(t[0].dones, 2);
	hf_job_submit_after(exec, &t[0].job, NEVER_NS);
	CHECK(hf_job_cancel(&t[0].job));
	CHECK_EQ(t[0].dones, 3);
	hf_job_submit_after(exec, &t[0].job, NEVER_NS);
	hf_exec_free(exec);
	CHECK_EQ(t[0].runs, 2);
	CHECK_EQ(t[0].dones, 4);
}

/* Submitted while it runs, by itself and by others: one at a time, and never forgotten. */
static void test_again(void)
{
	struct hf_exec *exec = new_exec(4, 4);
	struct timed t = {.job = {.fn = note_time, .done = count_end}, .exec = exec, .again = 3};

	hf_job_submit(exec, &t.job);
	hf_job_join(&t.job);
	CHECK_EQ(t.runs, 4);
	CHECK_EQ(t.dones, 1);
	for (int i = 0; i < 100; i++) {
		const unsigned runs = t.runs;

		hf_job_submit(exec, &t.job);
		while (t.runs == runs)
			sched_yield();
	}
	hf_job_join(&t.job);
	CHECK_EQ(t.within, 0);
	hf_exec_free(exec);
}

/* A job that is put aside ends when what it waits for has submitted it again, in whichever order that happens. */
struct aside {
	struct hf_job job;
	struct hf_exec *exec;
	atomic_uint runs;
	int status;
};

static int go_aside(struct hf_job *job, struct hf_worker *worker)
{
	struct aside *a = (struct aside *)job;

	(void)worker;
	switch (atomic_fetch_add(&a->runs, 1)) {
	case 0:
		return HF_JOB_ASIDE;
	case 1:
		hf_job_submit(a->exec, job);
		return HF_JOB_ASIDE;
	default:
		return 0;
	}
}

static void end_aside(struct hf_job *job, int status)
{
	((struct aside *)job)->status = status;
}

static void test_aside(void)
{
	struct hf_exec *exec = new_exec(1, 1);
	struct aside a = {.job = {.fn = go_aside, .done = end_aside}, .exec = exec, .status = 1};

	hf_job_submit(exec, &a.job);
	while (a.job.state != HF_JOB_WAITING)
		sched_yield();
	CHECK_EQ(hf_exec_load(exec, HF_WORK_DECODE, HF_URGENT), 1);
	CHECK_EQ(a.status, 1);
	hf_job_submit(exec, &a.job);
	hf_job_join(&a.job);
	CHECK_EQ(a.runs, 3);
	CHECK_EQ(a.status, 0);
	/* What waits when all ends ends when it is woken. */
	a.runs = 0;
	hf_job_submit(exec, &a.job);
	while (a.job.state != HF_JOB_WAITING)
		sched_yield();
	hf_exec_stop(exec);
	hf_job_submit(exec, &a.job);
	CHECK_EQ(a.status, HF_ERR_CANCELLED);
	CHECK_EQ(a.runs, 1);
	hf_exec_free(exec);
}

static int leave_seat(struct hf_job *job, struct hf_worker *worker)
{
	const bool left = hf_job_leave_seat(job);

	CHECK(left);
	pass_gate(job, worker);
	hf_job_take_seat(job, left);
	return 0;
}

/* All seats of one kind are taken: the others go on, and so does this kind while one is away. */
static void test_seats(void)
{
	struct gate gate[3] = {new_gate(HF_WORK_INDEX, HF_LATER), new_gate(HF_WORK_DECODE, HF_LATER),
			       new_gate(HF_WORK_DECODE, HF_LATER)};
	struct hf_exec *exec = new_exec(1, 1);

	gate[1].job.fn = leave_seat;
	for (int i = 0; i < 3; i++) {
		hf_job_submit(exec, &gate[i].job);
		await_entry(&gate[i]);
	}
	for (unsigned i = 0; i < HF_WORKS; i++) {
		struct timed t = {.job = {.fn = note_time, .work = i, .urgency = HF_LATER}, .exec = exec};

		hf_job_submit(exec, &t.job);
		if (i == HF_WORK_INDEX || i == HF_WORK_DECODE) {
			sleep_ms(20);
			CHECK_EQ(t.runs, 0);
			CHECK(hf_job_cancel(&t.job));
		}
		hf_job_join(&t.job);
		CHECK_EQ(t.runs, i != HF_WORK_INDEX && i != HF_WORK_DECODE);
	}
	for (int i = 0; i < 3; i++)
		open_gate(&gate[i]);
	hf_exec_free(exec);
}

/* Many are away: a spare job that would wait, too, ends instead. One that is not goes away. */
static void test_give_up(void)
{
	enum { MANY = 48 };
	static struct gate gate[MANY + 1];
	struct hf_exec *exec = new_exec(1, 1);
	struct hf_job spare = {.work = HF_WORK_DECODE, .spare = true}, other = {.work = HF_WORK_DECODE};

	CHECK(!hf_job_gives_up(NULL));
	spare.exec = other.exec = exec;
	for (int i = 0; i <= MANY; i++) {
		CHECK_EQ(hf_job_gives_up(&spare), i == MANY);
		CHECK_EQ(spare.gave_up, i == MANY);
		CHECK(!hf_job_gives_up(&other));
		gate[i] = new_gate(HF_WORK_DECODE, HF_LATER);
		gate[i].job.fn = leave_seat;
		hf_job_submit(exec, &gate[i].job);
		await_entry(&gate[i]);
	}
	for (int i = 0; i <= MANY; i++)
		open_gate(&gate[i]);
	for (int i = 0; i <= MANY; i++)
		hf_job_join(&gate[i].job);
	CHECK(!hf_job_gives_up(&spare));
	hf_exec_free(exec);
}

/* A long job gives its seat to an urgent one, and that, when it has run for a while, to the next. All end. */
static void test_give_way(void)
{
	struct gate gate[4] = {new_gate(HF_WORK_INDEX, HF_LATER), new_gate(HF_WORK_INDEX, HF_LATER),
			       new_gate(HF_WORK_INDEX, HF_LATER), new_gate(HF_WORK_INDEX, HF_LATER)};
	struct hf_exec *exec = new_exec(1, 1);

	hf_clock_stop();
	for (int i = 0; i < 4; i++)
		hf_job_submit(exec, &gate[i].job);
	await_entry(&gate[0]);
	sleep_ms(20);
	CHECK(!has_entered(&gate[1]) && !has_entered(&gate[2]));
	hf_job_hurry(&gate[2].job);
	await_entry(&gate[2]);
	/* It is urgent for a while. */
	hf_job_hurry(&gate[3].job);
	sleep_ms(20);
	CHECK(!has_entered(&gate[3]));
	hf_clock_advance_ms(URGENT_MS);
	await_entry(&gate[3]);
	hf_clock_advance_ms(1);
	/* What was put aside goes on before what has not begun. */
	open_gate(&gate[0]);
	open_gate(&gate[2]);
	CHECK_EQ(gate[0].ended, 0);
	open_gate(&gate[3]);
	hf_job_join(&gate[0].job);
	hf_job_join(&gate[2].job);
	await_entry(&gate[1]);
	CHECK(gate[0].paused_ns > 0 && gate[2].paused_ns > 0 && !gate[3].paused_ns);
	open_gate(&gate[1]);
	hf_job_join(&gate[1].job);
	hf_clock_go_on();
	for (int i = 0; i < 4; i++)
		CHECK_EQ(gate[i].ended, 1);
	hf_exec_free(exec);
}

static bool yes(void *ctx)
{
	return *(atomic_bool *)ctx;
}

static int give_way_to_all(struct hf_job *job, struct hf_worker *worker)
{
	struct timed *t = (struct timed *)job;
	const struct hf_stop stop = {.wanted = yes, .ctx = &t->within};

	(void)worker;
	t->runs++;
	while (!hf_stop_wanted(&stop) && !hf_job_stopping(job)) {
		if (hf_job_must_give_way(job))
			hf_job_give_way(job, &stop);
		sleep_ms(1);
	}
	return 0;
}

/* No more pause than may; one that somebody looks at changes places with the one that runs; what nobody wants ends. */
static void test_paused(void)
{
	struct hf_exec *exec = new_exec(1, 1);
	struct timed t[PAUSED + 2];

	for (int i = 0; i < PAUSED + 2; i++) {
		t[i] = (struct timed){.job = {.fn = give_way_to_all, .work = HF_WORK_INDEX, .urgency = HF_LATER}};
		hf_job_submit(exec, &t[i].job);
		while (!i && !t[i].runs)
			sched_yield();
		hf_job_hurry(&t[i].job);
		/* Not to wait until each has been urgent for long. */
		CHECK_COMES(i > PAUSED || t[i].runs);
	}
	sleep_ms(URGENT_MS + 300);
	CHECK_EQ(t[PAUSED + 1].runs, 0);
	CHECK(t[0].job.paused && !t[PAUSED].job.paused);
	hf_job_hurry(&t[0].job);
	CHECK_COMES(!t[0].job.paused && t[PAUSED].job.paused);
	/* Nobody wants what is paused: it does not wait for a seat. */
	t[1].within = 1;
	hf_exec_wake(exec);
	hf_job_join(&t[1].job);
	CHECK(!hf_job_cancel(&t[2].job));
	hf_job_join(&t[2].job);
	hf_exec_free(exec);
}

struct look {
	struct hf_job job;
	char name[32];
	bool blocked, disasm, clean;
	int nice;
	size_t scratch_before, take;
};

static int look_around(struct hf_job *job, struct hf_worker *worker)
{
	struct look *look = (struct look *)job;
	uint8_t text[HF_DISASM_ROOM];
	sigset_t set;

	pthread_getname_np(pthread_self(), look->name, sizeof look->name);
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	look->blocked = sigismember(&set, SIGTERM) == 1 && sigismember(&set, SIGINT) == 1;
	look->nice = getpriority(PRIO_PROCESS, 0);
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
	return 0;
}

static void test_worker(void)
{
	const size_t take[4] = {1000, 64 << 20, 10, 10};
	const size_t before[4] = {0, 1000, 0, 10};
	const int own = getpriority(PRIO_PROCESS, 0);
	struct hf_exec *exec = new_exec(1, 1);
	struct look look[4] = {0}, low = {.job = {.fn = look_around, .work = HF_WORK_CHORE}};
	sigset_t set;

	for (int i = 0; i < 4; i++) {
		look[i].job.fn = look_around;
		look[i].take = take[i];
		hf_job_submit(exec, &look[i].job);
		hf_job_join(&look[i].job);
	}
	for (int i = 0; i < 4; i++) {
		CHECK_STR(look[i].name, "hartfs-decode");
		CHECK(look[i].blocked && look[i].disasm && look[i].clean);
		CHECK_EQ(look[i].scratch_before, before[i]);
		CHECK_EQ(look[i].nice, own);
	}
	hf_job_submit(exec, &low.job);
	hf_job_join(&low.job);
	CHECK_STR(low.name, "hartfs-index");
	CHECK(low.blocked && low.nice >= own);
	CHECK(low.nice == 10 || own);
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	CHECK(!sigismember(&set, SIGTERM)); /* the caller's mask is as it was */
	hf_exec_free(exec);
}

/* Many threads submit while the executor works. */
struct submitter {
	struct hf_exec *exec;
	struct counted jobs[2000];
};

static void *submit_all(void *ctx)
{
	struct submitter *s = ctx;

	for (int i = 0; i < 2000; i++)
		hf_job_submit(s->exec, &s->jobs[i].job);
	return NULL;
}

static void test_submitters(void)
{
	static struct submitter s[4];
	static atomic_uint sum, dones;
	pthread_t thread[4];
	struct hf_exec *exec = new_exec(3, 3);

	for (int t = 0; t < 4; t++) {
		s[t].exec = exec;
		for (int i = 0; i < 2000; i++)
			s[t].jobs[i] = (struct counted){.job = {.fn = count, .done = count_done, .urgency = i % HF_URGENCIES},
							.sum = &sum, .dones = &dones};
		CHECK_EQ(pthread_create(&thread[t], NULL, submit_all, &s[t]), 0);
	}
	for (int t = 0; t < 4; t++)
		pthread_join(thread[t], NULL);
	await_none(exec, HF_WORK_DECODE);
	CHECK_EQ(sum, 8000);
	hf_exec_free(exec);
	CHECK_EQ(dones, 8000);
}

/* A build that ends because all ends joins its helpers, while the threads are joined themselves. */
struct late {
	struct hf_job job, helper;
};

static int end_late(struct hf_job *job, struct hf_worker *worker)
{
	struct late *late = (struct late *)job;

	(void)worker;
	while (!hf_job_stopping(job))
		sleep_ms(1);
	/* The other threads have ended by then. */
	sleep_ms(50);
	hf_job_join(&late->helper);
	return HF_ERR_CANCELLED;
}

static int do_nothing(struct hf_job *job, struct hf_worker *worker)
{
	(void)job;
	(void)worker;
	return 0;
}

static void test_join_at_end(void)
{
	struct hf_exec *exec = new_exec(1, 1);
	struct late late = {.job = {.fn = end_late, .work = HF_WORK_INDEX}, .helper = {.fn = do_nothing, .work = HF_WORK_HELP}};

	/* One thread each: an idle one would take both. */
	hf_job_submit(exec, &late.job);
	sleep_ms(20);
	hf_job_submit(exec, &late.helper);
	sleep_ms(20);
	hf_exec_free(exec);
	CHECK_EQ(late.job.state, HF_JOB_DONE);
}

static struct hf_exec *at_exit;

static void end_at_exit(void)
{
	hf_exec_free(at_exit);
}

/* A program that ends as soon as its executor has begun: the threads' first steps must not meet its last ones. */
static void test_short_life(void)
{
	for (int i = 0; i < 100; i++) {
		const pid_t child = fork();
		int status;

		if (!child) {
			at_exit = new_exec(1, 1);
			atexit(end_at_exit);
			nanosleep(&(struct timespec){.tv_nsec = i * 300000}, NULL);
			exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	}
}

int main(void)
{
	test_short_life(); /* first: what is loaded once in a process is not loaded yet */
	test_join_at_end();
	test_all_done(0);
	test_all_done(1);
	test_all_done(4);
	test_urgency();
	test_stop();
	test_delay();
	test_again();
	test_aside();
	test_seats();
	test_give_up();
	test_give_way();
	test_paused();
	test_worker();
	test_submitters();
	hf_exec_free(NULL);
	return 0;
}
