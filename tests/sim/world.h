/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One schedule: what is in the archive, what is done to it, which faults strike, and who reads. All of it is drawn from
 * the seed before the first step.
 */
#ifndef HF_SIM_WORLD_H
#define HF_SIM_WORLD_H

#include "tests/sim/captures.h"
#include "tests/sim/faults.h"

#include "fs/fs.h"

enum { SIM_CHOSEN = 3, SIM_CHANGES = 8, SIM_GONE = SIM_VERSIONS };

/* Which version of a capture there was from which step on. In shared memory: it outlives a process. */
struct sim_history {
	unsigned count;
	struct {
		uint64_t step;
		unsigned version; /* or SIM_GONE */
	} at[SIM_CHANGES];
};

struct sim_chosen {
	const struct sim_capture *capture;
	struct sim_history *history;
	bool changes; /* somebody exchanges it */
	bool fails;   /* a fault is aimed at it: errors are right */
	bool stalls;  /* a read of it takes very long: what needs its bytes waits, or is told to come again */
};

/* How a process of the schedule ends. */
enum sim_ending { SIM_CLOSED, SIM_STOPPED, SIM_KILL, SIM_POWER };

struct sim_world {
	/* drawn */
	struct sim_chosen chosen[SIM_CHOSEN];
	size_t count;
	struct hf_fs_options options;
	unsigned clients, operations; /* of each */
	enum sim_ending ending;	      /* of the first process */
	bool rots;		      /* a bit of the index directory turns over between the two */
	bool index_fails;	      /* faults of the index directory: they cost time, never an answer */
	bool archive_fails;
	bool short_of_files;
	bool stalls;
	bool prompt;	/* no step takes time, so that what takes time can be told */
	char told[400]; /* the same in words */
	/* while it runs */
	struct hf_fs *fs;
	bool stopped;	  /* hf_fs_stop was said */
	bool settling;	  /* no fault strikes any more */
	unsigned running; /* clients */
	uint64_t reads, bytes, errors, invalidated;
};
extern struct sim_world sim_world;

/* Draws it; history lies in shared memory. */
void sim_world_draw(struct sim_history history[SIM_CHOSEN]);
/* One process of it: 0 is the first. */
void sim_world_run(unsigned process);

/* Bits of the versions that were there between two steps (1 << SIM_GONE: none). */
unsigned sim_versions_between(const struct sim_chosen *chosen, uint64_t from, uint64_t to);

#endif
