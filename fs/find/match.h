/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instructions of a piece of a hart are answers: its events, one by one. Internal to fs/find/.
 */
#ifndef HF_FIND_MATCH_H
#define HF_FIND_MATCH_H

#include "fs/find/predicates.h"
#include "index/summary/stub.h"

/* An answer, or (the bit) an instruction of which the trace does not tell whether it is one. */
#define HF_ITEM_UNKNOWN (UINT64_C(1) << 63)

struct hf_find_items {
	uint64_t *item; /* ordinals, ascending; owned */
	size_t count, room;
	uint64_t yes;	/* of them */
};

/* Bits of terms, of one instruction or of what is before the first. */
struct hf_find_marks {
	uint32_t yes, perhaps;
};

struct hf_match {
	/* set by the caller */
	const struct hf_predicates *predicates;
	struct hf_disasm *disasm;
	struct hf_find_items *items;
	uint64_t ordinal; /* of the next instruction */
	struct hf_run_context context;
	bool context_known;
	enum hf_verdict called; /* whether a call leads to the next instruction; HF_PERHAPS: ask before_called */
	struct hf_stub stub;	/* what the last call went to */
	bool stub_open;		/* nothing sent the flow elsewhere since the instruction first: before_called knows of it */
	uint64_t first;
	enum hf_verdict (*before_called)(void *ctx, uint64_t ordinal, struct hf_stub *ret_stub);
	void *ctx;
	/* its own */
	bool open;     /* there is an instruction that may still be an answer */
	bool attempted; /* accesses and registers that come are of one that did not retire */
	struct hf_find_marks marks;
	/* of a value whose bytes are still to come */
	struct hf_find_marks waiting;
	struct hf_find_value value;
	uint32_t value_size; /* bytes of it that count; 0: all */
	uint32_t left;	     /* bytes of DATA to come */
	size_t have;	     /* bytes of value.word */
	int err;
};

void hf_match_put(struct hf_match *match, const struct hf_event *ev);
/* All events of the last instruction have come. HF_ERR_NOMEM. */
int hf_match_end(struct hf_match *match);

/* Whether a call, perhaps through stubs, leads to the instruction behind that event, as far as it tells: HF_PERHAPS: it
 * says nothing of that. stub: of the events before it, and then with it. */
enum hf_verdict hf_match_calls(struct hf_stub *stub, const struct hf_event *ev);

#endif
