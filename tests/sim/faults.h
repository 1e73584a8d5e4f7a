/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls fail, and how: a few faults drawn from the seed, each with a target, a rate and an end. */
#ifndef HF_SIM_FAULTS_H
#define HF_SIM_FAULTS_H

#include "tests/sim/disk.h"

enum sim_call {
	SIM_OPEN = 1, /* also of a directory */
	SIM_STAT = 2,
	SIM_READ = 4,
	SIM_WRITE = 8, /* also truncate, and what makes a name */
	SIM_SYNC = 16,
	SIM_NAME = 32, /* rename, unlink */
};

struct sim_fault {
	const char *kind;
	enum sim_part part;
	const char *path; /* in it: this file, or what lies in this directory; NULL: any */
	unsigned calls;	  /* enum sim_call */
	int errnum;	  /* 0: what follows instead */
	bool is_short;	  /* fewer bytes than asked for, never none */
	int64_t delay_ns; /* it takes so long */
	unsigned one_in;
	unsigned left; /* strikes that are left */
};

enum { SIM_FAULTS = 8 };

struct sim_faults {
	struct sim_fault fault[SIM_FAULTS];
	unsigned count;
	unsigned descriptors; /* how many there may be */
	bool calm;	      /* none strikes any more */
	unsigned struck;
	unsigned stalled, stalled_most; /* threads that wait for a delay of a second or more */
};
extern struct sim_faults sim_faults;

/* What delays have cost the calling thread so far. */
int64_t sim_delays_of_self(void);

/* What happens to this call: an errno or 0; *size may become smaller (NULL: it has none). May take its time. */
int sim_fault_strikes(enum sim_call call, const struct sim_inode *inode, size_t *size);

#endif
