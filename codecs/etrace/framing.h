/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages: packets as a transport delimits them, each with the source it is of. A stream may be entered at any message
 * by its place, and anywhere at all where the transport has a synchronisation.
 */
#ifndef HF_ETRACE_FRAMING_H
#define HF_ETRACE_FRAMING_H

#include "codecs/base/fields.h"
#include "codecs/etrace/packet.h"
#include "codecs/source/pipeline.h"

enum hf_etrace_message_kind {
	HF_ETRACE_MESSAGE_INSTRUCTION, /* support packets too */
	HF_ETRACE_MESSAGE_DATA,
	HF_ETRACE_MESSAGE_OTHER,       /* of a private type */
	HF_ETRACE_MESSAGE_LOSS,        /* bytes that are no packet, packets that were lost before they were framed */
	HF_ETRACE_MESSAGE_RESTART,     /* another recording begins */
};

struct hf_etrace_message {
	uint64_t offset;    /* stream offset of its first byte */
	uint64_t size;      /* bytes of its source's, header and all; of a LOSS those that were passed over */
	uint64_t timestamp; /* of the transport, as transmitted */
	uint32_t source;
	int code;           /* of a LOSS */
	uint8_t kind;
	uint8_t type;       /* as transmitted */
	uint8_t length;     /* of the payload */
	bool has_timestamp;
	uint8_t payload[HF_ETRACE_PAYLOAD_MAX + 1];
};

/* Where a framer stands, before a message. */
struct hf_etrace_place {
	uint32_t part;
	uint32_t run;    /* null bytes right before it, no more than matter */
	uint16_t counter;
	bool inside;     /* of the part: its RESTART, if it has one, is over */
	bool counted;    /* counter is known */
	bool aligned;    /* a message begins here */
	struct hf_pipeline_entry entry;
};

struct hf_etrace_framer {
	const struct hf_etrace_params *params; /* borrowed: the transport's are the same for all harts */
	const struct hf_setup *setup;
	uint8_t id;                    /* of CoreSight: whose bytes these are */
	struct hf_etrace_place at;     /* entry only as of seek; the pipeline has the present one */
	struct hf_etrace_place before; /* before the message given last */
	uint8_t framing;               /* of the part */
	uint32_t hart;                 /* of the part, if its bytes do not tell */
	struct hf_pipeline pipeline;
};

int hf_etrace_framer_init(struct hf_etrace_framer *f, const struct hf_etrace_params *params,
			  const struct hf_setup *setup, struct hf_src *src, uint8_t id);
void hf_etrace_framer_fini(struct hf_etrace_framer *f);

/* The next message, HF_NOTE_END, or an error of reading. Null messages are passed over. */
int hf_etrace_framer_next(struct hf_etrace_framer *f, struct hf_etrace_message *ret_msg);

/* Goes to a place; NULL: to the beginning. HF_ERR_STATE if there is none such. */
int hf_etrace_framer_seek(struct hf_etrace_framer *f, const struct hf_etrace_place *place);

/* Where it stands now. */
static inline struct hf_etrace_place hf_etrace_framer_place(const struct hf_etrace_framer *f)
{
	struct hf_etrace_place place = f->at;

	place.entry = hf_pipeline_entry(&f->pipeline);
	return place;
}

/* A place as part of a state. */
void hf_etrace_place_visit(struct hf_etrace_place *place, struct hf_fields *f);

/* Stream offset up to which messages have been given. */
static inline uint64_t hf_etrace_framer_offset(const struct hf_etrace_framer *f)
{
	return hf_pipeline_offset(&f->pipeline);
}

/* Whether sources are told apart by the messages themselves. */
bool hf_etrace_framing_has_sources(const struct hf_etrace_params *params, const struct hf_setup *setup);

/* The framing of a part of the capture, NONE if nothing says it. */
enum hf_etrace_framing hf_etrace_framing_of_part(const struct hf_etrace_params *params, const struct hf_setup *setup,
						 size_t part);

/* Whether a byte can begin a message of te_inst_raw: some length, type 2 or 3, nothing above. */
static inline bool hf_etrace_is_raw_header(uint8_t byte)
{
	return (byte & 0xc0) == 0x40 && (byte & 0x1f);
}

/*
 * Takes the message at p[n] apart, for framings with a header of their own. Returns its bytes; 0: a null or fill byte,
 * one long; negative: not a message (HF_ERR_ETRACE_FRAME), or n bytes are not all of it (HF_ERR_TRUNCATED).
 */
int hf_etrace_message_read(const struct hf_etrace_params *params, enum hf_etrace_framing framing, const uint8_t *p,
			   size_t n, struct hf_etrace_message *msg);

/* Bytes of a message at most: header, source id, timestamp, and what five bits of length say. */
#define HF_ETRACE_MESSAGE_MAX 48
static_assert(HF_ETRACE_MESSAGE_MAX >= 1 + 2 + 8 + HF_ETRACE_PAYLOAD_MAX, "headers of the encapsulation");

/* The reverse, in the framing of params: *msg to out[HF_ETRACE_MESSAGE_MAX]; returns its bytes. */
size_t hf_etrace_message_write(const struct hf_etrace_params *params, struct hf_etrace_message *msg, uint8_t *out);
/* The type of a packet of the instruction or data trace there. */
uint8_t hf_etrace_type_of(const struct hf_etrace_params *params, bool data);
/* Bits that a payload may have there. */
unsigned hf_etrace_message_room(const struct hf_etrace_params *params);

#endif
