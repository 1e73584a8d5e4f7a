/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope.json: the chains of calls, as the viewer speedscope reads them. */
#include "fs/profile/escape.h"
#include "fs/profile/frames.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of stacks; what is beyond is summed in one. */
#define STACKS_MAX (UINT64_C(64) << 20)

static void put_names(const struct hf_profiled *of, const struct hf_frames *frames, struct hf_sink *sink)
{
	const bool lines = of->symbols && hf_symbols_have_lines(of->symbols);

	hf_sink_printf(sink, "{\"name\":\"(left out)\"}");
	for (uint32_t i = 0; i < frames->names; i++) {
		const struct hf_frame_name *name = &frames->name[i];
		struct hf_line at = {0};

		hf_sink_printf(sink, ",\n{\"name\":\"");
		hf_escape_json(sink, frames->bytes + name->at, name->size);
		hf_sink_printf(sink, "\"");
		if (lines && name->known)
			hf_symbols_line_at(of->symbols, name->function, &at);
		if (at.line) {
			hf_sink_printf(sink, ",\"file\":\"");
			hf_escape_json(sink, at.file, at.file_size);
			hf_sink_printf(sink, "\",\"line\":%" PRIu32, at.line);
		}
		hf_sink_printf(sink, "}");
	}
}

static void put_stack(const struct hf_frames *frames, uint32_t frame, struct hf_sink *sink)
{
	uint32_t path[HF_CALL_DEPTH + 2], depth = 0;

	/* The first frame is all: no function. */
	for (uint32_t i = frame; i; i = frames->frame[i].parent)
		path[depth++] = frames->frame[i].name + 1;
	hf_sink_printf(sink, "[");
	while (depth--)
		hf_sink_printf(sink, "%" PRIu32 "%s", path[depth], depth ? "," : "");
	hf_sink_printf(sink, "]");
}

/* The numbers of the frames that fit; returns the instructions of the others. */
static uint64_t put_stacks(const struct hf_frames *frames, uint32_t *ret_end, struct hf_sink *sink)
{
	const uint64_t limit = hf_sink_total(sink) + STACKS_MAX;
	uint64_t left_out = 0;
	const char *comma = "";

	*ret_end = frames->count;
	for (uint32_t i = 1; i < frames->count; i++) {
		if (i < *ret_end && hf_sink_total(sink) >= limit)
			*ret_end = i;
		if (i >= *ret_end)
			left_out += frames->frame[i].own;
		else if (frames->frame[i].own) {
			hf_sink_printf(sink, "%s", comma);
			put_stack(frames, i, sink);
			comma = ",\n";
		}
	}
	if (left_out)
		hf_sink_printf(sink, "%s[0]", comma);
	return left_out;
}

static void put_weights(const struct hf_frames *frames, uint32_t end, uint64_t left_out, struct hf_sink *sink)
{
	const char *comma = "";

	for (uint32_t i = 1; i < end; i++) {
		if (!frames->frame[i].own)
			continue;
		hf_sink_printf(sink, "%s%" PRIu64, comma, frames->frame[i].own);
		comma = ",\n";
	}
	if (left_out)
		hf_sink_printf(sink, "%s%" PRIu64, comma, left_out);
}

int hf_profile_speedscope(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct hf_frames frames;
	uint64_t left_out;
	uint32_t end;
	int err = hf_frames_make(of, &frames);

	if (!err) {
		hf_sink_printf(sink,
			       "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			       "\"exporter\":\"hartfs " HARTFS_VERSION "\",\"name\":\"hart%" PRIu32
			       "\",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[",
			       of->hart);
		put_names(of, &frames, sink);
		hf_sink_printf(sink,
			       "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"hart%" PRIu32
			       ", instructions, in the order of names and not of "
			       "time%s\",\"unit\":\"none\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
			       of->hart, of->sampled ? ", estimated from where chunks begin" : "",
			       frames.frame[0].total);
		left_out = put_stacks(&frames, &end, sink);
		hf_sink_printf(sink, "],\n\"weights\":[");
		put_weights(&frames, end, left_out, sink);
		hf_sink_printf(sink, "]}]}\n");
		err = sink->err;
	}
	hf_frames_free(&frames);
	return err;
}
