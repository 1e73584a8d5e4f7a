/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data trace and instructions: two rows in program order that come by different ways. They are merged where events are
 * given: each load, store, atomic or CSR instruction takes the oldest access if that is of its kind and size.
 *
 * An access may come before or behind the packet that reports its instruction. So an instruction for which there is
 * none waits, and with it all that follows, until one comes: if that is of its kind it is its own; if not, it belongs
 * to a later instruction, and this one has none. A trace in which instructions turn out to have none (a filter, a
 * source without them) cannot be read so, for any that waits would take what belongs to the next: there, up to the next
 * synchronisation, nothing waits, as nothing does with data_order = before.
 *
 * Where the two rows cannot be brought together (too many accesses wait, one could not be read, an instruction without
 * one cannot wait), nothing is attached up to the next synchronisation, and a doubt says so: the wrong access is worse
 * than none.
 */
#ifndef HF_ETRACE_ATTACH_H
#define HF_ETRACE_ATTACH_H

#include "codecs/etrace/accesses.h"
#include "codecs/etrace/expectation.h"
#include "codecs/etrace/follow.h"

/* data_order = before: an instruction that is reported while it is held back has its accesses already. */
enum hf_etrace_fence {
	HF_ETRACE_UNFENCED,
	HF_ETRACE_FENCED,  /* it is the next one to be given: only accesses before the fence are its own */
	HF_ETRACE_PASSING, /* it was given last */
	HF_ETRACE_FENCES
};

struct hf_etrace_attach {
	struct hf_etrace_follow follow;
	struct hf_etrace_accesses accesses;
	struct hf_etrace_data_state data;
	uint64_t unmet;	     /* 1 + pc of the first since the last synchronisation that may have an access, or 0 */
	uint8_t passed_over; /* since the last synchronisation an instruction turned out to have no access in it */
	uint8_t fenced;	     /* enum hf_etrace_fence */
	uint8_t data_lost;   /* which access belongs to which instruction is not known up to the next synchronisation */
	bool aged;	     /* the synchronisation that was given last has aged the accesses */
	bool ended;	     /* nothing follows what is in the list */
	struct hf_event doubt;		    /* to be given before anything else, if it has a kind */
	struct hf_etrace_expectation taker; /* what else the instruction given last takes; expects: anything */
	uint32_t taker_opcode;
	struct hf_event extra[4]; /* of that instruction; [extra_at, extra_count) is still to be given */
	uint32_t extra_at, extra_count;
	uint32_t said_context; /* of the last CONTEXT event given */
};

/* 0 or an error; fini in any case. */
int hf_etrace_attach_init(struct hf_etrace_attach *a, const struct hf_setup *setup, uint32_t hart);
void hf_etrace_attach_fini(struct hf_etrace_attach *a);
/* As before the first packet. HF_ERR_NOMEM. */
int hf_etrace_attach_clear(struct hf_etrace_attach *a);

/* A data trace packet of this hart: its access waits for an instruction. HF_ERR_NOMEM. */
int hf_etrace_attach_take(struct hf_etrace_attach *a, const struct hf_etrace_message *msg);
/* Nothing follows (end), or another recording does. HF_ERR_NOMEM. */
int hf_etrace_attach_stop(struct hf_etrace_attach *a, bool end);

/* Events, at most max, as far as they are known; returns how many. */
size_t hf_etrace_attach_give(struct hf_etrace_attach *a, struct hf_event *ev, size_t max);
/* What was not given waits for an access. True: it has waited long enough, for the room behind it is needed. */
bool hf_etrace_attach_hurry(struct hf_etrace_attach *a);
/* All of the list has been given. False: there is something in it again. */
bool hf_etrace_attach_settle(struct hf_etrace_attach *a);

/* Between two lists. */
void hf_etrace_attach_visit(struct hf_etrace_attach *a, struct hf_fields *f);

#endif
