/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of an N-Trace capture in the order in which the encoders sent them. Trace files (parts) follow one
 * another. A circular buffer begins at its oldest byte. The bytes in the words of a dump are put in order. CoreSight
 * frames are removed.
 */
#ifndef HF_NTRACE_INPUT_H
#define HF_NTRACE_INPUT_H

#include "codecs/codec.h"
#include "codecs/ntrace/message.h"
#include "codecs/source/pipeline.h"

/* A place in these bytes, at any byte, where reading can begin again. */
struct hf_ntrace_place {
	uint32_t part;
	struct hf_pipeline_entry entry;
};

struct hf_ntrace_input {
	const struct hf_setup *setup;           /* borrowed; may be NULL */
	const struct hf_ntrace_params *params;  /* borrowed */
	struct hf_src *ordered;                 /* owned: the stream in the order of time; NULL: src has that order */
	uint64_t size;                          /* of the stream; HF_NOWHERE: not known */
	uint32_t part;                          /* trace file */
	uint8_t id;                             /* with frames: the trace id whose bytes are read */
	struct hf_pipeline pipeline;
};

/* Begins at the start of the first part. src is borrowed. After an error do not call fini. */
int hf_ntrace_input_init(struct hf_ntrace_input *in, const struct hf_setup *setup,
			 const struct hf_ntrace_params *params, struct hf_src *src, uint8_t id);
void hf_ntrace_input_fini(struct hf_ntrace_input *in);

/* HF_ERR_STATE: there is no such part. */
int hf_ntrace_input_seek(struct hf_ntrace_input *in, const struct hf_ntrace_place *place);
struct hf_ntrace_place hf_ntrace_input_place(const struct hf_ntrace_input *in);

/* Goes to the beginning of the part, for the bytes of that trace id. */
void hf_ntrace_input_start(struct hf_ntrace_input *in, uint32_t part, uint8_t id);

/* Whether there is a part behind this one. */
bool hf_ntrace_input_has_next(const struct hf_ntrace_input *in);

/* The hart whose raw bytes the part holds; HF_SETUP_ANY: frames or SRC name the hart. */
uint32_t hf_ntrace_input_hart(const struct hf_ntrace_input *in);

/*
 * The next bytes. They are at least HF_NTRACE_MESSAGE_MAX, or fewer before a place where the pipeline stops
 * (in->pipeline.stop); at that place n is 0. A caller that used n of them adds n to in->pipeline.pos.
 */
int hf_ntrace_input_look(struct hf_ntrace_input *in, const uint8_t **ret_bytes, size_t *ret_n);

/* The offset of the next byte, in the order of time. hf_ntrace_input_offset turns it into one in the stream. */
static inline uint64_t hf_ntrace_input_at(const struct hf_ntrace_input *in)
{
	return hf_pipeline_offset(&in->pipeline);
}
uint64_t hf_ntrace_input_offset(const struct hf_ntrace_input *in, uint64_t at);

/* The bytes of one trace id among the first n of the stream; without frames, the first n bytes. ret_seen[2] (or NULL)
 * gets a bit for each trace id that has bytes there. The bytes end where the source is damaged. */
int hf_ntrace_input_sample(const struct hf_setup *setup, const struct hf_ntrace_params *params, struct hf_src *src,
			   uint8_t id, uint8_t *buf, size_t n, size_t *ret_n, uint64_t *ret_seen);

#endif
