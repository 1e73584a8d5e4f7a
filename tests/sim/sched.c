/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/sched.h"

#include "tests/sim/threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 96, PRIORITIES = 1000, CHANGE_ONE_IN = 300 };

enum standing { FREE, STARTING, READY, WAITING, ENDED };

struct thread {
	enum standing standing;
	int baton;	    /* 1: it is its turn; the others sleep on this word */
	const void *object; /* it waits for */
	const char *what;
	int64_t wake_ns;
	bool late;
	unsigned priority;
	char name[16];
	struct sim_thread body;
};

struct sim_state *sim_state;

static struct thread thread[THREADS];
static unsigned used;
static bool on;
static unsigned held; /* nobody else may go on */
static _Thread_local unsigned self;

long __real_syscall(long number, ...);

bool sim_sched_is_on(void)
{
	return on;
}

uint64_t sim_below(uint64_t n)
{
	uint64_t z = sim_state->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return n ? z % n : z;
}

bool sim_one_in(uint64_t n)
{
	return n && sim_below(n) == 0;
}

static void add_hash(uint64_t word)
{
	sim_state->hash = (sim_state->hash ^ word) * UINT64_C(0x100000001b3);
}

void sim_fail(const char *format, ...)
{
	struct sim_state *s = sim_state;
	va_list args;
	int n = snprintf(s->failure, sizeof s->failure,
			 "step %llu, %.3f s, thread %u %s: ", (unsigned long long)s->step, (double)s->now_ns / 1e9,
			 self, thread[self].name);

	va_start(args, format);
	vsnprintf(s->failure + n, sizeof s->failure - (size_t)n, format, args);
	va_end(args);
	fflush(NULL);
	_exit(SIM_EXIT_FAILED);
}

/* ---- whose turn it is ---- */

static void wake_late(void)
{
	for (unsigned i = 0; i < used; i++)
		if (thread[i].standing == WAITING && thread[i].wake_ns <= sim_state->now_ns) {
			thread[i].standing = READY;
			thread[i].late = true;
		}
}

static unsigned count_ready(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < used; i++)
		n += thread[i].standing == READY;
	return n;
}

static void fail_of_deadlock(void)
{
	char text[1500] = "";
	size_t n = 0;

	for (unsigned i = 0; i < used && n < sizeof text; i++)
		if (thread[i].standing == WAITING)
			n += (size_t)snprintf(text + n, sizeof text - n, "; %u %s: %s %p", i, thread[i].name,
					      thread[i].what, thread[i].object);
	sim_fail("all threads wait for ever%s", text);
}

/* When all wait, time goes on to the next who waits for it. */
static void pass_time(void)
{
	int64_t next = SIM_NEVER;

	for (unsigned i = 0; i < used; i++)
		if (thread[i].standing == WAITING && thread[i].wake_ns < next)
			next = thread[i].wake_ns;
	if (next == SIM_NEVER)
		fail_of_deadlock();
	if (next > sim_state->now_ns)
		sim_state->now_ns = next;
	wake_late();
}

static unsigned choose(void)
{
	unsigned n, best = THREADS;
	uint64_t skip;

	while (!(n = count_ready()))
		pass_time();
	skip = sim_state->pace.by_priority || sim_state->quiet || n == 1 ? 0 : sim_below(n);
	for (unsigned i = 0; i < used; i++) {
		if (thread[i].standing != READY)
			continue;
		if (sim_state->pace.by_priority) {
			if (best == THREADS || thread[i].priority > thread[best].priority)
				best = i;
		} else if (skip-- == 0) {
			return i;
		}
	}
	return best;
}

