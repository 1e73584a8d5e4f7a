/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monotonic clock of the program whose one C file includes this, for tests of what depends on time: it can be
 * stopped and put ahead, so that no machine's speed decides. The kernel's waits with a deadline go by the true one.
 */
#ifndef HF_TEST_TESTCLOCK_H
#define HF_TEST_TESTCLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t hf_clock_stopped_ns; /* what it shows; 0: it runs */
static _Atomic int64_t hf_clock_ahead_ns;   /* of the true one */

static int64_t hf_clock_true_ns(void)
{
	struct timespec now = {0};

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Takes the place of the library's. */
int clock_gettime(clockid_t id, struct timespec *ret_time)
{
	int64_t ns;

	if (id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, id, ret_time);
	ns = hf_clock_stopped_ns;
	if (!ns)
		ns = hf_clock_true_ns() + hf_clock_ahead_ns;
	*ret_time = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	return 0;
}

static inline void hf_clock_stop(void)
{
	hf_clock_stopped_ns = hf_clock_true_ns() + hf_clock_ahead_ns;
}

/* While it stands still. */
static inline void hf_clock_advance_ms(int64_t ms)
{
	hf_clock_stopped_ns += ms * 1000000;
}

/* Never behind the true one: who waits until a time of it would not wait at all. */
static inline void hf_clock_go_on(void)
{
	const int64_t ahead_ns = hf_clock_stopped_ns - hf_clock_true_ns();

	hf_clock_ahead_ns = ahead_ns > 0 ? ahead_ns : 0;
	hf_clock_stopped_ns = 0;
}

#endif
