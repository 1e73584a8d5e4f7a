/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A build in progress, shared by its steps: build.c decides what is to be done, harts.c goes from hart to hart, pass.c
 * makes the chunks of one, replay.c makes view tables for chunks that are there; lane.h says how that is spread over
 * threads. All of this belongs to the building thread but for build, in.stream and what is constant while lanes run:
 * limits, env, the list of views. Internal to index/.
 */
#ifndef HF_INDEX_BUILDER_H
#define HF_INDEX_BUILDER_H

#include "index/fault.h"
#include "index/index_part.h"
#include "index/input.h"
#include "index/view_part.h"

/* Events at a time: 16 KiB, so that encoders find them in the first-level cache. */
#define HF_BATCH 512

struct hf_crew;
struct hf_lane;

struct hf_builder {
	const struct hf_build *build;
	struct hf_chunk_limits limits;
	uint64_t most;               /* hf_expansion_most */
	struct hf_enc_env env;
	struct hf_input in;
	struct hf_index_part *index; /* NULL while replaying */
	struct hf_crew *crew;        /* NULL before and after the walk */
	struct hf_view_part *views;  /* the tables being made */
	size_t view_count;
	struct hf_diag *diag;
	struct hf_fault fault;       /* of the directory, that ended it */
	bool made_room;              /* for want of which it ended: it is worth another try */
	uint32_t *ids;               /* of the harts found so far */
	size_t id_count;
	/* progress */
	uint64_t pass, passes;       /* which pass over the file, of how many besides one for each of ids */
	uint64_t insns;              /* of harts that are done */
	/* clocks, in ns */
	uint64_t ticked, committed, commit_cost;
	uint64_t offset;             /* stream offset up to which rows were written */
	uint64_t committed_offset;   /* that at the last commit */
	unsigned ticks;              /* with build->every */
};

uint64_t hf_builder_now(void);
/* Every few milliseconds: tells the progress, and keeps what has been done, if it is time to. offset: in the stream. */
int hf_builder_tick(struct hf_builder *b, uint64_t offset, bool chunk_ended);
int hf_builder_commit(struct hf_builder *b);
/* Adds a hart to those that are known: with every chunk, for a decoder that is entered behind them does not find them
 * again. */
int hf_builder_add_id(struct hf_builder *b, uint32_t id);

/* Where a walk begins if not at the first event: a chunk that was cut off, and what its hart had before it. */
struct hf_pass_start {
	struct hf_chunk_row row;
	uint64_t attempts, events;
};

enum hf_pass_mode {
	HF_PASS_STORE,   /* a hart's chunks and views, if it has any event */
	HF_PASS_KEEP,    /* also without events */
	HF_PASS_LOOK,    /* problems only */
};

/* Begins a pass: the lane is among the crew's. */
int hf_pass_new(struct hf_builder *b, uint64_t slot, uint32_t hart, const struct hf_pass_start *start,
		enum hf_pass_mode mode, struct hf_lane **ret_lane);

/* Makes b->views, as far as they are not made yet, for all chunks of a published index. */
int hf_replay_run(struct hf_builder *b, struct hf_index *index);

/* The first hart of an index in a slot at or behind from, the records among them; NULL if there is none. */
const struct hf_index_hart *hf_index_next_slot(const struct hf_index *index, uint64_t from, uint64_t *ret_slot);

/* All chunks of all harts into b->index and b->views (pass_harts.c); goes on where an earlier build ended. */
int hf_builder_walk(struct hf_builder *b);

/* The records are a hart that is walked if their view is asked for. */
bool hf_builder_wants_records(const struct hf_builder *b);
/* Takes b->views[i] out, and keeps its private file for later. */
void hf_builder_leave_view(struct hf_builder *b, size_t i);

#endif
