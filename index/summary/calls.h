/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the calls of a hart, as its runs are cut: one stack for each context, and a tree of all of them. Internal to
 * index/.
 *
 * - A call puts a frame on the stack, with the address behind it. A return takes the newest frame away that has the
 *   address it goes to, and all above it, but none below the newest trap; one that fits none is ignored and counted. So
 *   a longjmp, and calls that never return, are put right by the next return that fits.
 * - A jump does nothing: a tail call counts for the function that was called. But that of a stub (stub.h) makes the
 *   call one of what it reaches, with what was executed in the stub, and one as a dynamic linker makes it, to a function
 *   that it has found, ends the function that jumps, and calls. A swap of co-routines (RISC-V: a jump that returns and
 *   calls) takes the frame away that it fits, if there is one, and then is a call.
 * - A call counts if an instruction was executed behind it: not one that is the last instruction of the hart.
 * - A trap puts a frame on the stack of the context in which its handler begins. A trap return takes the newest one
 *   away, wherever it goes; if there is none, the stack is empty, and what follows is a root.
 * - Cycles count for the last instruction before they were told, those before any for the first one.
 */
#ifndef HF_INDEX_SUMMARY_CALLS_H
#define HF_INDEX_SUMMARY_CALLS_H

#include "index/summary/call_stack.h"
#include "index/summary/call_tree.h"
#include "index/summary/run.h"

/* Limits, as in call.h. Together 14 MiB, of which what is not used costs nothing. */
struct hf_call_room {
	uint32_t nodes, depth, frames;
};
extern const struct hf_call_room hf_call_room_default;

/* The stack in which the first instruction of the next chunk is executed; of a chunk without one, that of the next. */
typedef int (*hf_call_stack_fn)(void *ctx, const struct hf_call_stack *stack);

struct hf_calls {
	struct hf_run_watch watch; /* for the cutter of the hart */
	hf_call_stack_fn put;
	/* NULL: every stack is empty at first. Otherwise the stack at hand, of that context, is to be set. */
	int (*want)(void *ctx, uint32_t context);
	void *ctx;
	struct hf_call_room room;
	struct hf_call_tree tree;
	struct hf_call_facts facts;
	struct hf_call_stack *stacks; /* by context */
	uint32_t stack_count, context, frames_left;
	struct hf_call_stack *stack; /* of context; NULL: there was no event yet that needs one */
	uint32_t node, executed;     /* where it is, and was when the last instruction was executed */
	uint64_t since;		     /* the ordinal from which on it is there */
	uint64_t entered;	     /* the ordinal at which the newest frame was called; UINT64_MAX: something came since */
	uint64_t early;		     /* cycles before the first instruction */
	uint64_t chunks;	     /* that wait for their stacks */
	struct hf_call_node trap;    /* to come: its kind, and its function, if that is known; HF_CALL_BEYOND: none */
	bool by_insn;		     /* an instruction said so, and an event may repeat it */
	bool returned;		     /* the same of a trap return */
};

int hf_calls_new(const struct hf_call_room *room, hf_call_stack_fn put, void *ctx, struct hf_calls **ret_calls);
void hf_calls_free(struct hf_calls *calls);
/* A chunk ends, and another follows. */
static inline void hf_calls_next_chunk(struct hf_calls *calls)
{
	calls->chunks++;
}
/*
 * Before anything else: goes on at an ordinal, with the tree as it was in the end. That tells the same chains of calls as
 * it did there: if it became full, what is not in it was refused at any time. want is asked for the stack of each context
 * that comes, and sets it by hf_calls_set_stack, which takes its frames.
 */
int hf_calls_resume(struct hf_calls *calls, const struct hf_call_node *nodes, uint32_t count, uint64_t ordinal,
		    int (*want)(void *ctx, uint32_t context));
void hf_calls_set_stack(struct hf_calls *calls, const struct hf_call_stack *stack);
/* The same without want, before an event: the stack of that context, which is at hand then. */
int hf_calls_take_stack(struct hf_calls *calls, uint32_t context, const struct hf_call_stack *stack);
/* Whether tree and stacks are all there is to know, before an instruction in the context at hand that begins a chunk. */
static inline bool hf_calls_are_plain(const struct hf_calls *calls)
{
	return calls->stack && calls->trap.kind == HF_CALL_BEYOND && !calls->by_insn && !calls->returned &&
	       calls->chunks == 1;
}
/* At that ordinal: what was executed before is in the tree, and no stack has more room than it needs. HF_ERR_NOMEM. */
int hf_calls_settle(struct hf_calls *calls, uint64_t ordinal);
/* The hart ends, with so many instructions. */
int hf_calls_end(struct hf_calls *calls, uint64_t insns);

#endif
