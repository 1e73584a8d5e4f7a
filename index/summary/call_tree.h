/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A calling-context tree: a node for each chain of calls that a hart made, with what was executed there. The number of
 * nodes is bounded; calls that would need more count for the first node. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_CALL_TREE_H
#define HF_INDEX_SUMMARY_CALL_TREE_H

#include "index/summary/call.h"
#include "index/summary/keep.h"

/* Nodes are numbered in the order of time, so a parent's number is lower. */
struct hf_call_tree {
	struct hf_call_node *nodes;
	uint32_t *recent; /* of each node the child called last; 0: none */
	uint32_t *slots, slot_mask;
	uint32_t count, most;
};

/* most: nodes, at least 1. After HF_ERR_NOMEM nothing is to be freed. */
int hf_call_tree_init(struct hf_call_tree *t, uint32_t most);
void hf_call_tree_fini(struct hf_call_tree *t);

/* Fills an empty one with these nodes, in order. HF_ERR_STATE: they are no tree. */
int hf_call_tree_fill(struct hf_call_tree *t, const struct hf_call_node *nodes, uint32_t count);

/* To a file and back, into an empty one. */
void hf_call_tree_keep(struct hf_call_tree *t, struct hf_keep *keep);

/* Enters a callee of parent; or a root of another kind: those of HF_CALL_ROOT differ by mode, not by function. Counts
 * it at that ordinal. Returns HF_CALL_NO_NODE: there is no room, or was none for parent. */
uint32_t hf_call_tree_call(struct hf_call_tree *t, uint32_t parent, uint64_t function, uint64_t ordinal);
uint32_t hf_call_tree_root(struct hf_call_tree *t, const struct hf_call_node *root, uint64_t ordinal);
/* The last call of that node, with its instructions [first, end), becomes one of another function by that caller. */
uint32_t hf_call_tree_move(struct hf_call_tree *t, uint32_t from, uint64_t function, uint64_t first, uint64_t end);
/* Adds instructions of that node, up to that ordinal. */
void hf_call_tree_add(struct hf_call_tree *t, uint32_t node, uint64_t insns, uint64_t ordinal);

#endif
