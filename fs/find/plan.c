/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/plan.h"

#include <stdlib.h>

static const struct hf_find_list *const lists[] = {
	&hf_find_list_runs,
	&hf_find_list_words,
	&hf_find_list_rare,
	&hf_find_list_registers,
};

void hf_find_plan_fini(struct hf_find_plan *plan)
{
	free(plan->count);
	plan->count = NULL;
}

/* One more list that knows something of the question. */
static int add_list(const struct hf_find_ask *ask, const struct hf_find_list *list, struct hf_find_plan *plan)
{
	const uint64_t n = ask->high - ask->low;
	uint64_t *counts = n < SIZE_MAX / sizeof *counts ? calloc((size_t)n + 1, sizeof *counts) : NULL;
	int err = counts ? list->count(ask, counts, &plan->exact) : HF_ERR_NOMEM;

	if (!err && plan->count)
		for (uint64_t i = 0; i < n; i++)
			plan->count[i] = counts[i] < plan->count[i] ? counts[i] : plan->count[i];
	if (err || plan->count) {
		free(counts);
	} else {
		plan->count = counts;
		plan->list = list->name;
	}
	return err;
}

int hf_find_plan_new(const struct hf_find_ask *ask, struct hf_find_plan *ret_plan)
{
	const uint64_t low = ask->low, high = ask->high;
	struct hf_find_plan *plan = ret_plan;
	uint32_t served = 0;
	int err = 0;

	*plan = (struct hf_find_plan){.low = low, .high = high, .exact = true, .candidates = high - low};
	for (size_t i = 0; !err && ask->summary && i < sizeof lists / sizeof lists[0]; i++) {
		const uint32_t terms_served = lists[i]->serves(ask->predicates);

		if (terms_served)
			err = add_list(ask, lists[i], plan);
		/* Two lists know where each of two terms holds, but not where both do. */
		plan->exact &= !(served && terms_served);
		served |= terms_served;
	}
	if (err) {
		hf_find_plan_fini(plan);
		return err;
	}
	plan->exact &= served == ask->predicates->all;
	if (!plan->count) {
		plan->no_list = !ask->summary ? "there is no summary of it" : "there is no list for this question";
		return 0;
	}
	plan->candidates = 0;
	for (uint64_t i = 0; i < high - low; i++)
		plan->candidates += plan->count[i] > 0;
	return 0;
}
