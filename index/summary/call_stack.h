/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls and traps that one context is in. A call whose return was not seen ends with its caller. Internal to
 * index/.
 */
#ifndef HF_INDEX_SUMMARY_CALL_STACK_H
#define HF_INDEX_SUMMARY_CALL_STACK_H

#include "index/summary/call.h"
#include "index/summary/keep.h"

struct hf_call_frame {
	uint64_t back; /* of a call: its return address; of a trap: the value of trap before it */
	uint32_t node;
};

/*
 * Beyond the limit of depth there are no frames. Calls there are counted, with the classes of their return addresses
 * (address / 2 mod 64). A return to one of these classes ends one such call; any other return ends all of them if it
 * fits a frame. Within a trap beyond the limit only trap returns count.
 */
struct hf_call_stack {
	struct hf_call_frame *frames;
	uint32_t depth, cap;
	uint32_t base; /* the root; HF_CALL_NO_NODE: none was entered, or it has no node */
	bool begun;    /* base was entered: it is executed if there are no frames */
	bool known;    /* with hf_calls.want: it was set */
	uint32_t context;
	uint32_t trap; /* number of frames up to the newest trap's; 0: there is none */
	uint64_t calls_beyond, traps_beyond, classes_beyond;
};

void hf_call_stack_fini(struct hf_call_stack *s);
static inline bool hf_call_stack_is_beyond(const struct hf_call_stack *s)
{
	return s->calls_beyond || s->traps_beyond;
}
/* The node that is executed. */
static inline uint32_t hf_call_stack_node(const struct hf_call_stack *s)
{
	if (hf_call_stack_is_beyond(s))
		return HF_CALL_NO_NODE;
	return s->depth ? s->frames[s->depth - 1].node : s->base;
}

/* Makes room for a frame. most: frames of this stack; *left: frames that all stacks may still add. 1: a limit is
 * reached. HF_ERR_NOMEM. */
int hf_call_stack_room(struct hf_call_stack *s, uint32_t most, uint32_t *left);
/* After hf_call_stack_room returned 0 or 1. */
void hf_call_stack_push(struct hf_call_stack *s, uint32_t node, uint64_t back);
void hf_call_stack_push_trap(struct hf_call_stack *s, uint32_t node);
void hf_call_stack_call_beyond(struct hf_call_stack *s, uint64_t back);
/* Whether the return fits a call since the newest trap: then that call and all newer ones end. */
bool hf_call_stack_return(struct hf_call_stack *s, uint64_t target);
/* Ends the newest trap. False: there is none; then the stack becomes empty. */
bool hf_call_stack_trap_return(struct hf_call_stack *s);

/* To a file and back, into an empty one; of nodes of which there are so many, of at most so many frames. */
void hf_call_stack_keep(struct hf_call_stack *s, uint32_t nodes, uint32_t most, struct hf_keep *keep);

/*
 * A piece of a stack: the path of a node from its root, and the number of frames above it without a node; for
 * HF_CALL_NO_NODE only those. ret_pieces[depth + 1], the oldest first. Returns how many.
 */
struct hf_call_piece {
	uint32_t node, refused;
};
uint32_t hf_call_stack_pieces(const struct hf_call_stack *s, struct hf_call_piece *ret_pieces);

#endif
