/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which calls an instruction of a hart was executed. The rules are those of the calling-context tree
 * (summary/calls.h), so answers are the same with a summary, which has the stack at each chunk, and without one, where
 * the hart is followed from its first instruction on.
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
	uint64_t
		function; /* what a call went to, or a trap; of HF_CALL_ROOT the first pc; HF_CALL_UNKNOWN: not known */
	uint64_t pc;	  /* of the instruction; of any other frame where the call in it returns to */
	bool has_pc;	  /* false: not known, as of what a trap interrupted */
	uint8_t kind;	  /* enum hf_call_kind; HF_CALL_BEYOND: not known */
};

/* The innermost frame is the first. If there are calls or traps beyond the limit of depth, that is one of them, and the
 * others of these are not here. */
struct hf_stack {
	uint32_t count;
	uint64_t calls_beyond, traps_beyond;
	struct hf_stack_frame frame[HF_CALL_DEPTH + 2];
};

/* For one hart, by one thread at a time. */
struct hf_stacks;

/* where: its first four members. summary NULL: there is none. All is borrowed. HF_ERR_NOT_FOUND: there is no such hart;
 * HF_ERR_STATE, here and below: the summary is damaged. */
int hf_stacks_new(const struct hf_cursor *where, struct hf_summary *summary, struct hf_stacks **ret_stacks);
void hf_stacks_free(struct hf_stacks *stacks);
/*
 * The stack in which that instruction was executed: if it is a call or a return itself, before that. Asked in ascending
 * order, none is decoded twice. go_on is asked before each chunk; false: HF_ERR_CANCELLED. NULL: nobody is.
 */
int hf_stacks_at(struct hf_stacks *stacks, uint64_t ordinal, bool (*go_on)(void *ctx, uint64_t chunk), void *ctx,
		 struct hf_stack *ret_stack);
/* How many chunks were decoded so far, some of them in part. */
uint64_t hf_stacks_decoded(const struct hf_stacks *stacks);

#endif
