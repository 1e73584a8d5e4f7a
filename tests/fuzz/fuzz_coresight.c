/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as CoreSight frames: every byte is taken once, pipelines entered at any of their bytes go on the same, and
 * offsets ascend. Input: layout, id, and the stream.
 */
#include "codecs/source/pipeline.h"
#include "tests/lib/fuzz.h"

#include <string.h>

#define KEPT 30

static struct hf_pipeline pipeline, other;

/* The first bytes of the other pipeline, entered here, are the next ones of this; p[n] of its are known. */
static void enter(enum hf_coresight_layout layout, uint8_t id, uint64_t size, const struct hf_pipeline_entry *entry,
		  const uint8_t *p, size_t n)
{
	hf_pipeline_start(&other, layout, id, 0, size, entry);
	MUST(hf_pipeline_fill(&other) == 0);
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
	MUST(hf_pipeline_init(&pipeline, src) == 0 && hf_pipeline_init(&other, src) == 0);
	hf_pipeline_start(&pipeline, layout, data[1] & 0x7f, 0, size - 2, NULL);
	do {
		MUST(hf_pipeline_fill(&pipeline) == 0);
		while (hf_pipeline_left(&pipeline)) {
			const uint64_t at = pipeline.entry[pipeline.pos].at;

			MUST(at < size - 2 && (!begun || at > last));
			begun = true;
			last = at;
			if (entered++ < KEPT)
				enter(layout, pipeline.id, size - 2, &pipeline.entry[pipeline.pos],
				      pipeline.bytes + pipeline.pos,
				      pipeline.stop == HF_PIPELINE_BREAK ? hf_pipeline_left(&pipeline) : 1);
			pipeline.pos++;
		}
		hf_pipeline_resume(&pipeline);
	} while (pipeline.stop == HF_PIPELINE_MORE);
	MUST(pipeline.stop == HF_PIPELINE_END || pipeline.stop == HF_PIPELINE_FRAME);
	hf_pipeline_fini(&pipeline);
	hf_pipeline_fini(&other);
	hf_src_free(src);
	return 0;
}
