/* SPDX-License-Identifier: Apache-2.0 */
#include "index/read/doubts.h"

#include "codecs/base/array.h"
#include "codecs/base/err.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct hf_doubt *x = a, *y = b;

	return x->hart != y->hart ? (x->hart > y->hart) - (x->hart < y->hart) : (x->end > y->end) - (x->end < y->end);
}

int hf_doubts_add(struct hf_doubts *doubts, uint32_t hart, uint64_t ordinal, uint64_t back)
{
	const bool all = back == UINT32_MAX || back > ordinal;
	int err = back && ordinal ? hf_array_room(&doubts->doubt, doubts->count, sizeof *doubts->doubt) : 0;

	if (!err && back && ordinal)
		doubts->doubt[doubts->count++] = (struct hf_doubt){
			.hart = hart, .end = ordinal, .by = ordinal, .lowest = all ? 0 : ordinal - back};
	return err;
}

void hf_doubts_end(struct hf_doubts *doubts)
{
	struct hf_doubt *d = doubts->doubt;

	if (!doubts->count)
		return;
	qsort(d, doubts->count, sizeof *d, compare);
	for (size_t i = doubts->count - 1; i--;)
		if (d[i].hart == d[i + 1].hart && d[i + 1].lowest < d[i].lowest) {
			d[i].lowest = d[i + 1].lowest;
			d[i].by = d[i + 1].by;
		}
}

void hf_doubts_free(struct hf_doubts *doubts)
{
	free(doubts->doubt);
}

uint64_t hf_doubts_find(const struct hf_doubts *doubts, uint32_t hart, uint64_t ordinal)
{
	const struct hf_doubt *d = doubts->doubt, wanted = {.hart = hart, .end = ordinal};
	size_t low = 0, high = doubts->count;

	/* Finds the first one of the hart whose end is behind the instruction. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare(&d[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < doubts->count && d[low].hart == hart && d[low].lowest <= ordinal ? d[low].by - 1 : HF_NOWHERE;
}