static void pass_baton(unsigned to)
{
	__atomic_store_n(&thread[to].baton, 1, __ATOMIC_RELEASE);
	__real_syscall(SYS_futex, &thread[to].baton, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_baton(unsigned me)
{
	while (!__atomic_load_n(&thread[me].baton, __ATOMIC_ACQUIRE))
		__real_syscall(SYS_futex, &thread[me].baton, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	thread[me].baton = 0;
}

static void go_on(unsigned next)
{
	const unsigned me = self;

	if (next == me)
		return;
	pass_baton(next);
	await_baton(me);
}

/* ---- steps and waits ---- */

static void tell(const char *what, const char *object, uint64_t number)
{
	struct sim_state *s = sim_state;

	for (const char *p = what; *p; p++)
		add_hash((unsigned char)*p);
	add_hash(self);
	add_hash(number);
	if (s->trace)
		fprintf(stderr, "%7llu %9.3f %2u %-14s %s %s %llu\n", (unsigned long long)s->step,
			(double)s->now_ns / 1e9, self, thread[self].name, what, object ? object : "",
			(unsigned long long)number);
}

void sim_remark(const char *format, ...)
{
	va_list args;

	if (!sim_state->trace)
		return;
	fprintf(stderr, "        %9.3f %2u %-14s ", (double)sim_state->now_ns / 1e9, self, thread[self].name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void sim_step(const char *what, const char *object, uint64_t number)
{
	struct sim_state *s = sim_state;

	if (s->quiet) {
		s->now_ns += 1000;
		return;
	}
	s->step++;
	tell(what, object, number);
	if (s->step == s->kill_step) {
		fflush(NULL);
		_exit(SIM_EXIT_KILLED);
	}
	if (s->step == s->alarm_step)
		sim_wake(&s->alarm_step, true);
	if (s->step_most && s->step > s->step_most)
		sim_fail("it does not come to an end");
	s->now_ns += s->pace.tick_ns;
	if (s->pace.tick_ns)
		wake_late();
	if (held)
		return;
	if (s->pace.by_priority && sim_one_in(CHANGE_ONE_IN))
		thread[self].priority = (unsigned)sim_below(PRIORITIES);
	if (sim_one_in(s->pace.switch_one_in))
		go_on(choose());
}

bool sim_wait(const char *what, const void *object, int64_t until_ns)
{
	struct thread *me = &thread[self];

	if (held)
		sim_fail("%s where nobody else may go on", what);
	me->what = what;
	me->object = object;
	me->wake_ns = until_ns;
	me->late = false;
	me->standing = WAITING;
	go_on(choose());
	me->object = NULL;
	return !me->late;
}

bool sim_wait_spurious(const char *what, const void *object, int64_t until_ns)
{
	if (!sim_state->quiet && sim_one_in(sim_state->pace.spurious_one_in))
		return sim_wait(what, object, sim_state->now_ns) || true;
	return sim_wait(what, object, until_ns);
}

void sim_wake(const void *object, bool all)
{
	unsigned n = sim_waiting(object);
	uint64_t one = all || n < 2 || sim_state->quiet ? 0 : sim_below(n);

	for (unsigned i = 0; i < used; i++) {
		if (thread[i].standing != WAITING || thread[i].object != object)
			continue;
		if (all || one-- == 0)
			thread[i].standing = READY;
	}
}

unsigned sim_waiting(const void *object)
{
	unsigned n = 0;

	for (unsigned i = 0; i < used; i++)
		n += thread[i].standing == WAITING && thread[i].object == object;
	return n;
}

int64_t sim_now_ns(void)
{
	return sim_state->now_ns;
}

void sim_sleep_ns(int64_t ns)
{
	sim_step("sleep", NULL, (uint64_t)ns);
	sim_wait("sleep", NULL, sim_state->now_ns + ns);
}

void sim_hold(bool hold)
{
	held += hold ? 1 : -1u;
}

/* ---- threads ---- */

static void *run(void *arg)
{
	struct thread *t = arg;

	self = (unsigned)(t - thread);
	await_baton(self);
	t->body.result = t->body.fn(t->body.arg);
	sim_step("end", t->name, 0);
	t->standing = ENDED;
	sim_wake(t, true);
	pass_baton(choose());
	return NULL;
}

int sim_thread_start(const pthread_attr_t *attr, void *(*fn)(void *), void *arg, unsigned *ret_number)
{
	unsigned i = 1;
	int err;

	sim_step("create", NULL, 0);
	while (i < THREADS && thread[i].standing != FREE)
		i++;
	if (i == THREADS)
		sim_fail("more than %d threads", THREADS);
	thread[i] = (struct thread){.standing = STARTING, .body = {.fn = fn, .arg = arg}};
	thread[i].priority = sim_state->quiet ? 0 : (unsigned)sim_below(PRIORITIES);
	if (i >= used)
		used = i + 1;
	err = sim_real_create(&thread[i].body.real, attr, run, &thread[i]);
	if (err) {
		thread[i].standing = FREE;
		return err;
	}
	thread[i].standing = READY;
	*ret_number = i;
	return 0;
}

void sim_thread_join(unsigned number, void **ret_result)
{
	struct thread *t = &thread[number];

	sim_step("join", t->name, number);
	if (number >= THREADS || t->standing == FREE)
		sim_fail("join of a thread that is none");
	while (t->standing != ENDED)
		sim_wait("join", t, SIM_NEVER);
	sim_real_join(t->body.real);
	if (ret_result)
		*ret_result = t->body.result;
	t->standing = FREE;
}

unsigned sim_thread_self(void)
{
	return self;
}

void sim_thread_name(const char *name)
{
	snprintf(thread[self].name, sizeof thread[self].name, "%s", name);
}

unsigned sim_threads(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < used; i++)
		n += thread[i].standing != FREE;
	return n;
}

void sim_sched_begin(void)
{
	memset(thread, 0, sizeof thread);
	self = 0;
	used = 1;
	held = 0;
	thread[0].standing = READY;
	sim_thread_name("main");
	on = true;
}

void sim_sched_end(void)
{
	if (sim_threads() != 1)
		sim_fail("%u threads are left", sim_threads() - 1);
	on = false;
}
