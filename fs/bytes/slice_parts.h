/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of slices: slice.c keeps and reads them, slice_queue.c says when which is measured, slice_measure.c does it.
 */
#ifndef HF_FS_SLICE_PARTS_H
#define HF_FS_SLICE_PARTS_H

#include "fs/base/list.h"
#include "fs/base/views.h"
#include "fs/bytes/bytes.h"
#include "fs/capture/decoder_pool.h"
#include "index/read/slice_encoder.h"

enum hf_slice_state {
	HF_SLICE_ABSENT,  /* the hart has no such view */
	HF_SLICE_UNKNOWN, /* nobody asked, or it failed */
	HF_SLICE_QUEUED,  /* being measured, or waiting for that */
	HF_SLICE_READY,
};

/* Where a piece of a view begins. */
struct hf_slice_mark {
	uint64_t offset;
	uint16_t entry_size;
	uint8_t *entry; /* the encoder's; NULL: at the start */
};

/* One view. What is not the state changes only before it is HF_SLICE_READY. */
struct hf_slice_part {
	enum hf_slice_state state;
	int err;         /* why it is HF_SLICE_UNKNOWN again */
	uint64_t base;   /* of lines: where they begin in the whole */
	uint64_t size;
	uint64_t owner;  /* in the cache; of lines it is the whole's */
	uint64_t number; /* chunk of the first mark */
	uint64_t stride; /* chunks from mark to mark */
	size_t marks;
	struct hf_slice_mark *mark;
};

struct hf_slice {
	struct hf_slices *slices;
	struct hf_capture *capture;
	uint64_t version;
	uint32_t hart;
	uint64_t first, last;
	/* the slices' lock */
	unsigned refs;
	int64_t started_ns; /* when it was queued */
	int64_t asked_ns;
	bool measuring;
	uint64_t done;      /* instructions of the part being measured */
	size_t bytes;
	struct hf_chain in_table;
	struct hf_link used;
	struct hf_slice_part part[HF_VIEW_COUNT];
};

/* The measuring of one slice, on a thread of the pool. */
struct hf_measure {
	struct hf_job job;
	struct hf_slice *slice; /* one reference */
	struct hf_measure *next;
	struct hf_open *open;
	struct hf_slice_encoder *encoder; /* of part view, with maker */
	struct hf_lent_maker maker;
	size_t view;
	uint64_t chunk;		  /* the encoder's next */
	bool turn;                /* it has the turn of the long ones */
	struct hf_slice_part part;
	struct hf_sink sink;
	uint8_t buf[2 * HF_SINK_ROOM];
	uint8_t entry[HF_STATE_MAX];
	struct hf_chunk at;
	struct hf_view_chunk view_at;
};

static inline bool hf_slice_is_lines(size_t view)
{
	return hf_fs_view_ops(view)->flags & HF_ENC_LINES;
}

/* Its marks. */
void hf_slice_free_part(struct hf_slice_part *part);
/* The view that a slice is of, over all of the hart. */
void hf_slice_whole(const struct hf_slice *slice, const struct hf_facts *facts, size_t view,
		    struct hf_bytes *ret_bytes);
/* What makes a view anew: from a mark, with *ret_number its chunk, or (NULL) from the start. *ret_maker is to be put
 * when the encoder is freed. */
int hf_slice_enter(const struct hf_slice *slice, struct hf_open *open, size_t view, const struct hf_enc_env *env,
		   const struct hf_slice_mark *mark, uint64_t *ret_number, struct hf_lent_maker *ret_maker,
		   struct hf_slice_encoder **ret_encoder);

/* Measures m->part, of the view m->view: where its lines are in the whole; or in steps, at the end of which there is
 * HF_NOTE_END, its size and marks. */
int hf_measure_lines(struct hf_measure *m, struct hf_worker *worker);
int hf_measure_encoded(struct hf_measure *m, struct hf_worker *worker);

#endif
