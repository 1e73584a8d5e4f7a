/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage 3 (K10.5.5): resolved elements and the program image become events. An element may be stopped in the middle,
 * whenever there is no room for another event, and gone on with.
 */
#ifndef HF_ETE_FLOW_H
#define HF_ETE_FLOW_H

#include "codecs/codec.h"
#include "codecs/ete/resolve.h"
#include "codecs/walk/block.h"
#include "codecs/walk/return_stack.h"

/* Instructions that one element may stand for without a branch, and the most that a Q element may count. */
#define HF_ETE_WALK_MAX (1u << 16)
#define HF_ETE_STACK_MAX 15 /* return addresses that are kept (K10.5.5.3) */
#define HF_ETE_PENDING_MAX 8 /* events of one element but its instructions */

enum hf_ete_sync {
	HF_ETE_SYNC_NONE,
	HF_ETE_SYNC_ADDRESS, /* no context yet */
	HF_ETE_SYNC_TARGET,  /* the last instruction was a taken indirect branch, and where it went is not known yet */
	HF_ETE_SYNC_RETURN,  /* M profile: it returned from an exception, and an address must follow */
	HF_ETE_SYNC_CONTEXT, /* no address, for any other reason */
	HF_ETE_SYNC_FULL,
	HF_ETE_SYNCS
};

/* hf_ev_marker.type of what an ETE has beside its flow. */
enum hf_ete_marker {
	HF_ETE_MARKER_EVENT = 1,           /* number: 0 to 3 */
	HF_ETE_MARKER_INSTRUMENTATION = 2, /* number: EL; value */
	HF_ETE_MARKER_TRANSACTION = 3,     /* number: 0 start, 1 commit, 2 failure */
	HF_ETE_MARKER_LAZY_FP = 4,         /* M profile: registers of the FPU were pushed here, late */
};

/* What is saved of a flow; its place in an element (step, left, walked) included. */
struct hf_ete_flow_state {
	uint64_t pc;
	struct hf_ete_context context;
	uint8_t sync;    /* enum hf_ete_sync */
	uint8_t is;
	uint8_t fresh;   /* nothing has executed since the address was given: another may replace it */
	uint8_t ran;     /* something has executed since the last loss */
	uint8_t missing; /* what Trace Info wants before links are pushed: 1 context, 2 address */
	uint8_t told;    /* a CONTEXT event was given */
	uint8_t step;    /* in the front element */
	uint8_t it;      /* T32: ITSTATE at pc, as struct hf_walk_blocks has it */
	uint8_t marked;  /* a timestamp marker stands open; age events ago */
	uint32_t part;   /* the recording, where processes tell which program runs */
	uint32_t left;   /* instructions of a Q element */
	uint32_t walked; /* instructions of this element */
	uint32_t unproven; /* instructions since the flow last agreed with an address; UINT32_MAX: so many or more */
	uint64_t age;
	uint64_t skipped, skipped_at; /* P0 elements without address or context, and the first one's offset */
};

struct hf_ete_flow {
	struct hf_ete_flow_state s;
	const struct hf_ete_config *config; /* borrowed */
	const struct hf_setup *setup;       /* borrowed */
	uint32_t hart;
	struct hf_walk_blocks blocks; /* of the program for the context */
	struct hf_return_stack links; /* bit 0 of an address: T32 */
	uint64_t links_room[HF_ETE_STACK_MAX + 1];
	struct hf_agreed *agreed; /* of the decoder */
	uint32_t given, pending;
	struct hf_event events[HF_ETE_PENDING_MAX]; /* [given, pending) are to be given before anything else */
};

struct hf_ete_out {
	struct hf_event *ev;
	size_t n, max;
};

int hf_ete_flow_init(struct hf_ete_flow *f, const struct hf_ete_config *config, const struct hf_setup *setup,
		     uint32_t hart);
void hf_ete_flow_fini(struct hf_ete_flow *f);
/* Goes on from there; links are the caller's to set. */
void hf_ete_flow_set(struct hf_ete_flow *f, const struct hf_ete_flow_state *state);

/* Goes on with the front element of r. True: it is done with. False: there is no room. */
bool hf_ete_flow_run(struct hf_ete_flow *f, const struct hf_ete_resolve *r, struct hf_ete_out *out);

/* Gives what is pending; false if there is no room for all of it. */
bool hf_ete_flow_drain(struct hf_ete_flow *f, struct hf_ete_out *out);

/* A note before anything else: told by the next drain. */
void hf_ete_flow_note(struct hf_ete_flow *f, int code, uint64_t detail);

/* The ids that hold, as hf_dec_ops.begin has them. */
void hf_ete_flow_context(const struct hf_ete_flow *f, struct hf_event *ret_context);

/* Behind the last element of the last recording: what is still to be said. */
void hf_ete_flow_end(struct hf_ete_flow *f);

#endif
