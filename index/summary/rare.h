/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rare events of a hart: at which ordinals, by kind and value.
 *
 * The ordinal of an event is that of the last instruction that retired before or with it; 0: none did. So a slice of
 * that one instruction shows the event.
 *
 * To bound the size of a summary, only the number is kept of a kind with too many events in a chunk, and of events with
 * too many values not these. A hit is then a block of instructions, or may have another value: decoding tells.
 */
#ifndef HF_INDEX_SUMMARY_RARE_H
#define HF_INDEX_SUMMARY_RARE_H

#include <stdbool.h>
#include <stdint.h>

struct hf_summary;

/* In files: kind << this | detail. */
#define HF_RARE_DETAIL_BITS 8

enum hf_rare_kind {
	HF_RARE_TRAP,	       /* enum hf_rare_trap; value: the cause, as struct hf_ev_trap has it */
	HF_RARE_TRAP_RETURN,   /* no value, as below if none is named */
	HF_RARE_CONTEXT,       /* HF_RARE_CONTEXT_ALL, or 1 + n; value: of the field 1 << n (enum hf_context_field) */
	HF_RARE_MARKER,	       /* detail: enum hf_marker; value: its number */
	HF_RARE_TIMESTAMP,     /* detail 1: the source does not know the time */
	HF_RARE_CYCLES,	       /* the same */
	HF_RARE_GAP,	       /* value: its enum hf_err, negated */
	HF_RARE_DOUBT,	       /* the same */
	HF_RARE_DISCONTINUITY, /* detail 1: what lies between was deliberately not traced */
	HF_RARE_ATTEMPT,
	HF_RARE_KINDS
};

/* Details of a trap. */
enum hf_rare_trap {
	HF_RARE_EXCEPTION,
	HF_RARE_INTERRUPT,
	HF_RARE_UNKNOWN_CAUSE = 2, /* added to these; value: 0 */
	HF_RARE_TRAPS = 4
};

/* Detail of a context change: each one is stored with this, and once for each field that it tells. */
#define HF_RARE_CONTEXT_ALL 0u

struct hf_rare_question {
	enum hf_rare_kind kind;
	bool any_detail; /* for contexts: HF_RARE_CONTEXT_ALL */
	uint8_t detail;
	bool any_value;
	uint64_t value;
};

struct hf_rare_hit {
	uint64_t first, last; /* the ordinal, or the block with it */
	uint64_t count;	      /* events there; one ordinal may have several */
	uint64_t before;      /* such events before it in the hart */
	bool maybe;	      /* they may have another value */
};

/* What was found. */
struct hf_rare;

/* HF_ERR_NOT_FOUND: there is no such hart. HF_ERR_STATE, HF_ERR_NOMEM. */
int hf_rare_find(struct hf_summary *summary, uint32_t hart, const struct hf_rare_question *question,
		 struct hf_rare **ret_rare);
void hf_rare_free(struct hf_rare *rare);

/* HF_NOTE_END: there is none. HF_ERR_STATE, HF_ERR_NOMEM. */

/* The first hit that may be at that ordinal or behind it. */
int hf_rare_next(struct hf_rare *rare, uint64_t ordinal, struct hf_rare_hit *ret_hit);
/* Every hit, in order; returns what fn did, if not 0. */
typedef int (*hf_rare_fn)(void *ctx, const struct hf_rare_hit *hit);
int hf_rare_each(struct hf_rare *rare, hf_rare_fn fn, void *ctx);
/* The last hit that may be at that ordinal or before it. */
int hf_rare_previous(struct hf_rare *rare, uint64_t ordinal, struct hf_rare_hit *ret_hit);

#endif
