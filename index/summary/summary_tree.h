/* SPDX-License-Identifier: Apache-2.0 */
/* What the summary of a capture says of the calls of a hart: their tree, and the stack at each chunk. */
#ifndef HF_INDEX_SUMMARY_TREE_H
#define HF_INDEX_SUMMARY_TREE_H

#include "index/summary/call.h"
#include "index/summary/summary.h"

/* The calling-context tree of a hart. Parents come before their children; the sum of all nodes' own instructions is that
 * of the hart. */
struct hf_summary_tree {
	uint32_t hart, count;
	struct hf_call_node *nodes; /* the first is that of HF_CALL_BEYOND */
	uint64_t *below;	    /* of each the instructions of the nodes beneath it: own is not in it */
	uint16_t *depth;	    /* of each how many are above it */
	struct hf_call_facts facts;
};

/* To be freed, for any thread. HF_ERR_NOT_FOUND: there is no such hart. HF_ERR_STATE: it is damaged. HF_ERR_NOMEM. */
int hf_summary_tree_load(struct hf_summary *summary, uint32_t hart, struct hf_summary_tree **ret_tree);
/* The same of calls that were followed to the end of a hart, without a summary. */
struct hf_calls;
int hf_summary_tree_of(const struct hf_calls *calls, uint32_t hart, uint64_t insns, struct hf_summary_tree **ret_tree);
void hf_summary_tree_free(struct hf_summary_tree *tree);

/* Whether nothing was ever in that node: each call of it was through a stub, and counts for what that reached. */
static inline bool hf_summary_tree_is_left(const struct hf_summary_tree *tree, uint32_t node)
{
	return node && !tree->nodes[node].calls && !tree->nodes[node].own && !tree->below[node];
}

/* In what a hart is: the nodes from the oldest, which is a root, to the newest. A trap handler follows what it interrupts.
 * HF_CALL_NO_NODE: one that has no node, as the tree was full. */
struct hf_summary_stack {
	uint32_t context, count;
	uint64_t calls_beyond, traps_beyond; /* above these: so many calls and traps are beyond the limit of depth */
	uint64_t classes_beyond;	     /* of what these calls return to (summary/call_stack.h) */
	uint32_t nodes[HF_CALL_DEPTH + 1];
	uint8_t kind[HF_CALL_DEPTH + 1];  /* enum hf_call_kind; HF_CALL_TRAP also of an interrupt without a node */
	uint64_t back[HF_CALL_DEPTH + 1]; /* of a call: where it returns to */
};

/* As calls are followed with it (summary/call_stack.h). HF_ERR_NOMEM. */
struct hf_call_stack;
int hf_summary_stack_copy(const struct hf_summary_stack *from, struct hf_call_stack *ret_stack);

/* The stack in which the first instruction of that chunk is executed, of the hart of the tree. Errors as above;
 * HF_ERR_NOT_FOUND: no such chunk. */
int hf_summary_stack_at(struct hf_summary *summary, const struct hf_summary_tree *tree, uint64_t chunk,
			struct hf_summary_stack *ret_stack);
/* The last chunk before that one at which the hart is in that context, and its stack. HF_ERR_NOT_FOUND: there is none. */
int hf_summary_stack_before(struct hf_summary *summary, const struct hf_summary_tree *tree, uint32_t context,
			    uint64_t chunk, uint64_t *ret_chunk, struct hf_summary_stack *ret_stack);
/* The same of all chunks in [first, end), in their order. A positive number of fn ends it, a negative error too. */
typedef int (*hf_summary_stack_fn)(void *ctx, uint64_t chunk, const struct hf_summary_stack *stack);
int hf_summary_each_stack(struct hf_summary *summary, const struct hf_summary_tree *tree, uint64_t first, uint64_t end,
			  hf_summary_stack_fn fn, void *ctx);

/* An estimate of the tree of the instructions in [first, end) of the hart: those of a chunk count for the node in which
 * it begins. tree: of the hart. Calls, ordinals, cycles and facts are not known, and 0. Errors as above, and those of
 * reading the index. */
int hf_summary_tree_sample(struct hf_summary *summary, struct hf_index *index, const struct hf_summary_tree *tree,
			   uint64_t first, uint64_t end, struct hf_summary_tree **ret_tree);

#endif
