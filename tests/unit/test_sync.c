/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames without FSYNCs: they are found wherever they begin and found again when bytes are missing or too many; no byte is
 * given to a source that did not send it, what is left out is told, and what cannot be frames is none.
 */
#include "codecs/source/pipeline.h"
#include "tests/lib/check.h"
#include "tests/lib/frames.h"

#define STREAM_MAX 65536
#define NOBODY 0xff

static struct hf_pipeline pipeline, other;
static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(seed >> 33) % n;
}

/* A stream, and for each byte of it whose it is, and what it says. */
static uint8_t stream[STREAM_MAX], said_id[STREAM_MAX], said_byte[STREAM_MAX];
static size_t stream_size;

/* ---- the writer ---- */

enum manner {
	IDLE,    /* packets of an ITM with a pause behind each one, in which frames are filled up */
	HALF,    /* the same with HSYNCs */
	BUSY,    /* two sources without a pause */
	DULL,    /* the same, but no byte has bit 7: nothing tells frames two bytes apart from each other */
	MANNERS
};

/* A sample of the PC, or a byte of a port. */
static size_t put_packet(uint8_t *to, enum manner manner)
{
	const uint8_t sample[] = {0x17, (uint8_t)(2 * rnd(128)), (uint8_t)rnd(16), 0x00, 0x08};
	const uint8_t text[] = {0x01, (uint8_t)(0x20 + rnd(96))};
	const bool is_text = rnd(3) == 0;
	const size_t n = is_text ? sizeof text : sizeof sample;

	memcpy(to, is_text ? text : sample, n);
	for (size_t i = 0; i < n && manner == BUSY; i++)
		to[i] = (uint8_t)rnd(256);
	for (size_t i = 0; i < n && manner == DULL; i++)
		to[i] &= 0x7f;
	return n;
}

static struct hf_walk_bytes make_frames(enum manner manner, size_t frames)
{
	static uint8_t bytes[STREAM_MAX], ids[STREAM_MAX];
	const bool pauses = manner == IDLE || manner == HALF;
	size_t n = 0;

	while (n < frames * 14) {
		const size_t had = n;
		const uint8_t id = pauses || rnd(16) < 8 ? 1 : 2;

		n += put_packet(bytes + n, manner);
		memset(ids + had, id, n - had);
		for (unsigned pause = pauses ? 4 + rnd(20) : 0; pause > 0; pause--) {
			bytes[n] = 0;
			ids[n++] = 0;
		}
	}
	return hf_frames(HF_CORESIGHT_ALIGNED, bytes, ids, n);
}

/* Makes the stream of frames, and what it says by a reader that is told where it begins. */
static void make_stream(enum manner manner, size_t frames)
{
	struct hf_walk_bytes b = make_frames(manner, frames);
	struct hf_coresight_data data;
	struct hf_coresight cs;
	size_t took;

	stream_size = 0;
	for (size_t at = 0; at < b.n; at += 2) {
		if (manner == HALF && rnd(20) == 0) {
			stream[stream_size++] = 0xff;
			stream[stream_size++] = 0x7f;
		}
		memcpy(stream + stream_size, b.p + at, 2);
		stream_size += 2;
	}
	hf_bytes_free(&b);
	memset(said_id, NOBODY, sizeof said_id);
	hf_coresight_init(&cs, HF_CORESIGHT_SYNCED, 0);
	cs.locked = true;
	while ((took = hf_coresight_take(&cs, stream + cs.offset, stream_size - cs.offset, &data)) != 0)
		for (unsigned i = 0; i < data.count; i++) {
			said_id[data.at[i]] = data.id[i];
			said_byte[data.at[i]] = data.byte[i];
		}
}

static void remove_bytes(size_t at, size_t n)
{
	stream_size -= n;
	memmove(stream + at, stream + at + n, stream_size - at);
	memmove(said_id + at, said_id + at + n, stream_size - at);
	memmove(said_byte + at, said_byte + at + n, stream_size - at);
}

static void insert_bytes(size_t at, size_t n)
{
	memmove(stream + at + n, stream + at, stream_size - at);
	memmove(said_id + at + n, said_id + at, stream_size - at);
	memmove(said_byte + at + n, said_byte + at, stream_size - at);
	for (size_t i = at; i < at + n; i++) {
		stream[i] = (uint8_t)rnd(256);
		said_id[i] = NOBODY;
	}
	stream_size += n;
}

/* ---- the reader ---- */

struct reading {
	size_t given, wrong, missing; /* bytes: given, not said so, and neither given nor told to be left out */
	size_t breaks;
	uint64_t left_out;
};

/* A pipeline that is entered here goes on as this one does. */
static void check_entry(uint8_t id)
{
	const struct hf_pipeline_entry entry = hf_pipeline_entry(&pipeline);
	size_t n;

	hf_pipeline_start(&other, HF_CORESIGHT_SYNCED, id, 0, stream_size, &entry);
	CHECK_EQ(hf_pipeline_fill(&other), 0);
	n = hf_pipeline_left(&pipeline) < other.count ? hf_pipeline_left(&pipeline) : other.count;
	CHECK(memcmp(other.bytes, pipeline.bytes + pipeline.pos, n) == 0);
	if (!hf_pipeline_left(&pipeline) && pipeline.stop != HF_PIPELINE_MORE)
		CHECK_EQ(other.stop, pipeline.stop);
}

static struct reading read_source(uint8_t id)
{
	struct reading r = {0};
	uint64_t last = 0;
	struct hf_src *src;

