/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One hart on its way into the tables, as a row of stages that may run on different threads, each on one at a time:
 *
 *   decode -> segments of events -> collect (the code), one encoder a view -> join -> tape -> writer
 *
 * Every stage takes the segments in their order, so that what comes out does not depend on who ran when. The ring of
 * segments and the tape are bounded: who is ahead waits. The building thread alone writes into tables (pass_write.c), one
 * lane after the other. Internal to index/.
 */
#ifndef HF_INDEX_LANE_H
#define HF_INDEX_LANE_H

#include "index/pass.h"
#include "index/row_queue.h"
#include "index/stage.h"

#include <stdatomic.h>

/* A multiple of HF_BATCH: 128 KiB, which stay in the second-level cache from one stage to the next. */
#define HF_SEGMENT_EVENTS 4096u
#define HF_SEGMENTS 12u
/* What may wait for its turn to be written: the rows of more than 50,000 chunks. */
#define HF_LANE_TAPE_MAX ((size_t)8 << 20)

enum hf_tail {
	HF_TAIL_NONE,
	HF_TAIL_CHUNK, /* the chunk ends with it, and another follows */
	HF_TAIL_HART,  /* the last chunk ends with it */
};

/* Events of one chunk. */
struct hf_segment {
	size_t n;
	enum hf_tail tail;
	struct hf_chunk_row row; /* the number of the chunk; with a tail all of it */
	struct hf_event ev[HF_SEGMENT_EVENTS];
};

struct hf_stage {
	uint64_t done; /* segments it is through with */
	bool running;
	unsigned last; /* thread that ran it last: its caches know the state */
};

/* The code of a hart as it is being collected; image is NULL if none is. */
struct hf_lane_code {
	struct hf_image *image;
	uint64_t events; /* of the hart that are in it */
	uint64_t ahead;  /* so many of the next events are in it already: it was kept behind where the walk began again */
};

struct hf_lane_view {
	struct hf_stage stage;
	size_t number; /* in b->views */
	struct hf_view_lane lane;
};

/* Kinds of records on the tape, with what they hold. */
enum hf_lane_record {
	HF_REC_POINT,    /* struct hf_point, window */
	HF_REC_PROBLEM,  /* u64 number of the chunk, struct hf_index_problem */
	HF_REC_ID,       /* u32 of a hart */
	HF_REC_VIEW,     /* struct hf_lane_place, struct hf_view_row up to the end of its entry */
	HF_REC_VIEW_END, /* struct hf_lane_place, u64 size */
	HF_REC_CHUNK,    /* struct hf_lane_chunk, struct hf_chunk up to the end of its entry; of all views it was there */
	HF_REC_END,      /* nothing: that was all */
};

struct hf_lane_place {
	uint64_t view;   /* in b->views */
	uint64_t number; /* of the chunk */
};

struct hf_lane_chunk {
	uint64_t attempts, problems;
};

/* What was found in the end. */
struct hf_lane_end {
	struct hf_index_hart hart; /* chunks is 0 if nothing was stored */
	uint64_t stream_size;      /* of the first lane only */
	struct hf_diag damage;
};

struct hf_lane;

struct hf_lane_ops {
	size_t size; /* of what has a struct hf_lane as its first member */
	/* Decodes for a while: publishes some segments, the last with lane->ended set before. */
	int (*decode)(struct hf_lane *lane);
};

struct hf_lane {
	const struct hf_lane_ops *ops;
	struct hf_builder *b;
	struct hf_crew *crew;
	uint64_t slot;
	struct hf_input *in, own;
	struct hf_dec *dec;
	struct hf_segment *ring;    /* HF_SEGMENTS */
	struct hf_lane_view *views;
	size_t view_count;
	struct hf_lane_code code;
	struct hf_lane_end end;     /* the decoder's until the lane is finished */
	struct hf_diag diag;        /* of an error */
	_Atomic uint64_t pos, insns; /* for the progress: in the file; retired instructions */
	/* with the crew's lock */
	struct hf_stage decode, collect;
	uint64_t head, joined;      /* segments published; free again */
	bool ended;                 /* nothing is published any more */
	struct hf_tape tape;
	/* the writer's */
	bool finished;              /* HF_REC_END was met */
};

/*
 * For the hart in that slot. first: its input is that of the build and its points are stored; others read the file on
 * their own. Stages may run when hf_crew_add was called.
 */
int hf_lane_new(struct hf_builder *b, const struct hf_lane_ops *ops, uint64_t slot, uint32_t hart, bool first,
		struct hf_lane **ret_lane);
void hf_lane_free(struct hf_lane *lane);
/* One more stage: a view of the build, which begins with that chunk. */
int hf_lane_add_view(struct hf_lane *lane, size_t number, uint64_t first_chunk, bool resume);

/* For the decoding stage: the segment to be filled, and the one after it. */
static inline struct hf_segment *hf_lane_segment(struct hf_lane *lane, unsigned i)
{
	return &lane->ring[(lane->head + i) % HF_SEGMENTS];
}
/* The segment to be filled is full, or its chunk has ended. */
int hf_lane_publish(struct hf_lane *lane);
/* Nothing was or will be stored of this hart. */
int hf_lane_publish_nothing(struct hf_lane *lane);

int hf_lane_push(struct hf_lane *lane, enum hf_lane_record kind, const void *a, size_t an, const void *b, size_t bn);
/* A point of the lane's source: an hf_point_fn. */
int hf_lane_point(void *lane, const struct hf_point *point, const uint8_t *window);

/* ---- for the crew ---- */

/* Runs the stage, which is ready and marked as running, on that thread; 0 or an error. */
int hf_lane_run(struct hf_lane *lane, struct hf_stage *stage);
/* With the lock: a stage that is ready, the thread's own ones first; NULL if there is none. */
struct hf_stage *hf_lane_ready(struct hf_lane *lane, unsigned thread);
/* With the lock: what all have done is put on the tape. */
int hf_lane_join(struct hf_lane *lane);

#endif
