/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are real, of which one runs at a time. At each step, a call that the simulator sees, the seed says which
 * one goes on. Time passes by itself only when all of them wait.
 *
 * Whoever runs owns the whole simulator: nothing here needs a lock.
 */
#ifndef HF_SIM_SCHED_H
#define HF_SIM_SCHED_H

#include <stdbool.h>
#include <stdint.h>

/* How threads take turns. All of it is drawn from the seed. */
struct sim_pace {
	unsigned switch_one_in;	  /* steps at which another thread may go on */
	bool by_priority;	  /* the one of highest priority goes on; priorities change now and then */
	int64_t tick_ns;	  /* what a step takes; 0: nothing */
	unsigned spurious_one_in; /* waits on a condition that end by themselves; 0: none */
};

/* What outlives a process of the schedule; it lies in memory that is shared with the next one. */
struct sim_state {
	uint64_t seed, random; /* of all choices */
	struct sim_pace pace;
	uint64_t step, kill_step; /* 0: it is not killed */
	uint64_t step_most;	  /* more of them is a failure */
	uint64_t alarm_step;	  /* at which whoever waits for &alarm_step is woken; 0: none */
	uint64_t hash;		  /* of everything that happened */
	int64_t now_ns;
	bool trace;
	bool quiet;	    /* no choice, no step is counted: the truth is made */
	char failure[2048]; /* "": none */
};
extern struct sim_state *sim_state;

/* What a process exits with. */
enum { SIM_EXIT_OK = 0, SIM_EXIT_FAILED = 70, SIM_EXIT_KILLED = 71 };

/* The calling thread becomes the first one; until sim_sched_end calls are simulated. */
void sim_sched_begin(void);
/* All others must have been joined. */
void sim_sched_end(void);
bool sim_sched_is_on(void);

/* Numbers of the seed: below n, and true once in n times (n 0: never). */
uint64_t sim_below(uint64_t n);
bool sim_one_in(uint64_t n);

/* Before whatever the simulator sees. object tells it in the trace, number too. */
void sim_step(const char *what, const char *object, uint64_t number);

/* Only for the trace. */
void sim_remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Waits until sim_wake of the same object, or a time has come. False: it has. */
#define SIM_NEVER INT64_MAX
bool sim_wait(const char *what, const void *object, int64_t until_ns);
/* All that wait for it, or one. */
void sim_wake(const void *object, bool all);
/* A wait that ends by itself sometimes (conditions). */
bool sim_wait_spurious(const char *what, const void *object, int64_t until_ns);
/* Since the beginning, which for the clock on the wall was at SIM_EPOCH_S. */
#define SIM_EPOCH_S 1700000000
int64_t sim_now_ns(void);
void sim_sleep_ns(int64_t ns);

/* Threads by their number, from 0. NULL name: "". */
unsigned sim_thread_self(void);
void sim_thread_name(const char *name);
unsigned sim_threads(void);
/* Of threads that wait for this object. */
unsigned sim_waiting(const void *object);

/* The schedule has failed: says so with the step and ends the process. */
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
