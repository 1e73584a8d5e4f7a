/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a hart in a summary: their tree, and the stack at each chunk. */
#ifndef HF_INDEX_SUMMARY_TREE_H
#define HF_INDEX_SUMMARY_TREE_H

#include "index/summary/call.h"
#include "index/summary/summary.h"

/* The calling-context tree of a hart. Parents come before their children; the sum of all nodes' own instructions is
 * that of the hart. */
struct hf_summary_tree {
	uint32_t hart, count;
	struct hf_call_node *nodes; /* the first is that of HF_CALL_BEYOND */
	uint64_t *below;	    /* of each node the instructions of its callees, without own */
	uint16_t *depth;	    /* of each node how many callers it has */
	struct hf_run_context *contexts; /* by their numbers, as nodes have them */
	size_t context_count;
	struct hf_call_facts facts;
};

/* To be freed; for any thread. HF_ERR_NOT_FOUND: there is no such hart. HF_ERR_STATE: it is damaged. HF_ERR_NOMEM. */
int hf_summary_tree_load(struct hf_summary *summary, uint32_t hart, struct hf_summary_tree **ret_tree);
/* The same from calls that were followed to the end of a hart, without a summary. */
struct hf_calls;
int hf_summary_tree_of(const struct hf_calls *calls, uint32_t hart, uint64_t insns, struct hf_summary_tree **ret_tree);
void hf_summary_tree_free(struct hf_summary_tree *tree);

/* Whether the node is empty: all its calls went through a stub, and count for the stub's target. */
static inline bool hf_summary_tree_is_left(const struct hf_summary_tree *tree, uint32_t node)
{
	return node && !tree->nodes[node].calls && !tree->nodes[node].own && !tree->below[node];
}

/* The stack of a hart: nodes from the oldest, a root, to the newest. A trap handler comes behind what it interrupts.
 * HF_CALL_NO_NODE: a frame without a node, for the tree was full. */
struct hf_summary_stack {
	uint32_t context, count;
	uint64_t calls_beyond, traps_beyond; /* above these, beyond the limit of depth */
	uint64_t classes_beyond;	     /* classes of these calls' return addresses (summary/call_stack.h) */
	uint32_t nodes[HF_CALL_DEPTH + 1];
	uint8_t kind[HF_CALL_DEPTH + 1];  /* enum hf_call_kind; HF_CALL_TRAP also of an interrupt without a node */
	uint64_t back[HF_CALL_DEPTH + 1]; /* return addresses of calls */
};

/* As calls are followed with it (summary/call_stack.h). HF_ERR_NOMEM. */
struct hf_call_stack;
int hf_summary_stack_copy(const struct hf_summary_stack *from, struct hf_call_stack *ret_stack);

/* The stack in which the first instruction of that chunk is executed, of the hart of the tree. Errors as above;
 * HF_ERR_NOT_FOUND: no such chunk. */
int hf_summary_stack_at(struct hf_summary *summary, const struct hf_summary_tree *tree, uint64_t chunk,
			struct hf_summary_stack *ret_stack);
/* The last chunk before that one that begins in that context, and its stack. HF_ERR_NOT_FOUND: there is none. */
int hf_summary_stack_before(struct hf_summary *summary, const struct hf_summary_tree *tree, uint32_t context,
			    uint64_t chunk, uint64_t *ret_chunk, struct hf_summary_stack *ret_stack);
/* The stacks of all chunks in [first, end), in order. A result of fn other than 0 ends it. */
typedef int (*hf_summary_stack_fn)(void *ctx, uint64_t chunk, const struct hf_summary_stack *stack);
int hf_summary_each_stack(struct hf_summary *summary, const struct hf_summary_tree *tree, uint64_t first, uint64_t end,
			  hf_summary_stack_fn fn, void *ctx);

/* An estimate of the tree of instructions [first, end) of the hart: all those of a chunk count for the node in which it
 * begins. tree: of the hart. Calls, ordinals, cycles and facts are 0. Errors as above, and of reading the index. */
int hf_summary_tree_sample(struct hf_summary *summary, struct hf_index *index, const struct hf_summary_tree *tree,
			   uint64_t first, uint64_t end, struct hf_summary_tree **ret_tree);

#endif
