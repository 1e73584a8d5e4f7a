/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/pipeline.h"

#include "codecs/source/errors.h"
#include "codecs/source/sync.h"

#include <stddef.h>
#include <string.h>

int hf_pipeline_init(struct hf_pipeline *pipeline, struct hf_src *src)
{
	memset(pipeline, 0, offsetof(struct hf_pipeline, bytes)); /* the rest is not looked at before it is written */
	pipeline->stop = HF_PIPELINE_END;
	return hf_reader_init(&pipeline->reader, src, HF_READER_CAP);
}

void hf_pipeline_fini(struct hf_pipeline *pipeline)
{
	hf_reader_fini(&pipeline->reader);
}

void hf_pipeline_start(struct hf_pipeline *pipeline, enum hf_coresight_layout layout, uint8_t id, uint64_t start,
		       uint64_t end, const struct hf_pipeline_entry *entry)
{
	hf_coresight_init(&pipeline->frames, layout, start);
	pipeline->end = end;
	pipeline->id = id;
	pipeline->skip = 0;
	pipeline->stop = HF_PIPELINE_MORE;
	pipeline->pos = pipeline->count = 0;
	if (entry) {
		pipeline->frames.offset = entry->frame;
		pipeline->frames.id = entry->before & HF_CORESIGHT_ID_NONE;
		pipeline->frames.guessed = entry->before & HF_CORESIGHT_GUESSED;
		pipeline->frames.locked |= entry->frame != start || pipeline->frames.guessed;
		pipeline->skip = entry->at;
	}
}

struct hf_pipeline_entry hf_pipeline_entry(const struct hf_pipeline *pipeline)
{
	const struct hf_coresight *cs = &pipeline->frames;

	if (pipeline->pos < pipeline->count)
		return pipeline->entry[pipeline->pos];
	/* What is wrong here is met again there. */
	if (pipeline->stop == HF_PIPELINE_BREAK)
		return (struct hf_pipeline_entry){
			.at = pipeline->broken, .frame = pipeline->broken, .before = pipeline->broken_before};
	if (!cs->locked)
		return (struct hf_pipeline_entry){.at = cs->lost > pipeline->skip ? cs->lost : pipeline->skip,
						  .frame = cs->lost,
						  .before = cs->lost_before};
	/* Inside a frame that has begun: what of it is ours comes behind this place. Just entered: behind what is skipped. */
	return (struct hf_pipeline_entry){.at = cs->offset > pipeline->skip ? cs->offset : pipeline->skip,
					  .frame = cs->fill ? cs->at[0] : cs->offset,
					  .before = hf_coresight_before(cs, cs->id)};
}

/* Makes bytes of the stream available from offset on: *ret_n of them, with the end of the recording observed. */
static int window(struct hf_pipeline *pipeline, size_t want, const uint8_t **ret_p, size_t *ret_n)
{
	struct hf_reader *r = &pipeline->reader;
	const uint64_t offset = pipeline->frames.offset;
	int err = 0;

	if (offset < r->start || offset > r->start + r->len || r->start + r->len - offset < want)
		err = r->ended && offset == r->start ? 0 : hf_reader_seek(r, offset);
	if (err)
		return err;
	*ret_p = r->buf + (offset - r->start);
	*ret_n = r->len - (size_t)(offset - r->start);
	if (pipeline->end - offset < *ret_n)
		*ret_n = (size_t)(pipeline->end - offset);
	return 0;
}

/* What it means that no more than n bytes follow, which are not enough for anything. */
static void stop_at_end(struct hf_pipeline *pipeline, size_t n)
{
	struct hf_coresight *cs = &pipeline->frames;
	const bool cut = pipeline->reader.err && cs->offset + n < pipeline->end;

	pipeline->stop = cut ? HF_PIPELINE_ERROR : n || cs->fill || !cs->locked ? HF_PIPELINE_FRAME : HF_PIPELINE_END;
}

