/* SPDX-License-Identifier: Apache-2.0 */
/* CoreSight frames and pipelines: frames worked out by hand, then streams of a writer that does not know the reader. */
#include "codecs/source/pipeline.h"
#include "tests/lib/check.h"

#define STREAM_MAX 65536

static struct hf_pipeline pipeline;

/* One frame of each rule: ids in even places, the delayed change, byte 14, padding. */
static void test_frames(void)
{
	/* id 10; 11 22 (low bit of 11 is auxiliary); id 12 with the odd byte still 10's; 45 to 12; id 0 and padding */
	static const uint8_t frame[16] = {0x21, 0xaa, 0x10, 0x22, 0x25, 0x33, 0x44, 0x55, 0x01, 0x66, 0x77 & 0xfe, 0x88,
					  0x21, 0x99, 0x25, 0x02 | 0x04 | 0x08};
	static const uint8_t ids[] = {0x10, 0x10, 0x10, 0x10, 0x12, 0x12, 0x10};
	static const uint8_t bytes[] = {0xaa, 0x11, 0x22, 0x33, 0x45, 0x55, 0x99};
	static const uint8_t at[] = {1, 2, 3, 5, 6, 7, 13};
	struct hf_coresight cs;
	struct hf_coresight_data data;

	hf_coresight_init(&cs, HF_CORESIGHT_ALIGNED, 100);
	CHECK_EQ(hf_coresight_take(&cs, frame, 15, &data), 0);
	CHECK_EQ(hf_coresight_take(&cs, frame, 16, &data), 16);
	CHECK_EQ(data.count, sizeof ids);
	for (unsigned i = 0; i < sizeof ids; i++) {
		CHECK_EQ(data.id[i], ids[i]);
		CHECK_EQ(data.byte[i], bytes[i]);
		CHECK_EQ(data.at[i], 100u + at[i]);
	}
	CHECK_EQ(data.before, 0);
	CHECK_EQ(cs.id, 0x12); /* byte 14 is of the next frame */
	CHECK_EQ(cs.offset, 116);
}

static void test_eight_ids(void)
{
	uint8_t frame[16];
	struct hf_coresight cs;
	struct hf_coresight_data data;

	for (unsigned i = 0; i < 16; i += 2) {
		frame[i] = (uint8_t)((i / 2 + 1) << 1 | 1);
		frame[i + 1] = (uint8_t)(0xa0 + i);
	}
	frame[15] = 0;
	hf_coresight_init(&cs, HF_CORESIGHT_ALIGNED, 0);
	CHECK_EQ(hf_coresight_take(&cs, frame, 16, &data), 16);
	CHECK_EQ(data.count, 7);
	for (unsigned i = 0; i < 7; i++)
		CHECK_EQ(data.id[i], i + 1);
	CHECK_EQ(cs.id, 8);
}

static uint32_t seed = 12345;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* What the writer is given: bytes with their ids. */
static uint8_t data_byte[STREAM_MAX], data_id[STREAM_MAX];
static size_t data_count;
static uint8_t stream[4 * STREAM_MAX];
static size_t stream_size;

static void make_data(size_t n)
{
	uint8_t id = 0x10;

	for (data_count = 0; data_count < n; data_count++) {
		if (rnd(6) == 0)
			id = (uint8_t)(0x10 + rnd(5));
		data_byte[data_count] = (uint8_t)(rnd(4) ? rnd(256) : rnd(2) ? 0xff : 0x7f);
		data_id[data_count] = id;
	}
}

/* The next frame of data[*pos]; *id is carried over. Id 0 fills the last one. */
static void write_frame(uint8_t *frame, size_t *pos, uint8_t *id)
{
	memset(frame, 0, 16);
	for (unsigned i = 0; i < 16; i += 2) {
		const uint8_t want = *pos < data_count ? data_id[*pos] : 0;
		const uint8_t behind = *pos + 1 < data_count ? data_id[*pos + 1] : 0;
		uint8_t low;

		if (want != *id) {
			frame[i] = (uint8_t)(want << 1 | 1);
			low = 0;
			*id = want;
			if (i < 14 && want)
				frame[i + 1] = data_byte[(*pos)++];
		} else if (i < 14 && want && behind != want) {
			frame[i] = (uint8_t)(behind << 1 | 1);
			low = 1;
			frame[i + 1] = data_byte[(*pos)++];
			*id = behind;
		} else {
			low = want ? data_byte[*pos] & 1 : 0;
			frame[i] = want ? data_byte[(*pos)++] & 0xfe : 0;
			if (i < 14 && want)
				frame[i + 1] = data_byte[(*pos)++];
		}
		frame[15] |= (uint8_t)(low << (i / 2));
	}
}

static void put(const uint8_t *bytes, size_t n, bool dstream)
{
	for (size_t i = 0; i < n; i++) {
		if (dstream && stream_size % 512 == 504) {
			memset(stream + stream_size, 0x5a, 8);
			stream_size += 8;
		}
		stream[stream_size++] = bytes[i];
	}
}

static void make_stream(enum hf_coresight_layout layout, unsigned junk)
{
	static const uint8_t fsync[] = {0xff, 0xff, 0xff, 0x7f}, hsync[] = {0xff, 0x7f};
	const bool dstream = layout == HF_CORESIGHT_DSTREAM, synced = layout != HF_CORESIGHT_ALIGNED;
	uint8_t frame[16], id = 0;
	size_t pos = 0;

	stream_size = 0;
	for (unsigned i = 0; i < junk; i++)
		put((const uint8_t[]){(uint8_t)(i * 3)}, 1, dstream);
	for (size_t frames = 0; pos < data_count; frames++) {
		if (synced && frames % 7 == 0)
			put(fsync, 4, dstream);
		write_frame(frame, &pos, &id);
		for (unsigned i = 0; i < 16; i += 2) {
			while (synced && rnd(9) == 0)
				put(hsync, 2, dstream);
			put(frame + i, 2, dstream);
		}
	}
}

