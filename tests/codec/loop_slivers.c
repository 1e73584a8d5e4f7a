/* SPDX-License-Identifier: Apache-2.0 */
/* The events are the same whatever few bytes a source gives at a time, and however many events are asked for. */
#include "tests/codec/loops.h"
#include "tests/lib/sliver.h"

static const size_t most[] = {1, 2, 7, 61, 2047};
static const size_t batch[] = {1, 2, 7, 64, 512};

static void check(struct sample *s)
{
	for (size_t h = 0; h < s->hart_count; h++) {
		struct hf_events whole = sample_all(s, s->harts[h], 256);

		for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
			struct hf_src *sliver;
			struct hf_events list;
			char what[64];
			int err;

			CHECK_EQ(hf_sliver_new(s->src, most[i], &sliver), 0);
			list = sample_events(s->stream, sliver, s->harts[h], batch[i], &err);
			CHECK_EQ(err, HF_NOTE_END);
			snprintf(what, sizeof what, "hart %u in reads of %zu, %zu events at a time", s->harts[h],
				 most[i], batch[i]);
			hf_events_check_same(&whole, &list, what);
			hf_events_free(&list);
			hf_src_free(sliver);
		}
		hf_events_free(&whole);
	}
}

void loop_slivers(struct samples *all)
{
	samples_each(all, check);
}
