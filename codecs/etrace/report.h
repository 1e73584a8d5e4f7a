/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: what one packet says of the flow, in terms of the program: so many outcomes of branches, then perhaps an
 * address. A packet means that only with what holds when it comes: the parameters and modes, the address reported last,
 * and what both sides learned. Nothing here knows an instruction.
 */
#ifndef HF_ETRACE_REPORT_H
#define HF_ETRACE_REPORT_H

#include "codecs/etrace/packet.h"
#include "codecs/etrace/tables.h"

/* Outcomes that no branch has used up yet. */
struct hf_etrace_outcomes {
	uint64_t bits;	    /* count outcomes, oldest lowest, 1 not taken */
	uint64_t predicted; /* behind bits so many as predicted... */
	uint32_t irets;	    /* implicit returns since the last branch or packet (2.1) */
	uint8_t count;
	uint8_t against; /* ...then so many, 0 or 1, that are not */
};

struct hf_etrace_report {
	struct hf_etrace_params given;	/* what the description says */
	struct hf_etrace_params params; /* with what support packets say */
	uint32_t modes;
	uint8_t data_on;	     /* there is data trace: a packet said so, or was one */
	struct hf_etrace_packet pkt; /* the one in progress */
	struct hf_etrace_outcomes outcomes;
	uint64_t base;	 /* the address reported last */
	uint64_t target; /* of the packet in progress */
	struct hf_etrace_tables tables;
	/* a moment to go back to */
	struct hf_etrace_tables spare;
	struct hf_etrace_outcomes kept;
};

/* As at the beginning of a recording; given is set. HF_ERR_NOMEM. Fini in any case. */
int hf_etrace_report_reset(struct hf_etrace_report *r);
void hf_etrace_report_fini(struct hf_etrace_report *r);

/* Reads the packet. HF_ERR_ETRACE_PACKET. */
static inline int hf_etrace_report_read(struct hf_etrace_report *r, const uint8_t *payload, size_t n)
{
	return hf_etrace_packet_read(&r->params, r->modes, payload, n, &r->pkt);
}

/* What the description lacks for a mode that is on (a bit of enum hf_etrace_mode): the error that names the key; 0: nothing. */
int hf_etrace_report_lacks(const struct hf_etrace_report *r, uint32_t mode);
/* Formats 0 to 2: its outcomes come behind those that are left, and its address is the target. HF_ERR_ETRACE_WALK: so
 * many outcomes that something must be wrong. HF_ERR_ETRACE_NO_*: it is of a mode that is off, or lacks its table. */
int hf_etrace_report_take(struct hf_etrace_report *r);
/* If it has an index for an address: what the cache has there now. HF_ERR_ETRACE_INDEX: nothing. */
int hf_etrace_report_index(struct hf_etrace_report *r);
/* It is dealt with: where the cache learns all addresses, this one too. */
void hf_etrace_report_learn(struct hf_etrace_report *r);
/* A synchronisation at target. What was learned stays if keep and the modes say so (2.1). */
void hf_etrace_report_sync(struct hf_etrace_report *r, bool keep);
/* A support packet: modes and sizes as it has them. HF_ERR_NOMEM. */
int hf_etrace_report_support(struct hf_etrace_report *r);
/* Where the handler of the trap begins, if an implicit exception mode leaves it to the configuration. */
bool hf_etrace_report_vector(const struct hf_etrace_report *r, uint64_t *ret_address);

void hf_etrace_report_keep(struct hf_etrace_report *r);
void hf_etrace_report_go_back(struct hf_etrace_report *r);

/* What holds between two packets, or during one; the packet itself is not part of it. */
void hf_etrace_report_visit(struct hf_etrace_report *r, struct hf_fields *f);

/* Packets count implicit returns, and not the depth of the stack. */
static inline bool hf_etrace_has_irets(const struct hf_etrace_report *r)
{
	return r->modes & HF_ETRACE_IRET_EXT;
}

/* The target of a return, if the stack foretells it. */
static inline bool hf_etrace_foretells_return(const struct hf_etrace_report *r)
{
	return (r->modes & HF_ETRACE_IMPLICIT_RETURN) && r->tables.stack.depth;
}

/* ---- outcomes ---- */

static inline uint64_t hf_etrace_outcomes_left(const struct hf_etrace_report *r)
{
	return r->outcomes.count + r->outcomes.predicted + r->outcomes.against;
}

static inline void hf_etrace_forget_outcomes(struct hf_etrace_report *r)
{
	r->outcomes.bits = r->outcomes.predicted = 0;
	r->outcomes.count = r->outcomes.against = 0;
}

/* Whether the branch at pc is taken by the oldest outcome; there is one. */
static inline bool hf_etrace_is_taken(const struct hf_etrace_report *r, uint64_t pc)
{
	if (r->outcomes.count)
		return !(r->outcomes.bits & 1);
	return hf_etrace_foretells_taken(&r->tables, pc) == (r->outcomes.predicted != 0);
}

/* The same, and it is used up. */
static inline bool hf_etrace_use_outcome(struct hf_etrace_report *r, uint64_t pc)
{
	struct hf_etrace_outcomes *o = &r->outcomes;
	const bool taken = hf_etrace_is_taken(r, pc);

	if (o->count) {
		o->bits >>= 1;
		o->count--;
	} else if (o->predicted) {
		o->predicted--;
	} else {
		o->against = 0;
	}
	if (r->modes & HF_ETRACE_BRANCH_PREDICTION)
		hf_etrace_learn_outcome(&r->tables, pc, taken);
	o->irets = 0;
	return taken;
}

/* One more outcome, which no packet counts. */
static inline void hf_etrace_add_outcome(struct hf_etrace_report *r, bool not_taken)
{
	r->outcomes.bits |= (uint64_t)not_taken << r->outcomes.count++;
}

#endif
