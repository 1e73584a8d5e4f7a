/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stack of an instruction of a hart, by the rules of the calling-context tree (summary/calls.h). A summary has
 * the stack at each chunk; without one the hart is followed from its first instruction, with the same result.
 *
 * With a summary one or two chunks are decoded: those from the chunk of the instruction on. If the context changes
 * between, more are: from the last chunk on that begins in the other context.
 */
#ifndef HF_INDEX_STACK_H
#define HF_INDEX_STACK_H

#include "index/read/cursor.h"
#include "index/summary/call.h"
#include "index/summary/summary.h"

struct hf_stack_frame {
	uint64_t function; /* target of the call or trap; of HF_CALL_ROOT the first pc; HF_CALL_UNKNOWN: not known */
	uint64_t pc;	  /* of the instruction; in outer frames the return address of the call */
	bool has_pc;	  /* false: not known, as where a trap interrupted */
	uint8_t kind;	  /* enum hf_call_kind; HF_CALL_BEYOND: not known */
};

/* The innermost frame is the first. If there are calls or traps beyond the limit of depth, it is one of them, and the
 * other ones are left out. */
struct hf_stack {
	uint32_t count;
	uint64_t calls_beyond, traps_beyond;
	struct hf_stack_frame frame[HF_CALL_DEPTH + 2];
};

/* For one hart, by one thread at a time. */
struct hf_stacks;

/* Of where the first four members are used. summary NULL: there is none. All is borrowed. HF_ERR_NOT_FOUND: there is no
 * such hart. HF_ERR_STATE, here and below: the summary is damaged. */
int hf_stacks_new(const struct hf_cursor *where, struct hf_summary *summary, struct hf_stacks **ret_stacks);
void hf_stacks_free(struct hf_stacks *stacks);
/*
 * The stack before that instruction, in case it is a call or return. In ascending order no chunk is decoded twice.
 * go_on (may be NULL) is called before each chunk; false: HF_ERR_CANCELLED.
 */
int hf_stacks_at(struct hf_stacks *stacks, uint64_t ordinal, bool (*go_on)(void *ctx, uint64_t chunk), void *ctx,
		 struct hf_stack *ret_stack);
/* How many chunks were decoded so far, some of them in part. */
uint64_t hf_stacks_decoded(const struct hf_stacks *stacks);

#endif
