/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of libpthread and of the clock, as the linker puts them in place of the real ones (wrapped.txt). A mutex
 * and a condition keep what the simulator knows of them in their own memory: all zero is one that nobody has, as a
 * static initialiser makes it.
 */
#include "tests/sim/threads.h"

#include "tests/sim/sched.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define BOOT_S 1000

struct mutex {
	unsigned owner; /* its number + 1 */
	unsigned waiting;
};

struct cond {
	bool monotonic;
};

static_assert(sizeof(struct mutex) <= sizeof(pthread_mutex_t) && sizeof(struct cond) <= sizeof(pthread_cond_t), "");

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __real_pthread_join(pthread_t, void **);
int __real_pthread_mutex_lock(pthread_mutex_t *);
int __real_pthread_mutex_unlock(pthread_mutex_t *);
int __real_pthread_once(pthread_once_t *, void (*)(void));
pthread_t __real_pthread_self(void);
int __real_clock_gettime(clockid_t, struct timespec *);

int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_join(pthread_t, void **);
pthread_t __wrap_pthread_self(void);
int __wrap_pthread_setname_np(pthread_t, const char *);
int __wrap_pthread_once(pthread_once_t *, void (*)(void));
int __wrap_pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *);
int __wrap_pthread_mutex_lock(pthread_mutex_t *);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *);
int __wrap_pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *);
int __wrap_pthread_cond_destroy(pthread_cond_t *);
int __wrap_pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int __wrap_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int __wrap_pthread_cond_signal(pthread_cond_t *);
int __wrap_pthread_cond_broadcast(pthread_cond_t *);
int __wrap_clock_gettime(clockid_t, struct timespec *);
time_t __wrap_time(time_t *);
int __wrap_nanosleep(const struct timespec *, struct timespec *);
int __wrap_usleep(useconds_t);
ssize_t __wrap_getrandom(void *, size_t, unsigned);
int __wrap_setpriority(__priority_which_t, id_t, int);

int sim_real_create(pthread_t *ret_real, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return __real_pthread_create(ret_real, attr, fn, arg);
}

void sim_real_join(pthread_t real)
{
	__real_pthread_join(real, NULL);
}

/* ---- threads ---- */

int __wrap_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	unsigned number;
	int err = sim_thread_start(attr, fn, arg, &number);

	if (!err)
		*ret_thread = number + 1;
	return err;
}

int __wrap_pthread_join(pthread_t thread, void **ret_result)
{
	sim_thread_join((unsigned)thread - 1, ret_result);
	return 0;
}

pthread_t __wrap_pthread_self(void)
{
	return sim_sched_is_on() ? sim_thread_self() + 1 : __real_pthread_self();
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
	(void)thread;
	sim_thread_name(strncmp(name, "hartfs-", 7) == 0 ? name + 7 : name);
	return 0;
}

int __wrap_pthread_once(pthread_once_t *once, void (*fn)(void))
{
	sim_hold(true);
	__real_pthread_once(once, fn);
	sim_hold(false);
	return 0;
}

/* ---- mutexes ---- */

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	if (attr)
		sim_fail("the simulator knows no attributes of a mutex");
	memset(mutex, 0, sizeof *mutex);
	return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	if (sim_sched_is_on() && ((struct mutex *)mutex)->owner)
		sim_fail("a locked mutex is destroyed");
	memset(mutex, 0xa5, sizeof *mutex);
	return 0;
}

