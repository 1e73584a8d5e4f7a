/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A calling-context tree: a node for each chain of calls that a hart made, with what was executed there. It has so many
 * nodes; calls that would need one more are all counted in one node, the first. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_CALL_TREE_H
#define HF_INDEX_SUMMARY_CALL_TREE_H

#include "index/summary/call.h"

/* Numbers of nodes are their order in time, so a parent's is the lower one. */
struct hf_call_tree {
	struct hf_call_node *nodes;
	uint32_t *recent; /* of each node the child that was called last; 0: there is none */
	uint32_t *slots, slot_mask;
	uint32_t count, most;
};

/* most: nodes, at least 1. HF_ERR_NOMEM leaves nothing behind. */
int hf_call_tree_init(struct hf_call_tree *t, uint32_t most);
void hf_call_tree_fini(struct hf_call_tree *t);

/* Makes an empty one that of these nodes, in their order. HF_ERR_STATE: they are no tree. */
int hf_call_tree_fill(struct hf_call_tree *t, const struct hf_call_node *nodes, uint32_t count);

/* The callee in a chain; or a root of another kind, of which those of HF_CALL_ROOT are known by mode and not by function.
 * Both are counted, as of that ordinal. HF_CALL_BEYOND: there is no room, or none above either. */
uint32_t hf_call_tree_call(struct hf_call_tree *t, uint32_t parent, uint64_t function, uint64_t ordinal);
uint32_t hf_call_tree_root(struct hf_call_tree *t, const struct hf_call_node *root, uint64_t ordinal);
/* The last call of that node, with its instructions [first, end), was one of another function by the same caller. */
uint32_t hf_call_tree_move(struct hf_call_tree *t, uint32_t from, uint64_t function, uint64_t first, uint64_t end);
/* Instructions that were executed there, up to that ordinal. */
void hf_call_tree_add(struct hf_call_tree *t, uint32_t node, uint64_t insns, uint64_t ordinal);

#endif
