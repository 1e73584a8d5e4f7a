/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the calls of a hart while its runs are cut: one stack for each context, and one tree for all. Internal to
 * index/.
 *
 * - A call pushes a frame with its return address. A return pops the newest frame that has its target, and all above
 *   it, but none below the newest trap; one that fits no frame is ignored and counted. So after a longjmp, or calls
 *   that never return, the next return that fits corrects the stack.
 * - A jump does nothing: a tail call counts for the function that was called. But the jump of a stub (stub.h) makes its
 * target the called function, with the instructions of the stub; and a jump as of a dynamic linker, to a function that
 *   it has found, ends the function that jumps and calls the target. A swap of co-routines (RISC-V: a jump that returns
 *   and calls) pops the frame that it fits, if any, and then is a call.
 * - A call counts if an instruction was executed behind it: not one that is the last instruction of the hart.
 * - A trap pushes a frame on the stack of the context in which its handler begins. A trap return pops the newest trap,
 *   whatever its target; if there is none, the stack becomes empty, and a root follows.
 * - Cycles count for the last instruction before their event; those before any instruction for the first one.
 */
#ifndef HF_INDEX_SUMMARY_CALLS_H
#define HF_INDEX_SUMMARY_CALLS_H

#include "index/summary/call_stack.h"
#include "index/summary/call_tree.h"
#include "index/summary/run.h"

/* Limits, as in call.h. Together 14 MiB; unused memory costs nothing. */
struct hf_call_room {
	uint32_t nodes, depth, frames;
};
extern const struct hf_call_room hf_call_room_default;

/* Gets the stack of the first instruction of each chunk; for a chunk without instructions that of the next one. */
typedef int (*hf_call_stack_fn)(void *ctx, const struct hf_call_stack *stack);

struct hf_calls {
	struct hf_run_watch watch; /* for the cutter of the hart */
	hf_call_stack_fn put;
	/* Must set the stack of that context, which is the present one. NULL: every stack begins empty. */
	int (*want)(void *ctx, uint32_t context);
	void *ctx;
	struct hf_call_room room;
	struct hf_call_tree tree;
	struct hf_call_facts facts;
	struct hf_call_stack *stacks; /* by context */
	uint32_t stack_count, context, frames_left;
	struct hf_call_stack *stack; /* the present one; NULL: no event needed one yet */
	uint32_t node, executed;     /* the present node; that of the last instruction */
	uint64_t since;		     /* the ordinal from which on node is executed */
	uint64_t entered;	     /* ordinal of the newest call; UINT64_MAX: something else came since */
	uint64_t early;		     /* cycles before the first instruction */
	uint64_t chunks;	     /* that wait for their stacks */
	struct hf_call_node trap;    /* to come: kind, and function if known; HF_CALL_BEYOND: none */
	bool by_insn;		     /* an instruction told it, and an event may repeat that */
	bool returned;		     /* the same for a trap return */
};

int hf_calls_new(const struct hf_call_room *room, hf_call_stack_fn put, void *ctx, struct hf_calls **ret_calls);
void hf_calls_free(struct hf_calls *calls);
/* After a chunk that is not the last. */
static inline void hf_calls_next_chunk(struct hf_calls *calls)
{
	calls->chunks++;
}
/*
 * Before anything else: goes on at an ordinal, with the hart's complete tree. That is no difference: if the tree became
 * full, nodes that it lacks were refused there, too. want is called for the stack of each context, and sets it by
 * hf_calls_set_stack, which takes its frames.
 */
int hf_calls_resume(struct hf_calls *calls, const struct hf_call_node *nodes, uint32_t count, uint64_t ordinal,
		    int (*want)(void *ctx, uint32_t context));
void hf_calls_set_stack(struct hf_calls *calls, const struct hf_call_stack *stack);
/* To a file and back, into one that is as it was made; at most so many chunks wait. */
void hf_calls_keep(struct hf_calls *calls, uint64_t chunks, struct hf_keep *keep);
/* At the end of the hart, which has so many instructions. */
int hf_calls_end(struct hf_calls *calls, uint64_t insns);

#endif
