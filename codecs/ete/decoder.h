/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder of one hart: the three stages one after the other, and where it can be entered.
 *
 * An entry is exact (no events to discard). It has the place of a packet from which on all elements are still of use
 * (the base: struct hf_ete_place), how many of those have left resolution already, and the state of the flow. The
 * elements between are made again and dropped; MAXSPEC, or the length of a transaction, bounds how many.
 */
#ifndef HF_ETE_DECODER_H
#define HF_ETE_DECODER_H

#include "codecs/ete/elements.h"
#include "codecs/ete/flow.h"
#include "codecs/ete/stream.h"

enum hf_ete_phase {
	HF_ETE_PHASE_UNSYNCED, /* looking for an A-sync */
	HF_ETE_PHASE_SYNCED,   /* packets can be read, but a Trace Info is needed before they mean something */
	HF_ETE_PHASE_BEGUN,
	HF_ETE_PHASE_FRESH,    /* where a part begins that something is to be told of, before its first byte */
	HF_ETE_PHASES
};

/* Before a packet. */
struct hf_ete_place {
	uint32_t part;
	uint8_t phase;   /* enum hf_ete_phase */
	uint8_t stamped; /* timestamps have something to be relative to */
	uint32_t denied; /* bits of TRCCONFIGR that are 0 and must not be: a note said so */
	uint8_t again;   /* another part was read before: what comes does not continue it */
	uint64_t zeros;  /* UNSYNCED: directly before here */
	uint64_t lost_at, lost_bytes; /* UNSYNCED: since where, and how many bytes; SYNCED: packets passed over */
	uint32_t lost_code, lost_detail;
	struct hf_pipeline_entry entry;
	struct hf_ete_history history;
	struct hf_ete_ahead ahead;
};

struct hf_ete_dec {
	struct hf_dec dec; /* first */
	const struct hf_ete_stream *stream;
	const struct hf_ete_hart *hart;
	struct hf_pipeline pipeline;
	struct hf_ete_resolve resolve;
	struct hf_ete_flow flow;
	struct hf_ete_place now;
	/* Entry points: base is one; mark is to be the next, when all elements ahead of it have left. */
	struct hf_ete_place base, mark;
	uint64_t base_passed, mark_passed; /* elements behind it that have left */
	unsigned packets;                  /* since the mark could have been moved */
	uint64_t swallow;                  /* elements that were given before this decoder was entered */
	bool ended;                        /* all parts are read */
	bool closed;                       /* and the flow was told */
};

/* Goes on from that place with an empty queue; the flow is the caller's to set. */
void hf_ete_dec_enter(struct hf_ete_dec *d, const struct hf_ete_place *place);

/* Whether a place that was loaded can be one of that hart; behind the last part nothing is looked at. */
bool hf_ete_is_place(const struct hf_ete_stream *s, const struct hf_ete_place *place, uint32_t id);

uint64_t hf_ete_dec_state(struct hf_dec *dec, struct hf_fields *f);

extern const struct hf_dec_ops hf_ete_dec_ops;
extern const struct hf_dec_ops hf_ete_records_ops;

#endif