static int fill_plain(struct hf_pipeline *pipeline)
{
	const uint8_t *p;
	size_t n, room = HF_PIPELINE_CAP - pipeline->count;
	int err = window(pipeline, 1, &p, &n);

	if (err)
		return err;
	if (n == 0) {
		pipeline->frames.locked = true; /* there is nothing to be locked to */
		stop_at_end(pipeline, 0);
		return 0;
	}
	n = n < room ? n : room;
	memcpy(pipeline->bytes + pipeline->count, p, n);
	for (size_t i = 0; i < n; i++)
		pipeline->entry[pipeline->count + i] = (struct hf_pipeline_entry){.at = pipeline->frames.offset + i,
										  .frame = pipeline->frames.offset + i};
	pipeline->count += (uint32_t)n;
	pipeline->frames.offset += n;
	return 0;
}

static void add(struct hf_pipeline *pipeline, const struct hf_coresight_data *data)
{
	for (unsigned i = 0; i < data->count; i++) {
		pipeline->seen[data->id[i] / 64] |= UINT64_C(1) << data->id[i] % 64;
		if (data->id[i] != pipeline->id || data->at[i] < pipeline->skip)
			continue;
		pipeline->bytes[pipeline->count] = data->byte[i];
		pipeline->entry[pipeline->count++] =
			(struct hf_pipeline_entry){.at = data->at[i], .frame = data->frame, .before = data->before};
	}
	if (data->flags & HF_CORESIGHT_RESET)
		pipeline->stop = HF_PIPELINE_BREAK;
}

static void note_break(struct hf_pipeline *pipeline, uint64_t offset, unsigned flags)
{
	const struct hf_coresight *cs = &pipeline->frames;

	pipeline->broken = flags & HF_CORESIGHT_LOST ? cs->lost : flags & HF_CORESIGHT_CUT ? cs->at[0] : offset;
	pipeline->broken_before = flags & HF_CORESIGHT_LOST ? cs->lost_before : 0;
	pipeline->broken_code = flags & HF_CORESIGHT_FOUND ? HF_ERR_CORESIGHT_FOUND : HF_ERR_CORESIGHT_BREAK;
	pipeline->left_out = flags & HF_CORESIGHT_LOST ? cs->offset - cs->lost : 0;
}

/* Takes frames apart until the pipeline is full, the window is too short, or something stops it. */
static int fill_frames(struct hf_pipeline *pipeline)
{
	const bool aligned = pipeline->frames.layout == HF_CORESIGHT_ALIGNED;
	const size_t want = aligned ? HF_CORESIGHT_FRAME : HF_SYNC_LOOK;
	struct hf_coresight_data data;
	const uint8_t *p;
	size_t n, took;
	int err = window(pipeline, want, &p, &n);
	const bool last = n < want;

	if (err)
		return err;
	do {
		const uint64_t offset = pipeline->frames.offset;

		took = aligned ? hf_coresight_take(&pipeline->frames, p, n, &data) : hf_sync_take(&pipeline->frames, p, n, &data);
		if (data.flags & HF_CORESIGHT_RESET)
			note_break(pipeline, offset, data.flags);
		p += took;
		n -= took;
		add(pipeline, &data);
	} while ((took || data.flags) && (last || n >= want) && pipeline->stop == HF_PIPELINE_MORE &&
		 pipeline->count <= HF_PIPELINE_CAP - HF_CORESIGHT_DATA);
	if (last && !took && !data.flags)
		stop_at_end(pipeline, n);
	return 0;
}

int hf_pipeline_fill(struct hf_pipeline *pipeline)
{
	int err = 0;

	if (pipeline->pos) {
		memmove(pipeline->bytes, pipeline->bytes + pipeline->pos, pipeline->count - pipeline->pos);
		memmove(pipeline->entry, pipeline->entry + pipeline->pos,
			(pipeline->count - pipeline->pos) * sizeof *pipeline->entry);
		pipeline->count -= pipeline->pos;
		pipeline->pos = 0;
	}
	while (!err && pipeline->stop == HF_PIPELINE_MORE && pipeline->count <= HF_PIPELINE_CAP - HF_CORESIGHT_DATA)
		err = pipeline->frames.layout == HF_CORESIGHT_NONE ? fill_plain(pipeline) : fill_frames(pipeline);
	return err;
}

void hf_pipeline_resume(struct hf_pipeline *pipeline)
{
	if (pipeline->stop == HF_PIPELINE_BREAK)
		pipeline->stop = HF_PIPELINE_MORE;
}
