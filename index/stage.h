/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder of one view of one hart while it is being indexed: it says of each chunk where its bytes begin, their
 * checksum, and in which state the encoder is there. Internal to index/.
 */
#ifndef HF_INDEX_VIEW_LANE_H
#define HF_INDEX_VIEW_LANE_H

#include "index/view_part.h"

struct XXH3_state_s;

/* Where the bytes of a view go: into a checksum, and to a tap. sink comes first. */
struct hf_hash_sink {
	struct hf_sink sink;
	struct XXH3_state_s *state;
	uint8_t *buf;
	const struct hf_tap *tap; /* NULL: nobody wants them */
	uint64_t base;            /* where the chunk at hand begins in the view */
};

struct hf_view_lane {
	struct hf_enc *enc;
	struct hf_enc_env env;
	struct hf_disasm *disasm; /* of its own, or NULL */
	struct hf_hash_sink out;
	uint64_t first;           /* number of the chunk with which it begins */
	struct hf_view_row row;   /* the chunk at hand; checksum and size when it is done */
};

/*
 * tap: if it is of this view and hart it gets the bytes.
 * From the hart's first chunk, or resume: from the one that part was cut back to. With own_disasm it may run beside other
 * encoders with that env.
 */
int hf_view_lane_open(struct hf_view_lane *lane, const struct hf_view_part *part, const struct hf_stream *stream,
		      uint32_t hart, const struct hf_enc_env *env, const struct hf_tap *tap, bool own_disasm, bool resume);
void hf_view_lane_close(struct hf_view_lane *lane);

static inline void hf_view_lane_put(struct hf_view_lane *lane, const struct hf_event *ev, size_t n)
{
	hf_enc_put(lane->enc, ev, n, &lane->out.sink);
}
/* The chunk at hand has all its events, last: and the hart has. lane->row is whole then. */
void hf_view_lane_end_chunk(struct hf_view_lane *lane, bool last);
/* Begins the next one where that ended. */
void hf_view_lane_next_chunk(struct hf_view_lane *lane);

#endif
