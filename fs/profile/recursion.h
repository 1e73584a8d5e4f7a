/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls within calls: which nodes of the tree are a function that was called while an earlier call of it had not
 * returned. What such a one executed is in what the earlier one did, and must not count twice for the function.
 * Internal to fs/profile/.
 */
#ifndef HF_FS_PROFILE_RECURSION_H
#define HF_FS_PROFILE_RECURSION_H

#include "fs/profile/texts.h"

struct hf_recursion {
	uint32_t function; /* any number; HF_RECURSION_NONE: in none, which is never the same as another */
	uint8_t above;	   /* calls of it that had not returned; 2 stands for all more */
	uint64_t cycles;   /* from the calls of this node to their returns */
};

enum { HF_RECURSION_NONE };

/* recursion: one for each node of the tree, with its function and all else 0. */
void hf_recursion_find(const struct hf_summary_tree *tree, struct hf_recursion *recursion);

/* Instructions from the calls of a node to their returns: its own, and those of all that it called. */
static inline uint64_t hf_profile_inclusive(const struct hf_summary_tree *tree, uint32_t node)
{
	return tree->nodes[node].own + tree->below[node];
}

#endif
