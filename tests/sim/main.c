/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs schedules: "sim --seed N --count M" those with the seeds N to N + M - 1. Each is a process of its own, and one
 * more after a kill.
 */
#include "tests/sim/memory.h"
#include "tests/sim/sched.h"
#include "tests/sim/world.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Far more than any needs: of the processor, and by the clock for those that wait for what never comes. */
enum { CPU_S = 60, HANG_S = 900, STEPS_MOST = 20000000 };

struct shared {
	struct sim_state state;
	struct sim_history history[SIM_CHOSEN];
	struct {
		uint64_t reads, bytes, errors, struck, steps;
	} sum;
};

struct arguments {
	uint64_t seed, count;
	bool trace, twice, keep_going;
	const char *seeds; /* a file of them */
};

static struct shared *shared;

static int usage(void)
{
	fputs("usage: sim [--seed N] [--count M] [--trace] [--twice] [--go-on] [--seeds FILE]\n"
	      "  --trace  prints every step and what the program logs\n"
	      "  --twice  runs each schedule twice, which must be the same\n"
	      "  --go-on  runs the rest also when one has failed\n"
	      "  --seeds  runs those in FILE, one a line with words behind it\n",
	      stderr);
	return 2;
}

static bool parse(int argc, char **argv, struct arguments *a)
{
	*a = (struct arguments){.seed = 1, .count = 1};
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--trace") == 0)
			a->trace = true;
		else if (strcmp(argv[i], "--twice") == 0)
			a->twice = true;
		else if (strcmp(argv[i], "--go-on") == 0)
			a->keep_going = true;
		else if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc)
			a->seeds = argv[++i];
		else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
			a->seed = strtoull(argv[++i], NULL, 0);
		else if (strcmp(argv[i], "--count") == 0 && i + 1 < argc)
			a->count = strtoull(argv[++i], NULL, 0);
		else
			return false;
	}
	return true;
}

/* One processor, so that a turn costs little; and an end to whoever has none. */
static void confine(void)
{
	const int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : (unsigned)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
	setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_S, CPU_S});
	alarm(HANG_S);
}

static void run_child(unsigned process)
{
	confine();
	sim_world_run(process);
	shared->sum.reads += sim_world.reads;
	shared->sum.bytes += sim_world.bytes;
	shared->sum.errors += sim_world.errors;
	shared->sum.struck += sim_faults.struck;
	fflush(NULL);
	_exit(SIM_EXIT_OK);
}

/* What it exited with; what else ended it is written down as the failure. */
static int run_process(unsigned process)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		run_child(process);
	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && (WEXITSTATUS(status) == SIM_EXIT_OK || WEXITSTATUS(status) == SIM_EXIT_KILLED))
		return WEXITSTATUS(status);
	if (!shared->state.failure[0])
		snprintf(shared->state.failure, sizeof shared->state.failure, "step %" PRIu64 ": %s %d",
			 shared->state.step, WIFEXITED(status) ? "exit" : strsignal(WTERMSIG(status)),
			 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return SIM_EXIT_FAILED;
}

static bool run_schedule(uint64_t seed, bool trace)
{
	int result;

	sim_disk_format();
	shared->state = (struct sim_state){.seed = seed, .random = seed, .trace = trace, .step_most = STEPS_MOST};
	sim_world_draw(shared->history);
	result = run_process(0);
	/* Another one comes to what a process left that did not end in its own time. */
	if (result == SIM_EXIT_KILLED || (result == SIM_EXIT_OK && sim_world.ending == SIM_STOPPED)) {
		shared->state.kill_step = 0;
		result = run_process(1);
	}
	shared->sum.steps += shared->state.step;
	return result == SIM_EXIT_OK;
}

static bool run_seed(const struct arguments *a, uint64_t seed)
{
	const bool good = run_schedule(seed, a->trace);
	const uint64_t hash = shared->state.hash, steps = shared->state.step;

	if (a->twice && (run_schedule(seed, a->trace) != good || shared->state.hash != hash)) {
		printf("seed %" PRIu64 ": not the same again (%" PRIu64 " and %" PRIu64 " steps)\n", seed, steps,
		       shared->state.step);
		return false;
	}
	if (!good)
		printf("seed %" PRIu64 ": FAILED: %s\n  in it: %s\n", seed, shared->state.failure, sim_world.told);
	else if (a->count == 1)
		printf("seed %" PRIu64 ": %" PRIu64 " steps, %016" PRIx64 ": %s\n", seed, steps, hash, sim_world.told);
	return good;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Addresses are the same in every run. */
static void fix_addresses(char **argv)
{
	const int before = personality(0xffffffff);

	if (before < 0 || before & ADDR_NO_RANDOMIZE || personality((unsigned long)before | ADDR_NO_RANDOMIZE) < 0)
		return;
	execv("/proc/self/exe", argv);
}

/* What was tried; *failed counts. */
static uint64_t run_all(const struct arguments *a, uint64_t *failed)
{
	FILE *file = a->seeds ? fopen(a->seeds, "r") : NULL;
	char line[400];
	uint64_t tried = 0;

	if (a->seeds && !file) {
		perror(a->seeds);
		exit(1);
	}
	while (file ? fgets(line, sizeof line, file) != NULL : tried < a->count && (!*failed || a->keep_going)) {
		*failed += !run_seed(a, file ? strtoull(line, NULL, 10) : a->seed + tried);
		tried++;
	}
	if (file)
		fclose(file);
	return tried;
}

int main(int argc, char **argv)
{
	struct arguments a;
	uint64_t tried, failed = 0;
	void *front;
	double begun;

	if (!parse(argc, argv, &a))
		return usage();
	fix_addresses(argv);
	sim_keep_memory();
	setvbuf(stdout, NULL, _IOLBF, 0);
	sim_disk_init(sizeof *shared, &front);
	shared = front;
	sim_state = &shared->state;
	sim_state->quiet = true;
	sim_captures_make();
	malloc_trim(0);
	begun = seconds();
	tried = run_all(&a, &failed);
	printf("%" PRIu64 " schedules tried, %" PRIu64 " failed; %.1f an hour; steps %" PRIu64 ", reads %" PRIu64
	       ", bytes %" PRIu64 ", errors %" PRIu64 ", faults %" PRIu64 "\n",
	       tried, failed, (double)tried * 3600 / (seconds() - begun), shared->sum.steps, shared->sum.reads,
	       shared->sum.bytes, shared->sum.errors, shared->sum.struck);
	return failed ? 1 : 0;
}
