/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/coresight.h"

#include "codecs/base/err.h"

#include <string.h>

#define FSYNC_SIZE 4
#define FSYNCS_RESET 4 /* in an ALIGNED stream: a frame of nothing else */
#define BLOCK 512      /* of a DSTREAM */
#define BLOCK_DATA 504

void hf_coresight_init(struct hf_coresight *cs, enum hf_coresight_layout layout, uint64_t start)
{
	*cs = (struct hf_coresight){
		.start = start,
		.offset = start,
		.layout = (uint8_t)layout,
		.locked = layout == HF_CORESIGHT_ALIGNED,
		.lost = start,
		.next = HF_NOWHERE,
	};
}

static bool is_somebody(uint8_t id)
{
	return id != 0 && id != HF_CORESIGHT_ID_NONE;
}

/* An id byte says with its auxiliary bit whether the byte behind it is still the old source's. Byte 14 has none. */
static void unpack(struct hf_coresight *cs, const uint8_t *frame, const uint64_t *at, struct hf_coresight_data *data)
{
	const uint8_t aux = frame[15];
	uint8_t id = cs->id;

	data->before = hf_coresight_before(cs, id);
	data->frame = at[0];
	for (unsigned i = 0; i < 15; i += 2) {
		const uint8_t low = aux >> (i / 2) & 1;
		uint8_t odd_id = id;

		if (!(frame[i] & 1)) {
			data->id[data->count] = id;
			data->byte[data->count] = frame[i] | low;
			data->at[data->count] = at[i];
			data->count = (uint8_t)(data->count + is_somebody(id));
		} else {
			id = frame[i] >> 1;
			odd_id = low ? odd_id : id;
		}
		if (i == 14 || !is_somebody(odd_id))
			continue;
		data->id[data->count] = odd_id;
		data->byte[data->count] = frame[i + 1];
		data->at[data->count] = at[i + 1];
		data->count++;
	}
	cs->id = id;
}

/* Where the stream goes on at or behind offset: DSTREAM blocks have a footer. */
static uint64_t behind_footer(const struct hf_coresight *cs, uint64_t offset)
{
	const uint64_t in_block = (offset - cs->start) % BLOCK;

	return cs->layout == HF_CORESIGHT_DSTREAM && in_block >= BLOCK_DATA ? offset + BLOCK - in_block : offset;
}

/* Copies the next k bytes of the stream and their offsets; false if p[n] does not hold them. *ret_end: behind them. */
static bool peek(const struct hf_coresight *cs, const uint8_t *p, size_t n, unsigned k, uint8_t *bytes, uint64_t *at,
		 uint64_t *ret_end)
{
	uint64_t offset = cs->offset;

	for (unsigned i = 0; i < k; i++) {
		offset = behind_footer(cs, offset);
		if (offset - cs->offset >= n)
			return false;
		at[i] = offset;
		bytes[i] = p[offset - cs->offset];
		offset++;
	}
	*ret_end = offset;
	return true;
}

static bool is_fsync(const uint8_t *bytes)
{
	return bytes[0] == 0xff && bytes[1] == 0xff && bytes[2] == 0xff && bytes[3] == 0x7f;
}

/*
 * Before a frame of an ALIGNED stream. The id 7F does not exist, so that FF cannot begin one. Four FSYNCs must be seen
 * together, which are as long as a frame.
 */
static bool aligned_fsyncs(struct hf_coresight *cs, const uint8_t *p, struct hf_coresight_data *data)
{
	unsigned count = 0;

	while (count < FSYNCS_RESET && is_fsync(p + count * FSYNC_SIZE))
		count++;
	cs->offset += count * FSYNC_SIZE;
	if (count == FSYNCS_RESET) {
		cs->id = 0;
		data->flags = HF_CORESIGHT_RESET;
	}
	return count != 0;
}

static size_t take_aligned(struct hf_coresight *cs, const uint8_t *p, size_t n, struct hf_coresight_data *data)
{
	uint64_t at[HF_CORESIGHT_FRAME];

	if (n < HF_CORESIGHT_FRAME)
		return 0;
	if (p[0] == 0xff) {
		const uint64_t before = cs->offset;

		if (aligned_fsyncs(cs, p, data))
			return (size_t)(cs->offset - before);
	}
	for (unsigned i = 0; i < HF_CORESIGHT_FRAME; i++)
		at[i] = cs->offset + i;
	unpack(cs, p, at, data);
	cs->offset += HF_CORESIGHT_FRAME;
	return HF_CORESIGHT_FRAME;
}

