/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/frames.h"

#include <string.h>

#define FSYNC "\xff\xff\xff\x7f"
#define BLOCK_DATA 504

/* The next frame of bytes[n]; returns how many it took. *cur: the id that holds where it begins. */
static size_t fill(uint8_t frame[16], const uint8_t *bytes, const uint8_t *ids, size_t n, uint8_t *cur)
{
	size_t at = 0;

	memset(frame, 0, 16);
	for (unsigned i = 0; i < 15; i += 2) {
		const uint8_t now = at < n ? ids[at] & 0x7f : 0, then = at + 1 < n ? ids[at + 1] & 0x7f : 0;
		const uint8_t byte = at < n ? bytes[at] : 0;
		const bool late = now == *cur && then != *cur && i < 14;

		if (now == *cur && !late) {
			frame[i] = byte & 0xfe;
			frame[15] |= (uint8_t)((byte & 1) << i / 2);
			at++;
			if (i < 14 && at < n)
				frame[i + 1] = bytes[at];
		} else {
			*cur = late ? then : now;
			frame[i] = (uint8_t)(*cur << 1 | 1);
			frame[15] |= (uint8_t)(late << i / 2);
			if (i < 14)
				frame[i + 1] = byte;
		}
		at += i < 14;
	}
	return at < n ? at : n;
}

/* A frame, on pins with an HSYNC in some and an FSYNC before some. */
static void put_frame(struct hf_walk_bytes *b, enum hf_coresight_layout layout, const uint8_t frame[16], unsigned count)
{
	const size_t first = 2 * (count % 8);

	if (layout != HF_CORESIGHT_ALIGNED && count % 7 == 0)
		hf_bytes_add(b, FSYNC, 4);
	hf_bytes_add(b, frame, first);
	if (layout != HF_CORESIGHT_ALIGNED && count % 3 == 1)
		hf_bytes_add(b, "\xff\x7f", 2);
	hf_bytes_add(b, frame + first, 16 - first);
}

static void put_break(struct hf_walk_bytes *b, enum hf_coresight_layout layout)
{
	if (layout == HF_CORESIGHT_ALIGNED)
		hf_bytes_add(b, FSYNC FSYNC FSYNC FSYNC, 16);
	else
		hf_bytes_add(b, "\x23\1\2\3\4\5" FSYNC, 10);
}

static struct hf_walk_bytes blocks(struct hf_walk_bytes *synced)
{
	struct hf_walk_bytes b = {0};

	for (size_t at = 0; at < synced->n; at += BLOCK_DATA) {
		hf_bytes_add(&b, synced->p + at, synced->n - at < BLOCK_DATA ? synced->n - at : BLOCK_DATA);
		if (synced->n - at > BLOCK_DATA)
			hf_bytes_add(&b, FSYNC "\1\2\3\4", 8);
	}
	hf_bytes_free(synced);
	return b;
}

struct hf_walk_bytes hf_frames(enum hf_coresight_layout layout, const uint8_t *bytes, const uint8_t *ids, size_t n)
{
	struct hf_walk_bytes b = {0};
	uint8_t frame[16], cur = 0xff;
	unsigned count = 0;

	for (size_t at = 0, end = 0; at < n; count++) {
		if (at == end) {
			if (ids[at] & HF_FRAMES_BREAK) {
				put_break(&b, layout);
				cur = 0xff;
			}
			for (end = at + 1; end < n && !(ids[end] & HF_FRAMES_BREAK); end++)
				;
		}
		at += fill(frame, bytes + at, ids + at, end - at, &cur);
		put_frame(&b, layout, frame, count);
	}
	return layout == HF_CORESIGHT_DSTREAM ? blocks(&b) : b;
}
