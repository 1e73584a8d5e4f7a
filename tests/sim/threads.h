/* SPDX-License-Identifier: Apache-2.0 */
/* Between the scheduler and the calls of libpthread that stand for it (threads.c). */
#ifndef HF_SIM_THREADS_H
#define HF_SIM_THREADS_H

#include <pthread.h>
#include <stdbool.h>

struct sim_thread {
	pthread_t real;
	void *(*fn)(void *);
	void *arg, *result;
};

int sim_real_create(pthread_t *ret_real, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
void sim_real_join(pthread_t real);

int sim_thread_start(const pthread_attr_t *attr, void *(*fn)(void *), void *arg, unsigned *ret_number);
void sim_thread_join(unsigned number, void **ret_result);
/* While it is held no other thread goes on, and nobody may wait. */
void sim_hold(bool hold);

#endif
