/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decode pool: a fixed number of threads that take jobs in order of urgency, each with the disassembly memo that
 * encoders need. FUSE's own threads never do this work.
 */
#ifndef HF_FS_POOL_H
#define HF_FS_POOL_H

#include "codecs/codec.h"

struct hf_pool;

enum hf_urgency {
	HF_URGENT, /* somebody waits for it */
	HF_AHEAD,  /* a sequential reader will want it */
	HF_URGENCIES
};

/* What a job may use of the thread it runs on. */
struct hf_worker {
	struct hf_enc_env env; /* env.symbols is the job's to set */
	uint8_t *scratch;      /* room that grows and stays with the thread */
	size_t scratch_size;
};

/* Embedded by the owner; not touched by the pool any more once fn was called. */
struct hf_job {
	void (*fn)(struct hf_job *job, struct hf_worker *worker);
	enum hf_urgency urgency;
	struct hf_job *next; /* the pool's own */
};

/* Cores this process may use, which taskset and containers make fewer than there are. */
unsigned hf_pool_cores(void);

int hf_pool_new(unsigned threads, struct hf_pool **ret_pool);
/* Runs what is queued to its end, then joins the threads. */
void hf_pool_free(struct hf_pool *pool);
void hf_pool_submit(struct hf_pool *pool, struct hf_job *job);
/* Jobs queued or running of that urgency. */
size_t hf_pool_load(struct hf_pool *pool, enum hf_urgency urgency);
unsigned hf_pool_threads(const struct hf_pool *pool);

#endif
