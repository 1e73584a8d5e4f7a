/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as CoreSight frames: every byte is taken once, lanes entered at any of their bytes go on the same, and
 * offsets ascend. Input: layout, id, and the stream.
 */
#include "codecs/source/lane.h"
#include "tests/lib/fuzz.h"

#include <string.h>

#define KEPT 300

static struct hf_lane lane, other;

/* The first bytes of the other lane, entered here, are the next ones of this; p[n] of its are known. */
static void enter(enum hf_coresight_layout layout, uint8_t id, uint64_t size, const struct hf_lane_entry *entry,
		  const uint8_t *p, size_t n)
{
	hf_lane_start(&other, layout, id, 0, size, entry);
	MUST(hf_lane_fill(&other) == 0);
	if (other.count < n)
		n = other.count;
	MUST(memcmp(other.bytes, p, n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum hf_coresight_layout layout;
	struct hf_src *src;
	uint64_t last = 0;
	unsigned entered = 0;
	bool begun = false;

	if (size < 2)
		return 0;
	layout = data[0] % HF_CORESIGHT_LAYOUTS;
	MUST(hf_src_memory_new(data + 2, size - 2, &src) == 0);
	MUST(hf_lane_init(&lane, src) == 0 && hf_lane_init(&other, src) == 0);
	hf_lane_start(&lane, layout, data[1] & 0x7f, 0, size - 2, NULL);
	do {
		MUST(hf_lane_fill(&lane) == 0);
		while (hf_lane_left(&lane)) {
			const uint64_t at = lane.entry[lane.pos].at;

			MUST(at < size - 2 && (!begun || at > last));
			begun = true;
			last = at;
			if (entered++ < KEPT)
				enter(layout, lane.id, size - 2, &lane.entry[lane.pos], lane.bytes + lane.pos,
				      lane.stop == HF_LANE_BREAK ? hf_lane_left(&lane) : 1);
			lane.pos++;
		}
		hf_lane_resume(&lane);
	} while (lane.stop == HF_LANE_MORE);
	MUST(lane.stop == HF_LANE_END || lane.stop == HF_LANE_FRAME);
	hf_lane_fini(&lane);
	hf_lane_fini(&other);
	hf_src_free(src);
	return 0;
}
