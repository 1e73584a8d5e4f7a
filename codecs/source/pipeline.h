/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline: the bytes of one source, in order, out of one recording that may hold the frames of many (coresight.h),
 * and where each byte lies in the stream. What a packet decoder reads through.
 */
#ifndef HF_SOURCE_PIPELINE_H
#define HF_SOURCE_PIPELINE_H

#include "codecs/source/coresight.h"
#include "codecs/source/reader.h"

#define HF_PIPELINE_CAP 4096

/* Where a pipeline can be entered again, at any byte of it; small enough for every state blob. */
struct hf_pipeline_entry {
	uint64_t at;    /* stream offset of the byte */
	uint64_t frame; /* of the frame that holds it; without frames at again */
	uint8_t before; /* hf_coresight_before where the frame begins */
};

/* Why a pipeline has no more bytes than it holds. */
enum hf_pipeline_stop {
	HF_PIPELINE_MORE,  /* nothing stops it: fill again */
	HF_PIPELINE_BREAK, /* a discontinuity of the framing (HF_CORESIGHT_RESET): hf_pipeline_resume goes on behind */
	HF_PIPELINE_END,   /* the recording ends here */
	HF_PIPELINE_FRAME, /* it ends inside a frame, or without any: the bytes from frames.offset on are nobody's */
	HF_PIPELINE_ERROR, /* its source is damaged from here on: reader.err */
};

struct hf_pipeline {
	struct hf_reader reader;    /* owned window over the stream */
	struct hf_coresight frames; /* of what comes behind the pipeline's bytes */
	uint64_t end;               /* of the recording in the stream; HF_NOWHERE: where the stream ends */
	uint64_t skip;              /* bytes that lie before this offset are not wanted */
	uint8_t id;
	uint8_t stop;               /* enum hf_pipeline_stop */
	uint64_t broken;            /* at BREAK: where the discontinuity, or the frame that it cuts, begins; */
	uint64_t left_out;          /*   so many bytes from there on are no frames; */
	int broken_code;            /*   why */
	uint8_t broken_before;      /*   hf_coresight_before there */
	uint32_t pos, count;        /* bytes [pos, count) are not used yet */
	uint64_t seen[2];           /* one bit for each id that had data in frames */
	uint8_t bytes[HF_PIPELINE_CAP];
	struct hf_pipeline_entry entry[HF_PIPELINE_CAP];
};

int hf_pipeline_init(struct hf_pipeline *pipeline, struct hf_src *src);
void hf_pipeline_fini(struct hf_pipeline *pipeline);

/* From the start of a recording on, or from an entry into it (NULL: the start). id is not looked at without frames. */
void hf_pipeline_start(struct hf_pipeline *pipeline, enum hf_coresight_layout layout, uint8_t id, uint64_t start,
		       uint64_t end, const struct hf_pipeline_entry *entry);

/* Moves the bytes that are not used to the front and adds more, until it is full or something stops it. An error is
 * of the reading itself: damage of the source is a stop. */
int hf_pipeline_fill(struct hf_pipeline *pipeline);

/* Behind a BREAK, when all bytes before it are used. */
void hf_pipeline_resume(struct hf_pipeline *pipeline);

static inline size_t hf_pipeline_left(const struct hf_pipeline *pipeline)
{
	return pipeline->count - pipeline->pos;
}

/* Stream offset of the next byte, or of where the pipeline goes on. */
static inline uint64_t hf_pipeline_offset(const struct hf_pipeline *pipeline)
{
	return pipeline->pos < pipeline->count ? pipeline->entry[pipeline->pos].at : pipeline->frames.offset;
}

/* At BREAK: the stream offset of what is told: of the bytes that are left out, or where the stream goes on. */
static inline uint64_t hf_pipeline_break(const struct hf_pipeline *pipeline)
{
	return pipeline->left_out ? pipeline->broken : pipeline->frames.offset;
}

/* Where the pipeline stands, to be entered there again. */
struct hf_pipeline_entry hf_pipeline_entry(const struct hf_pipeline *pipeline);

#endif