bool hf_coresight_is_fsync(const struct hf_coresight *cs, uint64_t at, const uint8_t *p, size_t n)
{
	struct hf_coresight here = {.start = cs->start, .offset = at, .layout = cs->layout};
	uint8_t bytes[FSYNC_SIZE];
	uint64_t places[FSYNC_SIZE], end;

	return n >= FSYNC_SIZE && p[0] == 0xff && peek(&here, p, n, FSYNC_SIZE, bytes, places, &end) && is_fsync(bytes);
}

/* The next two bytes of the stream, of which FSYNCs and HSYNCs are made too. 0: more bytes are wanted. */
static size_t take_pair(struct hf_coresight *cs, const uint8_t *p, size_t n, struct hf_coresight_data *data)
{
	const uint64_t before = cs->offset;
	uint8_t bytes[FSYNC_SIZE];
	uint64_t at[FSYNC_SIZE], end, fsync_end;

	if (!peek(cs, p, n, 2, bytes, at, &end))
		return 0;
	if (bytes[0] == 0xff && bytes[1] == 0x7f) {
		cs->offset = end;
		return (size_t)(end - before);
	}
	if (bytes[0] == 0xff && bytes[1] == 0xff) {
		if (!peek(cs, p, n, FSYNC_SIZE, bytes, at, &fsync_end))
			return 0;
		if (is_fsync(bytes)) {
			/* inside a frame: bytes are missing */
			data->flags = cs->fill ? HF_CORESIGHT_RESET | HF_CORESIGHT_CUT : 0;
			cs->id = cs->fill ? 0 : cs->id;
			cs->fill = 0;
			cs->guessed = false;
			cs->offset = fsync_end;
			return (size_t)(fsync_end - before);
		}
	}
	memcpy(cs->frame + cs->fill, bytes, 2);
	memcpy(cs->at + cs->fill, at, 2 * sizeof *at);
	cs->fill += 2;
	cs->offset = end;
	return (size_t)(end - before);
}

static size_t take_synced(struct hf_coresight *cs, const uint8_t *p, size_t n, struct hf_coresight_data *data)
{
	size_t used = 0, took;

	while ((took = take_pair(cs, p + used, n - used, data)) != 0) {
		used += took;
		if (data->flags)
			break;
		if (cs->fill == HF_CORESIGHT_FRAME) {
			cs->fill = 0;
			unpack(cs, cs->frame, cs->at, data);
			break;
		}
	}
	return used;
}

size_t hf_coresight_take(struct hf_coresight *cs, const uint8_t *p, size_t n, struct hf_coresight_data *ret_data)
{
	ret_data->flags = 0;
	ret_data->count = 0;
	ret_data->frame = HF_NOWHERE;
	if (cs->layout == HF_CORESIGHT_ALIGNED)
		return take_aligned(cs, p, n, ret_data);
	return take_synced(cs, p, n, ret_data);
}

size_t hf_coresight_ids(const uint8_t *p, size_t n, uint64_t seen[2])
{
	const uint64_t is_id = UINT64_C(0x0001000100010001);
	uint8_t last = 0; /* the id in front of a frame, whose bit is set; 0 is none */
	size_t at = 0;

	while (n - at >= HF_CORESIGHT_FRAME) {
		const uint8_t *frame = p + at;
		uint64_t low, high;

		if (frame[0] == 0xff && is_fsync(frame)) {
			at += FSYNC_SIZE;
			continue;
		}
		at += HF_CORESIGHT_FRAME;
		memcpy(&low, frame, sizeof low);
		memcpy(&high, frame + sizeof low, sizeof high);
		if (!((low | high) & is_id))
			continue;
		/* Most frames have one, in front, and often the one that the frame before has. */
		if ((low & is_id) == 1 && !(high & is_id) && frame[0] == last)
			continue;
		last = frame[0] & 1 ? frame[0] : last;
		for (unsigned i = 0; i < HF_CORESIGHT_DATA; i += 2)
			if (frame[i] & 1)
				seen[frame[i] >> 7] |= UINT64_C(1) << (frame[i] >> 1 & 63);
	}
	return at;
}