/* Takes the pipeline's bytes, checks them against the data of that id from *pos on. */
static void check_pipeline(uint8_t id, size_t *pos, size_t max)
{
	for (size_t done = 0; done < max;) {
		CHECK_EQ(hf_pipeline_fill(&pipeline), 0);
		if (hf_pipeline_left(&pipeline) == 0)
			break;
		for (; hf_pipeline_left(&pipeline) && done < max; done++, (*pos)++) {
			while (data_id[*pos] != id)
				(*pos)++;
			CHECK(*pos < data_count);
			CHECK_EQ(pipeline.bytes[pipeline.pos], data_byte[*pos]);
			pipeline.pos++;
		}
	}
}

static void check_stream(enum hf_coresight_layout layout, unsigned junk)
{
	struct hf_src *src;

	make_stream(layout, junk);
	CHECK_EQ(hf_src_memory_new(stream, stream_size, &src), 0);
	CHECK_EQ(hf_pipeline_init(&pipeline, src), 0);
	for (uint8_t id = 0x10; id < 0x15; id++) {
		size_t pos = 0;

		hf_pipeline_start(&pipeline, layout, id, 0, stream_size, NULL);
		/* left and entered again at many places */
		for (unsigned i = 0; pipeline.stop == HF_PIPELINE_MORE || hf_pipeline_left(&pipeline); i++) {
			struct hf_pipeline_entry entry;

			check_pipeline(id, &pos, 1 + i % 37);
			entry = hf_pipeline_entry(&pipeline);
			hf_pipeline_start(&pipeline, layout, id, 0, stream_size, &entry);
			CHECK_EQ(hf_pipeline_fill(&pipeline), 0);
		}
		CHECK_EQ(pipeline.stop, HF_PIPELINE_END);
		while (pos < data_count && data_id[pos] != id)
			pos++;
		CHECK_EQ(pos, data_count);
		CHECK_EQ(pipeline.seen[0], 0x1f0000);
	}
	hf_pipeline_fini(&pipeline);
	hf_src_free(src);
}

/* A frame of FSYNCs in memory: nothing goes on behind it, ids neither. */
static void test_reset(void)
{
	uint8_t bytes[48] = {0x21, 1, 0, 2};
	struct hf_src *src;

	for (unsigned i = 0; i < 4; i++)
		memcpy(bytes + 16 + 4 * i, "\xff\xff\xff\x7f", 4);
	bytes[32] = 0x10;
	bytes[34] = 0x23;
	bytes[35] = 7;
	CHECK_EQ(hf_src_memory_new(bytes, sizeof bytes, &src), 0);
	CHECK_EQ(hf_pipeline_init(&pipeline, src), 0);
	hf_pipeline_start(&pipeline, HF_CORESIGHT_ALIGNED, 0x11, 0, HF_NOWHERE, NULL);
	CHECK_EQ(hf_pipeline_fill(&pipeline), 0);
	CHECK_EQ(pipeline.stop, HF_PIPELINE_BREAK);
	CHECK_EQ(pipeline.count, 0);
	CHECK_EQ(hf_pipeline_offset(&pipeline), 32);
	hf_pipeline_resume(&pipeline);
	CHECK_EQ(hf_pipeline_fill(&pipeline), 0);
	CHECK_EQ(pipeline.stop, HF_PIPELINE_END);
	CHECK_EQ(pipeline.count, 12);
	CHECK_EQ(pipeline.bytes[0], 7);
	CHECK_EQ(pipeline.entry[0].at, 35);
	hf_pipeline_fini(&pipeline);
	hf_src_free(src);
}

/* Two bytes of a frame are missing: the FSYNC behind it tells. */
static void test_cut_frame(void)
{
	static const uint8_t fsync[] = {0xff, 0xff, 0xff, 0x7f};
	uint8_t bytes[50] = {0};
	struct hf_src *src;

	memcpy(bytes, fsync, 4);
	bytes[4] = 0x21; /* 14 bytes of a frame */
	memcpy(bytes + 18, fsync, 4);
	bytes[22] = 0x21;
	bytes[23] = 9;
	CHECK_EQ(hf_src_memory_new(bytes, 45, &src), 0);
	CHECK_EQ(hf_pipeline_init(&pipeline, src), 0);
	hf_pipeline_start(&pipeline, HF_CORESIGHT_SYNCED, 0x10, 0, 45, NULL);
	CHECK_EQ(hf_pipeline_fill(&pipeline), 0);
	CHECK_EQ(pipeline.stop, HF_PIPELINE_BREAK);
	CHECK_EQ(pipeline.count, 0);
	hf_pipeline_resume(&pipeline);
	CHECK_EQ(hf_pipeline_fill(&pipeline), 0);
	CHECK_EQ(pipeline.count, 14);
	CHECK_EQ(pipeline.bytes[0], 9);
	CHECK_EQ(pipeline.stop, HF_PIPELINE_FRAME); /* 7 bytes more */
	hf_pipeline_fini(&pipeline);
	hf_src_free(src);
}

int main(void)
{
	test_frames();
	test_eight_ids();
	make_data(20000);
	check_stream(HF_CORESIGHT_ALIGNED, 0);
	check_stream(HF_CORESIGHT_SYNCED, 0);
	check_stream(HF_CORESIGHT_SYNCED, 11);
	check_stream(HF_CORESIGHT_DSTREAM, 0);
	check_stream(HF_CORESIGHT_DSTREAM, 701);
	test_reset();
	test_cut_frame();
	return 0;
}
