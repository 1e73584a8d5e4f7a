/* SPDX-License-Identifier: Apache-2.0 */
/* A job of the executor (exec.h), and its kind. */
#ifndef HF_INDEX_JOB_H
#define HF_INDEX_JOB_H

#include "codecs/codec.h"

#include <stdatomic.h>

struct hf_exec;

/* The kind of work; each has its number of seats. */
enum hf_work {
	HF_WORK_DECODE, /* of bytes that somebody reads */
	HF_WORK_SERVE,  /* short things for the kernel */
	/* at low priority */
	HF_WORK_INDEX,  /* of captures; these give way: hf_job_give_way */
	HF_WORK_HELP,   /* parts of a build */
	HF_WORK_SPOOL,  /* recompressing */
	HF_WORK_CHORE,  /* anything else: looking for captures, writing the catalogue */
	HF_WORKS
};

enum hf_urgency {
	HF_URGENT, /* somebody waits for it */
	HF_LATER,  /* somebody will want it */
	HF_URGENCIES
};

enum hf_job_state {
	HF_JOB_NEW,
	HF_JOB_QUEUED,   /* perhaps not before a time */
	HF_JOB_RUNNING,
	HF_JOB_STOPPING, /* it runs, and was told to end */
	HF_JOB_WAITING,  /* put aside (HF_JOB_ASIDE): who has what it needs submits it again */
	HF_JOB_DONE,
};

/* What a job may use of the thread it runs on. */
struct hf_worker {
	struct hf_enc_env env; /* the job sets env.symbols; disasm may be NULL */
	uint8_t *scratch;      /* memory that stays with the thread */
	size_t scratch_size;
};

/* Returned by fn: the job is not done, and what it waits for submits it again (or already has). */
enum { HF_JOB_ASIDE = 0x5a5a };

/* Embedded by the owner, who sets the members before exec, and the others to zero. */
struct hf_job {
	int (*fn)(struct hf_job *job, struct hf_worker *worker);
	/* Called once for each submit of a job that is NEW or DONE, with fn's result or HF_ERR_CANCELLED, on any
	 * thread, without locks of the executor. The job is its owner's again: done may free or submit it. May be
	 * NULL. */
	void (*done)(struct hf_job *job, int status);
	enum hf_work work;
	enum hf_urgency urgency;
	bool spare;   /* it may end with HF_ERR_CANCELLED instead of waiting for another job: hf_job_gives_up */
	bool gave_up; /* for done: hf_job_gives_up was true */
	/* the executor's */
	struct hf_exec *_Atomic exec;
	_Atomic enum hf_job_state state;
	enum hf_urgency now; /* present urgency */
	bool again, delayed;
	_Atomic bool paused;
	int64_t due_ns, since_ns;
	struct hf_job *prev, *next;
};

#endif