	CHECK_EQ(hf_src_memory_new(stream, stream_size, &src), 0);
	CHECK_EQ(hf_pipeline_init(&pipeline, src), 0);
	CHECK_EQ(hf_pipeline_init(&other, src), 0);
	hf_pipeline_start(&pipeline, HF_CORESIGHT_SYNCED, id, 0, stream_size, NULL);
	do {
		CHECK_EQ(hf_pipeline_fill(&pipeline), 0);
		for (; hf_pipeline_left(&pipeline); pipeline.pos++) {
			const uint64_t at = pipeline.entry[pipeline.pos].at;

			if (rnd(97) == 0)
				check_entry(id);
			r.given++;
			r.wrong += said_id[at] != id || said_byte[at] != pipeline.bytes[pipeline.pos];
			for (; last < at; last++)
				r.missing += said_id[last] == id;
			last = at + 1;
		}
		check_entry(id);
		if (pipeline.stop == HF_PIPELINE_BREAK || (pipeline.stop == HF_PIPELINE_FRAME && !pipeline.frames.locked)) {
			const bool broken = pipeline.stop == HF_PIPELINE_BREAK;
			const uint64_t to = pipeline.frames.offset;

			r.breaks += broken;
			r.left_out += broken ? pipeline.left_out : to - pipeline.frames.lost;
			for (; last < (broken ? pipeline.broken : pipeline.frames.lost); last++)
				r.missing += said_id[last] == id;
			last = to > last ? to : last;
		}
		hf_pipeline_resume(&pipeline);
	} while (pipeline.stop == HF_PIPELINE_MORE);
	hf_pipeline_fini(&pipeline);
	hf_pipeline_fini(&other);
	hf_src_free(src);
	return r;
}

/* ---- tests ---- */

/* Nothing wrong is given. Only the bytes before the first id behind a break are nobody's. */
static void check_reading(const struct reading *r, uint64_t most_left_out)
{
	CHECK_EQ(r->wrong, 0);
	CHECK(r->missing <= HF_CORESIGHT_DATA * r->breaks);
	CHECK(r->given > 0);
	CHECK(r->left_out <= most_left_out);
}

static void test_phases(void)
{
	for (enum manner manner = IDLE; manner < DULL; manner++)
		for (unsigned cut = 0; cut < HF_CORESIGHT_FRAME; cut++) {
			struct reading r;

			make_stream(manner, 600);
			remove_bytes(0, cut);
			r = read_source(1);
			check_reading(&r, 8 * HF_CORESIGHT_FRAME);
			CHECK_EQ(r.breaks, 1);
		}
}

/* Three slips, by which bytes are missing, or too many. */
static void test_slips(void)
{
	for (unsigned round = 0; round < (HF_TEST_SANITIZED ? 10 : 200); round++) {
		struct reading r;

		make_stream(round % DULL, 600);
		remove_bytes(0, rnd(16));
		for (unsigned i = 1; i < 4; i++) {
			const size_t at = i * 2200 + rnd(500), n = 1 + rnd(3);

			if (rnd(16) < 8)
				remove_bytes(at, n);
			else
				insert_bytes(at, n);
		}
		r = read_source(1);
		check_reading(&r, 6144);
		CHECK(r.breaks > 1 && r.breaks <= 8); /* what is removed may be HSYNCs alone */
	}
}

/* A frame that is damaged: the others are where they were. */
static void test_damage(void)
{
	struct reading r;

	make_stream(IDLE, 600);
	stream[3200] = 0xff;
	r = read_source(1);
	check_reading(&r, 8 * HF_CORESIGHT_FRAME);
	CHECK_EQ(r.breaks, 2);
}

/* A slip behind an FSYNC, and no other: what cannot be a frame shows it. */
static void test_synced_slip(void)
{
	struct reading r;

	make_stream(BUSY, 600);
	insert_bytes(0, 4);
	memcpy(stream, "\xff\xff\xff\x7f", 4);
	remove_bytes(4004, 1);
	r = read_source(1);
	CHECK_EQ(r.breaks, 1);
	CHECK(r.wrong < 4 * HF_CORESIGHT_FRAME); /* before it shows */
	CHECK(r.left_out < 1024);
}

/* Bytes in which frames do not begin anywhere, or anywhere as well. */
static void check_refused(const char *what)
{
	struct reading r = read_source(1);

	if (r.given || pipeline.seen[0] | pipeline.seen[1])
		fprintf(stderr, "%s has frames\n", what);
	CHECK_EQ(r.given, 0);
	CHECK_EQ(pipeline.seen[0] | pipeline.seen[1], 0);
	CHECK_EQ(pipeline.stop, HF_PIPELINE_FRAME);
	CHECK_EQ(r.left_out, stream_size);
}

static void test_refused(void)
{
	make_stream(DULL, 600);
	check_refused("a stream with many alignments");
	make_stream(IDLE, 12);
	check_refused("too short a stream");
	memset(said_id, NOBODY, sizeof said_id);
	stream_size = HF_TEST_SANITIZED ? 4096 : 40000;
	for (size_t i = 0; i < stream_size; i++)
		stream[i] = (uint8_t)rnd(256);
	check_refused("noise");
	for (size_t i = 0; i < stream_size; i++)
		stream[i] = (uint8_t)(0x20 + rnd(95));
	check_refused("text");
	memset(stream, 0, stream_size);
	check_refused("zeros");
	memset(stream, 0xfe, stream_size);
	check_refused("one byte");
	for (size_t i = 0; i + 8 < stream_size;)
		i += put_packet(stream + i, IDLE);
	check_refused("an ITM without frames");
}

int main(void)
{
	seed = 1;
	test_phases();
	test_slips();
	test_damage();
	test_synced_slip();
	test_refused();
	return 0;
}
