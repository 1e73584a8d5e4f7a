/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction trace packets: payload bits to struct and back, of every format of versions 1.1.1, 2.0 and 2.1. A
 * payload has no length of its own; the framing gives it.
 */
#ifndef HF_ETRACE_PACKET_H
#define HF_ETRACE_PACKET_H

#include "codecs/etrace/params.h"

/* The longest payload, in bytes: what five bits of length say. */
#define HF_ETRACE_PAYLOAD_MAX 31

enum hf_etrace_f0_subformat {
	HF_ETRACE_COUNT = 0, /* of correctly predicted branches */
	HF_ETRACE_INDEX = 1, /* of the jump target cache */
};

enum hf_etrace_f3_subformat {
	HF_ETRACE_SYNC = 0,
	HF_ETRACE_TRAP = 1,
	HF_ETRACE_CONTEXT = 2,
	HF_ETRACE_SUPPORT = 3,
};

enum hf_etrace_qual_status {
	HF_ETRACE_NO_CHANGE = 0,
	HF_ETRACE_ENDED_REP = 1,
	HF_ETRACE_TRACE_LOST = 2,
	HF_ETRACE_ENDED_UPD = 3,
};

/* Of F0.0: 1 is reserved. */
enum hf_etrace_branch_fmt {
	HF_ETRACE_FAILED = 0,          /* no address; the branch behind the counted ones failed */
	HF_ETRACE_ADDRESS = 2,         /* address; if it is of a branch, that one was predicted */
	HF_ETRACE_ADDRESS_FAILED = 3,  /* address of a branch that failed and is not counted */
};

/*
 * One packet. Only the members of its format and subformat mean anything. notify, updiscon and irreport are the flags:
 * the XOR chain of the payload is undone.
 */
struct hf_etrace_packet {
	uint8_t format, subformat;
	uint8_t length;        /* bytes of the payload, as received or written */
	bool has_address;
	uint64_t address;      /* the field as transmitted, sign-extended, not shifted, differential or not */
	bool notify, updiscon, irreport;
	uint32_t irdepth;      /* or irets; meaningless without irreport, 2.1's irets aside */
	uint8_t branches;      /* F1, F0.1. 0 in F1: 31 outcomes and no address */
	uint8_t branch_fmt;
	uint32_t branch_map;   /* bit 0 is the oldest; 0 taken, 1 not taken; bits above the outcomes are 0 */
	uint32_t branch_count; /* F0.0, as transmitted: 31 less than the correct predictions */
	uint32_t index;
	bool branch;           /* F3.0, F3.1: 0 if the instruction is a taken branch */
	bool interrupt, thaddr;
	uint8_t privilege;
	uint64_t time, context, ecause;
	uint64_t tval;         /* tvalepc in 1.1.1 */
	/* F3.3 */
	bool enable, denable, dloss;
	uint8_t qual_status;
	uint32_t encoder_mode;
	uint32_t options;      /* as transmitted, first bit lowest; of 2.1 all from sijump to cache_size */
	uint32_t doptions;
};

/* Outcomes that branch_map holds. */
static inline unsigned hf_etrace_outcomes(const struct hf_etrace_packet *pkt)
{
	return pkt->format == 1 && pkt->branches == 0 ? 31 : pkt->branches;
}

/* Bits of a map for so many branches. */
static inline unsigned hf_etrace_map_width(unsigned branches)
{
	return branches == 0 ? 0 : branches == 1 ? 1 : (2u << (31 - __builtin_clz(branches))) - 1;
}

/* Its address is an index of the jump target cache. */
static inline bool hf_etrace_is_index(const struct hf_etrace_packet *pkt)
{
	return pkt->format == 0 && pkt->subformat == HF_ETRACE_INDEX;
}

static inline bool hf_etrace_is_support(const struct hf_etrace_packet *pkt)
{
	return pkt->format == 3 && pkt->subformat == HF_ETRACE_SUPPORT;
}

/* An address field as an address, or as the difference of two. */
static inline uint64_t hf_etrace_unshift(const struct hf_etrace_params *params, uint64_t field)
{
	return field << params->iaddress_lsb & hf_etrace_address_mask(params);
}

/* An address, or a difference modulo the width of addresses, as a field. */
static inline uint64_t hf_etrace_shift(const struct hf_etrace_params *params, uint64_t address)
{
	return (uint64_t)((int64_t)(address << (64 - params->iaddress_width)) >>
			  (64 - params->iaddress_width + params->iaddress_lsb));
}

/*
 * Takes a payload of 1 to HF_ETRACE_PAYLOAD_MAX bytes apart; modes are those that hold before it. HF_ERR_ETRACE_PACKET:
 * a format that the parameters exclude, or a reserved value. Missing bits are the sign; up to 15 surplus ones are
 * ignored.
 */
int hf_etrace_packet_read(const struct hf_etrace_params *params, uint32_t modes, const uint8_t *payload, size_t n,
			  struct hf_etrace_packet *ret_pkt);

/* Bytes of the payload of *pkt, written to payload[HF_ETRACE_PAYLOAD_MAX]; sets pkt->length. 0: it does not fit. */
size_t hf_etrace_packet_write(const struct hf_etrace_params *params, uint32_t modes, struct hf_etrace_packet *pkt,
			      uint8_t *payload);

/* Its fields one after the other: "F1 branches=3 map=TNT address=+12". text has room for a line; returns its end. */
uint8_t *hf_etrace_packet_show(const struct hf_etrace_params *params, uint32_t modes,
			       const struct hf_etrace_packet *pkt, uint8_t *text);

/* Bits of the fields of *pkt without compression; 0 if it is not a packet of these parameters. */
unsigned hf_etrace_packet_bits(const struct hf_etrace_params *params, uint32_t modes,
			       const struct hf_etrace_packet *pkt);

/* The modes that a support packet sets: those of params.modes that its layout does not know are kept. */
uint32_t hf_etrace_support_modes(const struct hf_etrace_params *params, const struct hf_etrace_packet *pkt);

/* Whether such a packet says anything of the data trace. */
static inline bool hf_etrace_support_has_data(const struct hf_etrace_params *params)
{
	return params->version != HF_ETRACE_1_1_1 && params->support != HF_ETRACE_SUPPORT_PULP &&
	       params->support != HF_ETRACE_SUPPORT_ESP32;
}

/* The reverse: options, doptions of a support packet that says these modes (and, in 2.1, the sizes of params). */
void hf_etrace_support_options(const struct hf_etrace_params *params, uint32_t modes, struct hf_etrace_packet *pkt);

/* Of 2.1, where a support packet repeats them: the widths and table sizes that hold from it on. */
void hf_etrace_support_params(struct hf_etrace_params *params, const struct hf_etrace_packet *pkt);

#endif
