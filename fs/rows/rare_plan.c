/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/rows/rare_plan.h"

#include <stdlib.h>

/* Marks the chunks from that of first up to that of last; *ret_next is the ordinal behind these. */
static int mark(const struct hf_find_ask *ask, const struct hf_find_plan *plan, const struct hf_rare_hit *hit,
		uint64_t *ret_next)
{
	struct hf_chunk chunk;
	uint64_t ordinal = hit->first > *ret_next ? hit->first : *ret_next;

	do {
		if (hf_index_chunk_of(ask->index, ask->hart, ordinal, &chunk))
			return HF_ERR_STATE;
		if (chunk.number >= plan->low && chunk.number < plan->high)
			plan->count[chunk.number - plan->low] = 1;
		*ret_next = ordinal = chunk.ordinal + chunk.insns;
	} while (ordinal <= hit->last && chunk.number < plan->high);
	return chunk.number < plan->high ? 0 : HF_NOTE_END;
}

static int mark_kind(const struct hf_find_ask *ask, const struct hf_find_plan *plan, enum hf_rare_kind kind)
{
	const struct hf_rare_question question = {
		.kind = kind, .any_detail = kind != HF_RARE_CONTEXT, .detail = HF_RARE_CONTEXT_ALL, .any_value = true};
	struct hf_rare_hit hit;
	struct hf_chunk chunk;
	struct hf_rare *rare;
	uint64_t ordinal;
	int err = hf_rare_find(ask->summary, ask->hart, &question, &rare);

	if (err)
		return err;
	err = hf_index_chunk(ask->index, ask->hart, plan->low, &chunk) ? HF_ERR_STATE : 0;
	ordinal = err ? 0 : chunk.ordinal;
	while (!err) {
		err = hf_rare_next(rare, ordinal, &hit);
		if (!err)
			err = mark(ask, plan, &hit, &ordinal);
	}
	hf_rare_free(rare);
	return err == HF_NOTE_END ? 0 : err;
}

int hf_rows_rare_plan(const struct hf_find_ask *ask, uint32_t kinds, struct hf_find_plan *plan)
{
	const uint64_t n = plan->high - plan->low;
	int err = 0;

	plan->count = calloc((size_t)n + 1, sizeof *plan->count);
	if (!plan->count)
		return HF_ERR_NOMEM;
	for (unsigned i = 0; i < HF_RARE_KINDS && !err; i++)
		if (kinds >> i & 1)
			err = mark_kind(ask, plan, (enum hf_rare_kind)i);
	if (err)
		hf_find_plan_fini(plan);
	return err;
}
