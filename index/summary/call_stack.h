/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls and traps that one context is in. A call that was not seen to return is forgotten with the one it was made
 * in. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_CALL_STACK_H
#define HF_INDEX_SUMMARY_CALL_STACK_H

#include "index/summary/call.h"

struct hf_call_frame {
	uint64_t back; /* of a call: where it returns to; of a trap: the value of trap before it */
	uint32_t node;
};

/*
 * What is beyond its depth has no frames. Calls there are counted, with which of 64 classes their return addresses are of
 * (address / 2 mod 64); a return into one of these ends one of them, any other ends all if it fits a frame. Within a trap
 * there only trap returns are looked at.
 */
struct hf_call_stack {
	struct hf_call_frame *frames;
	uint32_t depth, cap;
	uint32_t base; /* the root below all; HF_CALL_NO_NODE: none was entered, or there is no node for it */
	bool begun;    /* base is what is executed if there are no frames */
	bool known;    /* with hf_calls.want: it is as it was */
	uint32_t context;
	uint32_t trap; /* frames up to that of the newest trap; 0: there is none */
	uint64_t calls_beyond, traps_beyond, classes_beyond;
};

void hf_call_stack_fini(struct hf_call_stack *s);
static inline bool hf_call_stack_is_beyond(const struct hf_call_stack *s)
{
	return s->calls_beyond || s->traps_beyond;
}
/* What is executed in it. */
static inline uint32_t hf_call_stack_node(const struct hf_call_stack *s)
{
	if (hf_call_stack_is_beyond(s))
		return HF_CALL_NO_NODE;
	return s->depth ? s->frames[s->depth - 1].node : s->base;
}

/* Room for a frame, of at most so many; *left frames may still be added to the memory of all stacks. 1: there is none.
 * HF_ERR_NOMEM. */
int hf_call_stack_room(struct hf_call_stack *s, uint32_t most, uint32_t *left);
/* Gives the room back that it had only in between, to *left: so it is one that has just become as it is. HF_ERR_NOMEM. */
int hf_call_stack_fit(struct hf_call_stack *s, uint32_t *left);
/* Once there is room, or beyond it. */
void hf_call_stack_push(struct hf_call_stack *s, uint32_t node, uint64_t back);
void hf_call_stack_push_trap(struct hf_call_stack *s, uint32_t node);
void hf_call_stack_call_beyond(struct hf_call_stack *s, uint64_t back);
/* Whether it fits a call since the newest trap: all calls from that one on are over then. */
bool hf_call_stack_return(struct hf_call_stack *s, uint64_t target);
/* Back to before the newest trap. False: there is none, and the stack is empty now. */
bool hf_call_stack_trap_return(struct hf_call_stack *s);

/*
 * A piece of a stack: the way to a node from its root, and so many frames above it that are in node HF_CALL_NO_NODE; if
 * the node is that one, these alone. ret_pieces[depth + 1], the oldest first. Returns how many.
 */
struct hf_call_piece {
	uint32_t node, refused;
};
uint32_t hf_call_stack_pieces(const struct hf_call_stack *s, struct hf_call_piece *ret_pieces);

#endif
