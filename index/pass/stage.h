/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of a run: the first decodes and fills batches of events, each other one takes every batch in order. A
 * stage runs on any thread, but on one at a time, so the result does not depend on threads. Internal to index/.
 */
#ifndef HF_INDEX_STAGE_H
#define HF_INDEX_STAGE_H

#include "codecs/stretch.h"
#include "index/pass/pass.h"

/* Events of one call of a decoder: 16 KiB, so that what uses them next finds them in the first-level cache. */
#define HF_DECODE_EVENTS 512u
/* A multiple of it: 128 KiB, which stay in the second-level cache from one stage to the next. */
#define HF_BATCH_EVENTS 4096u

enum hf_tail {
	HF_TAIL_NONE,
	HF_TAIL_CHUNK, /* the chunk ends with it, and another follows */
	HF_TAIL_HART,  /* the last chunk ends with it */
};

/* Events of one chunk. */
struct hf_batch {
	size_t n;
	enum hf_tail tail;
	uint32_t kinds;	       /* a bit for each enum hf_event_kind in it; 0 for the records */
	struct hf_chunk chunk; /* its number and ordinal; with a tail all of it, after the digest's stage */
	struct hf_event ev[HF_BATCH_EVENTS];
	/* The stretches among these events, in order: a stage can reuse what it knows of one. None for the records. */
	size_t stretch_count;
	struct hf_stretch stretch[HF_BATCH_EVENTS / 2];
};

/* Before it is filled. Another thread has read its cache lines: a decoder would wait for each, while one store to each
 * line here waits for all of them together. */
static inline void hf_batch_fetch(struct hf_batch *batch)
{
	volatile uint8_t *const p = (volatile uint8_t *)batch->ev;

	for (size_t i = 0; i < sizeof batch->ev; i += 64)
		p[i] = 0;
}

/* Losses and defects of the source. */
#define HF_PROBLEM_KINDS (1u << HF_EVENT_GAP | 1u << HF_EVENT_DOUBT | 1u << HF_EVENT_NOTE)
static_assert(HF_EVENT_KINDS <= 32, "a bit for every kind");

static inline uint32_t hf_event_kinds(const struct hf_event *ev, size_t n)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < n; i++)
		kinds |= 1u << (ev[i].kind & 31);
	return kinds;
}

/* What work() returns, if not a negative error. */
enum hf_stage_result {
	HF_STAGE_DONE,	/* it has finished the batch */
	HF_STAGE_AGAIN, /* decoding stage: the batch is not full yet */
	HF_STAGE_NONE,	/* decoding stage: there is no batch, and nothing of this hart is stored */
};

struct hf_stage;

struct hf_stage_ops {
	/* Takes a batch. The decoding stage fills it, and perhaps a part of the next one. */
	int (*work)(struct hf_stage *stage, struct hf_batch *batch);
	/* At a commit and at the end of the run: stores state that is not in rows, up to the batches taken so far. Not
	 * called while work() runs; the stage may have failed. NULL: it has no such state. */
	int (*keep)(struct hf_stage *stage, bool end);
	/* Also frees the stage itself. */
	void (*free)(struct hf_stage *stage);
};

/* The first member of each stage's struct. */
struct hf_stage {
	const struct hf_stage_ops *ops;
	struct hf_pass_run *run;
	/* with the lock of the workers */
	uint64_t done; /* batches that it has finished */
	bool running;
	unsigned last; /* thread that ran it last: its caches know the state */
};

/*
 * The stages there are. Each of these adds one to a run, which frees it.
 */

enum hf_run_mode {
	HF_RUN_STORE, /* a hart's chunks and views, if it has any event */
	HF_RUN_KEEP,  /* also without events */
	HF_RUN_LOOK,  /* problems only */
};

/* Decodes, counts, and cuts chunks. start NULL: from the first event. */
int hf_stage_decode_add(struct hf_pass_run *run, const struct hf_run_start *start, enum hf_run_mode mode);
/* Decodes again the chunks that an index has, from that one on. */
int hf_stage_replay_add(struct hf_pass_run *run, struct hf_index *index, const struct hf_index_hart *hart,
			uint64_t number);
/* Takes the digest of each chunk's events, and what the hart did before it; or compares the digest with that of the
 * index there is. start as above. */
int hf_stage_digest_add(struct hf_pass_run *run, const struct hf_run_start *start);
/* Collects the code that the hart executed. start as above. */
int hf_stage_collect_add(struct hf_pass_run *run, const struct hf_run_start *start);
/* Sums up what the hart executes, from its first event on, or from where an earlier build was. before: events before
 * the first chunk that comes. */
int hf_stage_summary_add(struct hf_pass_run *run, uint64_t before);
/* Encodes view number of the pass. resume: from the chunk that its table was cut back to, else from its first byte. It
 * takes no batch of a chunk before first. */
int hf_stage_view_add(struct hf_pass_run *run, size_t number, uint64_t first, bool resume);

#endif
