/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane: the bytes of one source, in order, out of one recording that may hold the frames of many (coresight.h), and
 * where each byte lies in the stream. What a packet decoder reads through.
 */
#ifndef HF_SOURCE_LANE_H
#define HF_SOURCE_LANE_H

#include "codecs/source/coresight.h"
#include "codecs/source/reader.h"

#define HF_LANE_CAP 4096

/* Where a lane can be entered again, at any byte of it; small enough for every state blob. */
struct hf_lane_entry {
	uint64_t at;    /* stream offset of the byte */
	uint64_t frame; /* of the frame that holds it; without frames at again */
	uint8_t before; /* id that held where the frame begins */
};

/* Why a lane has no more bytes than it holds. */
enum hf_lane_stop {
	HF_LANE_MORE,  /* nothing stops it: fill again */
	HF_LANE_BREAK, /* a discontinuity of the framing (HF_CORESIGHT_RESET): hf_lane_resume goes on behind */
	HF_LANE_END,   /* the recording ends here */
	HF_LANE_FRAME, /* it ends inside a frame, or without any: the bytes from frames.offset on are nobody's */
	HF_LANE_ERROR, /* its source is damaged from here on: reader.err */
};

struct hf_lane {
	struct hf_reader reader;    /* owned window over the stream */
	struct hf_coresight frames; /* of what comes behind the lane's bytes */
	uint64_t end;               /* of the recording in the stream; HF_NOWHERE: where the stream ends */
	uint64_t skip;              /* bytes that lie before this offset are not wanted */
	uint8_t id;
	uint8_t stop;               /* enum hf_lane_stop */
	uint64_t broken;            /* at BREAK: where the discontinuity, or the frame that it cuts, begins */
	uint32_t pos, count;        /* bytes [pos, count) are not used yet */
	uint64_t seen[2];           /* one bit for each id that had data in frames */
	uint8_t bytes[HF_LANE_CAP];
	struct hf_lane_entry entry[HF_LANE_CAP];
};

int hf_lane_init(struct hf_lane *lane, struct hf_src *src);
void hf_lane_fini(struct hf_lane *lane);

/* From the start of a recording on, or from an entry into it (NULL: the start). id is not looked at without frames. */
void hf_lane_start(struct hf_lane *lane, enum hf_coresight_layout layout, uint8_t id, uint64_t start, uint64_t end,
		   const struct hf_lane_entry *entry);

/* Moves the bytes that are not used to the front and adds more, until it is full or something stops it. An error is
 * of the reading itself: damage of the source is a stop. */
int hf_lane_fill(struct hf_lane *lane);

/* Behind a BREAK, when all bytes before it are used. */
void hf_lane_resume(struct hf_lane *lane);

static inline size_t hf_lane_left(const struct hf_lane *lane)
{
	return lane->count - lane->pos;
}

/* Stream offset of the next byte, or of where the lane goes on. */
static inline uint64_t hf_lane_offset(const struct hf_lane *lane)
{
	return lane->pos < lane->count ? lane->entry[lane->pos].at : lane->frames.offset;
}

/* Where the lane stands, to be entered there again. */
struct hf_lane_entry hf_lane_entry(const struct hf_lane *lane);

#endif
