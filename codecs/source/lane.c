/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/lane.h"

#include <stddef.h>
#include <string.h>

int hf_lane_init(struct hf_lane *lane, struct hf_src *src)
{
	memset(lane, 0, offsetof(struct hf_lane, bytes)); /* the rest is not looked at before it is written */
	lane->stop = HF_LANE_END;
	return hf_reader_init(&lane->reader, src, HF_READER_CAP);
}

void hf_lane_fini(struct hf_lane *lane)
{
	hf_reader_fini(&lane->reader);
}

void hf_lane_start(struct hf_lane *lane, enum hf_coresight_layout layout, uint8_t id, uint64_t start, uint64_t end,
		   const struct hf_lane_entry *entry)
{
	hf_coresight_init(&lane->frames, layout, start);
	lane->end = end;
	lane->id = id;
	lane->skip = 0;
	lane->stop = HF_LANE_MORE;
	lane->pos = lane->count = 0;
	if (entry) {
		lane->frames.offset = entry->frame;
		lane->frames.id = entry->before;
		lane->frames.locked |= entry->frame != start;
		lane->skip = entry->at;
	}
}

struct hf_lane_entry hf_lane_entry(const struct hf_lane *lane)
{
	const struct hf_coresight *cs = &lane->frames;

	if (lane->pos < lane->count)
		return lane->entry[lane->pos];
	if (lane->stop == HF_LANE_BREAK) /* which is met again there */
		return (struct hf_lane_entry){.at = lane->broken, .frame = lane->broken};
	/* Inside a frame that has begun: what of it is ours comes behind this place. */
	return (struct hf_lane_entry){
		.at = cs->offset, .frame = cs->fill ? cs->at[0] : cs->offset, .before = cs->id};
}

/* Makes bytes of the stream available from offset on: *ret_n of them, with the end of the recording observed. */
static int window(struct hf_lane *lane, size_t want, const uint8_t **ret_p, size_t *ret_n)
{
	struct hf_reader *r = &lane->reader;
	const uint64_t offset = lane->frames.offset;
	int err = 0;

	if (offset < r->start || offset > r->start + r->len || r->start + r->len - offset < want)
		err = r->ended && offset == r->start ? 0 : hf_reader_seek(r, offset);
	if (err)
		return err;
	*ret_p = r->buf + (offset - r->start);
	*ret_n = r->len - (size_t)(offset - r->start);
	if (lane->end - offset < *ret_n)
		*ret_n = (size_t)(lane->end - offset);
	return 0;
}

/* What it means that no more than n bytes follow, which are not enough for anything. */
static void stop_at_end(struct hf_lane *lane, size_t n)
{
	struct hf_coresight *cs = &lane->frames;
	const bool cut = lane->reader.err && cs->offset + n < lane->end;

	lane->stop = cut		     ? HF_LANE_ERROR :
		     n || cs->fill || !cs->locked ? HF_LANE_FRAME :
						 HF_LANE_END;
}

static int fill_plain(struct hf_lane *lane)
{
	const uint8_t *p;
	size_t n, room = HF_LANE_CAP - lane->count;
	int err = window(lane, 1, &p, &n);

	if (err)
		return err;
	if (n == 0) {
		lane->frames.locked = true; /* there is nothing to be locked to */
		stop_at_end(lane, 0);
		return 0;
	}
	n = n < room ? n : room;
	memcpy(lane->bytes + lane->count, p, n);
	for (size_t i = 0; i < n; i++)
		lane->entry[lane->count + i] =
			(struct hf_lane_entry){.at = lane->frames.offset + i, .frame = lane->frames.offset + i};
	lane->count += (uint32_t)n;
	lane->frames.offset += n;
	return 0;
}

static void add(struct hf_lane *lane, const struct hf_coresight_data *data)
{
	for (unsigned i = 0; i < data->count; i++) {
		lane->seen[data->id[i] / 64] |= UINT64_C(1) << data->id[i] % 64;
		if (data->id[i] != lane->id || data->at[i] < lane->skip)
			continue;
		lane->bytes[lane->count] = data->byte[i];
		lane->entry[lane->count++] =
			(struct hf_lane_entry){.at = data->at[i], .frame = data->frame, .before = data->before};
	}
	if (data->flags & HF_CORESIGHT_RESET)
		lane->stop = HF_LANE_BREAK;
}

/* Takes frames apart until the lane is full, the window is empty, or something stops it. */
static int fill_frames(struct hf_lane *lane)
{
	struct hf_coresight_data data;
	const uint8_t *p;
	size_t n, took;
	int err = window(lane, HF_CORESIGHT_FRAME, &p, &n);

	if (err)
		return err;
	do {
		const uint64_t offset = lane->frames.offset;

		took = hf_coresight_take(&lane->frames, p, n, &data);
		if (data.flags & HF_CORESIGHT_RESET)
			lane->broken = data.flags & HF_CORESIGHT_CUT ? lane->frames.at[0] : offset;
		p += took;
		n -= took;
		add(lane, &data);
	} while (took && lane->stop == HF_LANE_MORE && lane->count <= HF_LANE_CAP - HF_CORESIGHT_DATA);
	if (took == 0) {
		err = window(lane, HF_CORESIGHT_FRAME, &p, &n);
		if (!err && n < HF_CORESIGHT_FRAME)
			stop_at_end(lane, n);
	}
	return err;
}

int hf_lane_fill(struct hf_lane *lane)
{
	int err = 0;

	if (lane->pos) {
		memmove(lane->bytes, lane->bytes + lane->pos, lane->count - lane->pos);
		memmove(lane->entry, lane->entry + lane->pos, (lane->count - lane->pos) * sizeof *lane->entry);
		lane->count -= lane->pos;
		lane->pos = 0;
	}
	while (!err && lane->stop == HF_LANE_MORE && lane->count <= HF_LANE_CAP - HF_CORESIGHT_DATA)
		err = lane->frames.layout == HF_CORESIGHT_NONE ? fill_plain(lane) : fill_frames(lane);
	return err;
}

void hf_lane_resume(struct hf_lane *lane)
{
	if (lane->stop == HF_LANE_BREAK)
		lane->stop = HF_LANE_MORE;
}
