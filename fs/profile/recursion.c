/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/recursion.h"

enum { ABOVE_MAX = 2 };

static uint8_t count_above(const struct hf_summary_tree *tree, const struct hf_recursion *recursion, uint32_t node)
{
	uint8_t above = 0;

	if (recursion[node].function == HF_RECURSION_NONE)
		return 0;
	for (uint32_t n = tree->nodes[node].parent; n != HF_CALL_NO_NODE && above < ABOVE_MAX;
	     n = tree->nodes[n].parent)
		if (recursion[n].function == recursion[node].function)
			above++;
	return above;
}

void hf_recursion_find(const struct hf_summary_tree *tree, struct hf_recursion *recursion)
{
	const struct hf_call_node *nodes = tree->nodes;

	for (uint32_t i = tree->count; i-- > 0;) {
		recursion[i].above = count_above(tree, recursion, i);
		recursion[i].cycles += nodes[i].cycles;
		if (nodes[i].parent != HF_CALL_NO_NODE)
			recursion[nodes[i].parent].cycles += recursion[i].cycles;
	}
}