static void take(pthread_mutex_t *mutex)
{
	struct mutex *m = (struct mutex *)mutex;

	while (m->owner) {
		sim_remark("waits for mutex %p of thread %u", (void *)mutex, m->owner - 1);
		m->waiting++;
		sim_wait("lock", mutex, SIM_NEVER);
		m->waiting--;
	}
	m->owner = sim_thread_self() + 1;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct mutex *m = (struct mutex *)mutex;
	const unsigned me = sim_thread_self() + 1;

	if (!sim_sched_is_on())
		return __real_pthread_mutex_lock(mutex);
	sim_step("lock", NULL, 0);
	sim_remark("mutex %p from %p", (void *)mutex, __builtin_return_address(0));
	if (m->owner == me)
		sim_fail("a mutex is locked twice by one thread");
	if (m->owner > 1000)
		sim_fail("a mutex is locked that was destroyed");
	take(mutex);
	return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	struct mutex *m = (struct mutex *)mutex;

	if (!sim_sched_is_on())
		return __real_pthread_mutex_unlock(mutex);
	if (m->owner != sim_thread_self() + 1)
		sim_fail("a mutex is unlocked by a thread that does not have it");
	m->owner = 0;
	if (m->waiting)
		sim_wake(mutex, true);
	sim_step("unlock", NULL, 0);
	return 0;
}

/* ---- conditions ---- */

int __wrap_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
	clockid_t clock = CLOCK_REALTIME;

	if (attr)
		pthread_condattr_getclock(attr, &clock);
	memset(cond, 0, sizeof *cond);
	((struct cond *)cond)->monotonic = clock == CLOCK_MONOTONIC;
	return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *cond)
{
	if (sim_sched_is_on() && sim_waiting(cond))
		sim_fail("a condition is destroyed that somebody waits for");
	memset(cond, 0xa5, sizeof *cond);
	return 0;
}

/* Gives the mutex up and takes it again. False: the time has come. */
static bool wait_for(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t until_ns)
{
	struct mutex *m = (struct mutex *)mutex;
	bool woken;

	if (m->owner != sim_thread_self() + 1)
		sim_fail("a wait with a mutex that the thread does not have");
	sim_step("wait", NULL, 0);
	sim_remark("condition %p from %p", (void *)cond, __builtin_return_address(0));
	m->owner = 0;
	if (m->waiting)
		sim_wake(mutex, true);
	woken = sim_wait_spurious("condition", cond, until_ns);
	take(mutex);
	return woken;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	wait_for(cond, mutex, SIM_NEVER);
	return 0;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	const int64_t base = ((struct cond *)cond)->monotonic ? BOOT_S : SIM_EPOCH_S;
	const int64_t until_ns = (until->tv_sec - base) * SECOND + until->tv_nsec;

	if (until->tv_nsec < 0 || until->tv_nsec >= SECOND)
		sim_fail("a wait until a time that is none");
	if (until_ns - sim_now_ns() > 1000000 * SECOND)
		sim_fail("a wait by another clock than the condition's");
	return wait_for(cond, mutex, until_ns) ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	sim_step("signal", NULL, 0);
	sim_wake(cond, false);
	return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
	sim_step("broadcast", NULL, 0);
	sim_wake(cond, true);
	return 0;
}

/* ---- time, chance ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	int64_t now_ns;

	if (!sim_sched_is_on())
		return __real_clock_gettime(clock, ret_time);
	now_ns = sim_now_ns() + (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? SIM_EPOCH_S : BOOT_S) * SECOND;
	*ret_time = (struct timespec){.tv_sec = now_ns / SECOND, .tv_nsec = now_ns % SECOND};
	return 0;
}

time_t __wrap_time(time_t *ret_time)
{
	struct timespec now;

	__wrap_clock_gettime(CLOCK_REALTIME, &now);
	if (ret_time)
		*ret_time = now.tv_sec;
	return now.tv_sec;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *ret_left)
{
	(void)ret_left;
	sim_sleep_ns(time->tv_sec * SECOND + time->tv_nsec);
	return 0;
}

int __wrap_usleep(useconds_t us)
{
	sim_sleep_ns(us * INT64_C(1000));
	return 0;
}

ssize_t __wrap_getrandom(void *buf, size_t size, unsigned flags)
{
	(void)flags;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)buf)[i] = (uint8_t)sim_below(256);
	return (ssize_t)size;
}

int __wrap_setpriority(__priority_which_t which, id_t who, int priority)
{
	(void)which;
	(void)who;
	(void)priority;
	return 0;
}
