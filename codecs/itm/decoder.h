/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder of one ITM: a hart without instructions. decoder.c reads packets from the parts of the capture, events.c says
 * what they mean.
 */
#ifndef HF_ITM_DECODER_H
#define HF_ITM_DECODER_H

#include "codecs/ete/stream.h"
#include "codecs/itm/packet.h"

/* The most events of a packet. */
#define HF_ITM_EVENTS 16

enum hf_itm_phase { HF_ITM_BEGIN, HF_ITM_UNSYNCED, HF_ITM_SYNCED, HF_ITM_PHASES };

/* Before a packet. */
struct hf_itm_place {
	uint32_t part;
	uint8_t phase; /* enum hf_itm_phase */
	struct hf_pipeline_entry entry;
	uint32_t page, dwt_page;      /* of ports, of DWT sources */
	uint64_t time;                /* global; */
	uint8_t low, high;            /*   its bits 25:0 are known, those above are */
	uint64_t zeros;               /* UNSYNCED: directly before here */
	uint64_t lost_at, lost_bytes; /* UNSYNCED */
	uint32_t lost_code, lost_detail;
};

struct hf_itm_dec {
	struct hf_dec dec; /* first */
	const struct hf_ete_stream *stream;
	const struct hf_ete_hart *hart;
	struct hf_pipeline pipeline;
	struct hf_itm_place now, before; /* behind the packet whose events are given, and before it */
	struct hf_event ev[HF_ITM_EVENTS];
	unsigned count, given;
	bool ended;
};

/* Adds one more event of the packet. */
static inline struct hf_event *hf_itm_push(struct hf_itm_dec *d, unsigned kind)
{
	struct hf_event *ev = &d->ev[d->count++];

	*ev = (struct hf_event){.kind = (uint8_t)kind};
	return ev;
}

/* Adds what a packet means. */
void hf_itm_tell(struct hf_itm_dec *d, const struct hf_itm_packet *packet, uint64_t offset);

extern const struct hf_dec_ops hf_itm_dec_ops;

#endif
