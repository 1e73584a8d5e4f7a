/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/levels.h"

enum { ABOVE_MAX = 2 };

static uint8_t count_above(const struct hf_summary_tree *tree, const struct hf_level *level, uint32_t node)
{
	uint8_t above = 0;

	if (level[node].function == HF_LEVEL_NONE)
		return 0;
	for (uint32_t n = tree->nodes[node].parent; n != HF_CALL_NO_NODE && above < ABOVE_MAX;
	     n = tree->nodes[n].parent)
		if (level[n].function == level[node].function)
			above++;
	return above;
}

void hf_levels_find(const struct hf_summary_tree *tree, struct hf_level *level)
{
	const struct hf_call_node *nodes = tree->nodes;

	for (uint32_t i = tree->count; i-- > 0;) {
		level[i].above = count_above(tree, level, i);
		level[i].cycles += nodes[i].cycles;
		if (nodes[i].parent != HF_CALL_NO_NODE)
			level[nodes[i].parent].cycles += level[i].cycles;
	}
}
