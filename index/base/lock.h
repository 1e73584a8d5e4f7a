/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HF_LOCKED(&x->lock) holds a mutex until the end of the block. Conditions use the monotonic clock: a wait of two
 * seconds takes two seconds, even if the time of day is set.
 */
#ifndef HF_INDEX_LOCK_H
#define HF_INDEX_LOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static inline pthread_mutex_t *hf_lock_begin(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	return lock;
}

static inline void hf_lock_end(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

#define HF_LOCK_NAME(line) hf_locked_##line
#define HF_LOCK_AT(lock, line) \
	__attribute__((cleanup(hf_lock_end), unused)) pthread_mutex_t *HF_LOCK_NAME(line) = hf_lock_begin(lock)
#define HF_LOCKED(lock) HF_LOCK_AT(lock, __LINE__)

static inline void hf_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

static inline int64_t hf_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The time ms from now, for pthread_cond_timedwait. */
static inline struct timespec hf_in_ms(unsigned ms)
{
	const int64_t at_ns = hf_now_ns() + (int64_t)ms * 1000000;

	return (struct timespec){.tv_sec = at_ns / 1000000000, .tv_nsec = at_ns % 1000000000};
}

#endif
