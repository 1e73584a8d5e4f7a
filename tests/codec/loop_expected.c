/* SPDX-License-Identifier: Apache-2.0 */
/* Every sample gives the instructions and traps that are known of it, on each of its harts. */
#include "tests/codec/loops.h"

static size_t count_markers(const struct hf_events *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->ev[i].kind == HF_EVENT_MARKER;
	return n;
}

static void check(struct sample *s)
{
	size_t given = s->harts[s->hart_count - 1] == HF_HART_RECORDS ? s->hart_count - 1 : s->hart_count;

	CHECK_EQ(s->expected_count, given);
	for (size_t i = 0; i < s->expected_count; i++) {
		const uint32_t hart = s->expected[i].hart;
		struct hf_events list = sample_all(s, hart == UINT32_MAX ? s->stream->info.first_hart : hart, 256);

		CHECK(s->expected[i].n || s->expected[i].markers);
		CHECK(!s->expected[i].markers || count_markers(&list) == s->expected[i].markers);
		sample_check_expected(s, i, &list);
		hf_events_free(&list);
	}
}

void loop_expected(struct samples *all)
{
	samples_each(all, check);
}
