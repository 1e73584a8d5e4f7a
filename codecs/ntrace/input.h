/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of an N-Trace capture as the encoders sent them: trace files one after the other, a circular buffer from its
 * oldest byte on, words of a dump turned round, CoreSight frames taken off.
 */
#ifndef HF_NTRACE_INPUT_H
#define HF_NTRACE_INPUT_H

#include "codecs/codec.h"
#include "codecs/ntrace/message.h"
#include "codecs/source/pipeline.h"

/* Where it can be entered again, at any byte. */
struct hf_ntrace_place {
	uint32_t part;
	struct hf_pipeline_entry entry;
};

struct hf_ntrace_input {
	const struct hf_setup *setup;           /* borrowed; may be NULL */
	const struct hf_ntrace_params *params;  /* borrowed */
	struct hf_src *ordered;                 /* owned; NULL: the stream is in the order of time */
	uint64_t size;                          /* of the stream; HF_NOWHERE: not known */
	uint32_t part;                          /* trace file */
	uint8_t id;                             /* whose bytes, where there are frames */
	struct hf_pipeline pipeline;
};

/* src is borrowed. At the start of the first part. After an error there is nothing to fini. */
int hf_ntrace_input_init(struct hf_ntrace_input *in, const struct hf_setup *setup,
			 const struct hf_ntrace_params *params, struct hf_src *src, uint8_t id);
void hf_ntrace_input_fini(struct hf_ntrace_input *in);

/* HF_ERR_STATE: there is no such part. */
int hf_ntrace_input_seek(struct hf_ntrace_input *in, const struct hf_ntrace_place *place);
struct hf_ntrace_place hf_ntrace_input_place(const struct hf_ntrace_input *in);

/* The part from its beginning, with the bytes of that id. */
void hf_ntrace_input_start(struct hf_ntrace_input *in, uint32_t part, uint8_t id);

/* Whether there is a part behind this one. */
bool hf_ntrace_input_has_next(const struct hf_ntrace_input *in);

/* Whose raw bytes the part holds, or HF_SETUP_ANY: frames or SRC tell. */
uint32_t hf_ntrace_input_hart(const struct hf_ntrace_input *in);

/*
 * The bytes that come next, at least HF_NTRACE_MESSAGE_MAX of them unless the pipeline stops before
 * (in->pipeline.stop); none there. Whoever used some of them adds their number to in->pipeline.pos.
 */
int hf_ntrace_input_look(struct hf_ntrace_input *in, const uint8_t **ret_bytes, size_t *ret_n);

/* Offset of the next byte in the order of time, and such an offset as one of the stream. */
static inline uint64_t hf_ntrace_input_at(const struct hf_ntrace_input *in)
{
	return hf_pipeline_offset(&in->pipeline);
}
uint64_t hf_ntrace_input_offset(const struct hf_ntrace_input *in, uint64_t at);

/* The first bytes, at most n, that one id has among the first n of the stream; without frames these. ret_seen[2] (or
 * NULL): a bit for each id that has any there. Damage of the source is an end. */
int hf_ntrace_input_sample(const struct hf_setup *setup, const struct hf_ntrace_params *params, struct hf_src *src,
			   uint8_t id, uint8_t *buf, size_t n, size_t *ret_n, uint64_t *ret_seen);

#endif
