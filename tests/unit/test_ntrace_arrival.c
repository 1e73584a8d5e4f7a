/* SPDX-License-Identifier: Apache-2.0 */
/*
 * N-Trace as it arrives: memory that was filled in a circle, words the wrong way round, frames of several sources, idle
 * and stale bytes, messages cut short, encoders before 1.0. What comes out is what went in, or a loss that is told.
 */
#include "codecs/ntrace/decoder.h"
#include "codecs/ntrace/errors.h"
#include "tests/lib/frames.h"
#include "tests/lib/ntracetest.h"

#define BASE 0x1000u

/* A loop of two instructions, and behind it a jump through a register to its start. */
static const uint32_t code[] = {0x00000013, 0xfeb51ee3, 0x00000013, 0x00050067};

struct bytes {
	uint8_t at[8192];
	size_t n;
};

static struct hf_ntrace_params params;

static void add(struct bytes *b, const void *bytes, size_t n)
{
	CHECK(b->n + n <= sizeof b->at);
	memcpy(b->at + b->n, bytes, n);
	b->n += n;
}

static void put(struct bytes *b, struct hf_ntrace_message msg)
{
	uint8_t bytes[HF_NTRACE_WRITE_MAX];

	add(b, bytes, hf_ntrace_message_write(&params, &msg, bytes));
}

static void put_sync(struct bytes *b, unsigned src, unsigned sync)
{
	put(b, (struct hf_ntrace_message){.tcode = HF_NTRACE_SYNC, .src = (uint16_t)src, .sync = (uint8_t)sync,
					  .address = BASE});
}

/* The loop is gone through k times more, and left: back at its start. */
static struct hf_ntrace_message round_of(unsigned src, unsigned k)
{
	return (struct hf_ntrace_message){.tcode = HF_NTRACE_INDIRECT_BRANCH_HIST, .src = (uint16_t)src,
					  .icnt = 4 * (k + 1) + 4, .hist = ((2u << k) - 1) << 1};
}

static void put_stop(struct bytes *b, unsigned src)
{
	put(b, (struct hf_ntrace_message){.tcode = HF_NTRACE_CORRELATION, .src = (uint16_t)src,
					  .evcode = HF_NTRACE_EVCODE_DISABLED, .cdf = 1, .hist = 1});
}

/* Rounds from k on, and the instructions that they are. */
static size_t put_rounds(struct bytes *b, unsigned src, unsigned k, unsigned count)
{
	size_t insns = 0;

	for (unsigned i = 0; i < count; i++, k = (k + 3) % 9) {
		put(b, round_of(src, k));
		insns += 2 * (k + 1) + 2;
	}
	return insns;
}

static struct bytes recording(unsigned k, size_t *ret_insns)
{
	struct bytes b = {.n = 0};

	params = (struct hf_ntrace_params){.xlen = 64, .word_bytes = 1};
	put_sync(&b, 0, HF_NTRACE_SYNC_ENABLE);
	*ret_insns = put_rounds(&b, 0, k, 16);
	put_stop(&b, 0);
	return b;
}

static struct hf_ntt_events decode(const char *values, const struct bytes *b, uint32_t hart)
{
	struct hf_ntt_events events;
	struct hf_ntt t;

	hf_ntt_init(&t, values);
	hf_ntt_add_code(&t, BASE, code, sizeof code);
	events = hf_ntt_decode(&t, b->at, b->n, hart, 0);
	CHECK_EQ(events.err, HF_NOTE_END);
	hf_ntt_check_cuts(&t, b->at, b->n, hart);
	hf_ntt_fini(&t);
	return events;
}

/* Those instructions, so many losses, and (code, unless 0) among what is told of bytes that problem. */
static void check(const char *what, const char *values, const struct bytes *b, uint32_t hart, size_t insns,
		  size_t losses, int code_told)
{
	struct hf_ntt_events events = decode(values, b, hart);
	bool told = !code_told;

	for (size_t i = 0; i < events.n; i++)
		told |= (events.ev[i].kind == HF_EVENT_GAP || events.ev[i].kind == HF_EVENT_DOUBT ||
			 events.ev[i].kind == HF_EVENT_NOTE) && events.ev[i].code == (uint32_t)-code_told;
	if (events.insns != insns || events.losses != losses || !told) {
		fprintf(stderr, "%s: %zu instructions instead of %zu, %zu losses instead of %zu, %s\n", what, events.insns,
			insns, events.losses, losses, told ? "told" : "not told");
		exit(1);
	}
	hf_ntt_events_free(&events);
}

/* ---- memory ---- */

static void test_between(void)
{
	static const uint8_t calibration[] = {0xaa, 0x55, 0x00, 0xff};
	size_t insns, more;
	struct bytes b = {.n = 0}, one = recording(2, &insns), two = recording(5, &more);

	check("as it is", "", &one, 0, insns, 0, 0);
	add(&b, calibration, 4);
	add(&b, one.at, one.n);
	check("behind calibration bytes", "", &b, 0, insns, 1, HF_ERR_NTRACE_MSEO);
	b.n = 0;
	for (size_t i = 0; i < one.n; i++) {
		add(&b, &one.at[i], 1);
		for (unsigned k = 0; (one.at[i] & 3) == 3 && k < i % 40; k++)
			add(&b, "\xff", 1);
	}
	check("idle runs", "", &b, 0, insns, 0, 0);
	memset(b.at + b.n, 0xff, 2000);
	memset(b.at + b.n + 2000, 0, 2000);
	b.n += 4000;
	add(&b, two.at, two.n);
	check("an earlier session behind zeros", "", &b, 0, insns + more, 0, 0);
	b = one;
	b.n -= 1;
	check("a message cut short", "", &b, 0, insns, 1, HF_ERR_NTRACE_CUT);
	b = one;
	memset(b.at + b.n, 0, 100);
	b.n += 100;
	check("zeros behind", "", &b, 0, insns, 0, 0);
}

/* The rest of a message, a recording, and that turned so that time begins at offset. */
static void test_order(void)
{
	size_t insns;
	struct bytes one = recording(4, &insns), time = {.n = 0}, b;
	const struct hf_ntrace_message round = round_of(0, 7);
	uint8_t cut[HF_NTRACE_WRITE_MAX];
	const size_t n = hf_ntrace_message_write(&params, &round, cut);
	char values[64];

	add(&time, cut + 2, n - 2);
	add(&time, one.at, one.n);
	while (time.n % 8)
		add(&time, "\xff", 1);
	for (unsigned word = 1; word <= 8; word *= 2)
		for (size_t wrap = 0; wrap < time.n; wrap += 1 + time.n / 3) {
			b.n = time.n;
			for (size_t i = 0; i < time.n; i++)
				b.at[((i + wrap) % time.n) ^ (word - 1)] = time.at[i];
			snprintf(values, sizeof values, "wrapped=1,word_bytes=%u,wrap_offset=%zu", word, wrap);
			check(values, values, &b, 0, insns, 0, 0);
		}
}

/* ---- several sources ---- */

/* Both streams in turn, in pieces that end anywhere (step 0: with a message). */
static void interleave(const struct bytes streams[2], unsigned step, struct bytes *ret_bytes, uint8_t ids[8192])
{
	size_t at[2] = {0};

	ret_bytes->n = 0;
	for (unsigned turn = 0; at[0] < streams[0].n || at[1] < streams[1].n; turn++) {
		const struct bytes *from = &streams[turn % 2];
		unsigned left = step ? 1 + turn % step : 1;

		while (left && at[turn % 2] < from->n) {
			const uint8_t byte = from->at[at[turn % 2]++];

			ids[ret_bytes->n] = (uint8_t)(turn % 2 ? 0x6f : 0x11);
			add(ret_bytes, &byte, 1);
			left -= step || (byte & 3) == 3;
		}
		if (step && turn % 5 == 0) {
			ids[ret_bytes->n] = 0;
			add(ret_bytes, "\x24", 1);
		}
	}
}

/* CoreSight frames of bytes with these ids. */
static struct bytes frame(const struct bytes *data, const uint8_t *ids)
{
	struct hf_walk_bytes frames = hf_frames(HF_CORESIGHT_ALIGNED, data->at, ids, data->n);
	struct bytes b = {.n = 0};

	add(&b, frames.p, frames.n);
	hf_bytes_free(&frames);
	return b;
}

static void test_frames(void)
{
	size_t insns[2];
	struct bytes streams[2] = {recording(1, &insns[0]), recording(8, &insns[1])}, data, framed;
	uint8_t ids[8192];

	for (unsigned step = 1; step < 9; step += 3) {
		interleave(streams, step, &data, ids);
		framed = frame(&data, ids);
		check("one bridge a hart", "framing=coresight", &framed, 0x11, insns[0], 0, 0);
		check("one bridge a hart", "framing=coresight", &framed, 0x6f, insns[1], 0, 0);
	}
	/* Two harts behind a funnel, and another source. */
	params.srcbits = 3;
	for (unsigned i = 0; i < 2; i++) {
		streams[i].n = 0;
		put_sync(&streams[i], 5 + i, HF_NTRACE_SYNC_ENABLE);
		insns[i] = put_rounds(&streams[i], 5 + i, i, 12 + i);
		put_stop(&streams[i], 5 + i);
	}
	interleave(streams, 0, &data, ids);
	check("SRC", "srcbits=3", &data, 5, insns[0], 0, 0);
	check("SRC", "srcbits=3", &data, 6, insns[1], 0, 0);
	streams[0] = data;
	memset(streams[1].at, 0x24, streams[1].n = 300);
	interleave(streams, 4, &data, ids);
	framed = frame(&data, ids);
	check("one bridge behind the funnel", "framing=coresight,srcbits=3", &framed, 5, insns[0], 0, 0);
	check("one bridge behind the funnel", "framing=coresight,srcbits=3", &framed, 6, insns[1], 0, 0);
	check("its id is said", "framing=coresight,srcbits=3,trace_id=17", &framed, 6, insns[1], 0, 0);
}

/* Ids, or values of SRC, that are met. */
static void check_harts(const char *values, const struct bytes *b, uint32_t first, uint32_t other)
{
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_event ev[64];
	struct hf_dec *dec;
	struct hf_src *src;
	struct hf_ntt t;
	const uint32_t *harts;
	size_t n;

	hf_ntt_init(&t, values);
	hf_ntt_add_code(&t, BASE, code, sizeof code);
	CHECK_EQ(hf_src_memory_new(b->at, b->n, &src), 0);
	CHECK_EQ(hf_stream_open(hf_codec_by_name("ntrace"), src, &t.setup, &stream, &diag), 0);
	CHECK_EQ(stream->info.first_hart, first);
	CHECK(stream->info.flags & HF_STREAM_MANY);
	CHECK_EQ(hf_dec_new(stream, src, first, &dec), 0);
	while (!hf_dec_next(dec, ev, 64, &n))
		;
	harts = hf_dec_harts(dec, &n);
	CHECK_EQ(n, 2);
	CHECK(harts[0] == other || harts[1] == other);
	hf_dec_free(dec);
	hf_stream_close(stream);
	hf_src_free(src);
	hf_ntt_fini(&t);
}

static void test_harts(void)
{
	size_t insns[2];
	struct bytes streams[2] = {recording(1, &insns[0]), recording(8, &insns[1])}, data;
	uint8_t ids[8192];

	interleave(streams, 3, &data, ids);
	data = frame(&data, ids);
	check_harts("framing=coresight", &data, 0x11, 0x6f);
	/* One that appears only at the end. */
	params.srcbits = 2;
	data.n = 0;
	put_sync(&data, 3, HF_NTRACE_SYNC_ENABLE);
	insns[0] = put_rounds(&data, 3, 1, 30);
	put_sync(&data, 1, HF_NTRACE_SYNC_ENABLE);
	insns[1] = put_rounds(&data, 1, 1, 3);
	check_harts("srcbits=2", &data, 3, 1);
	check("a late hart", "srcbits=2", &data, 1, insns[1], 0, 0);
}

/* The width of SRC is not what the description says: that is told, and which one would do. */
static void test_width(void)
{
	struct bytes b = {.n = 0};
	struct hf_ntt_events events;

	params = (struct hf_ntrace_params){.xlen = 64, .word_bytes = 1, .srcbits = 3};
	for (unsigned i = 0; i < 60; i++) {
		put_sync(&b, i % 8, i % 3 ? HF_NTRACE_SYNC_PERIODIC : HF_NTRACE_SYNC_ENABLE);
		put_rounds(&b, i % 8, i % 7, 2);
	}
	for (unsigned bits = 0; bits < 6; bits++) {
		char values[16];

		snprintf(values, sizeof values, "srcbits=%u", bits);
		events = decode(values, &b, 0);
		CHECK(events.n > 0);
		if (bits < 3) {
			CHECK_EQ(events.ev[0].kind, HF_EVENT_NOTE);
			CHECK_EQ(events.ev[0].code, -HF_ERR_NTRACE_SRCBITS);
			CHECK_EQ(events.ev[0].loss.detail, 3);
		} else if (bits == 3) {
			CHECK_EQ(events.losses, 0);
			CHECK_EQ(events.ev[0].kind, HF_EVENT_INSN);
		}
		hf_ntt_events_free(&events);
	}
}

/* Words of a dump that are stored another way than the description says: likewise. */
static void test_words(void)
{
	struct bytes b = {.n = 0}, stored;
	struct hf_ntt_events events;

	params = (struct hf_ntrace_params){.xlen = 64, .word_bytes = 1, .srcbits = 3};
	for (unsigned i = 0; i < 60; i++) {
		put_sync(&b, i % 8, i % 3 ? HF_NTRACE_SYNC_PERIODIC : HF_NTRACE_SYNC_ENABLE);
		put_rounds(&b, i % 8, i % 7, 2);
	}
	while (b.n % 8)
		add(&b, "\xff", 1);
	stored.n = b.n;
	for (unsigned word = 1; word <= 8; word *= 2)
		for (unsigned said = 1; said <= 8; said *= 2) {
			char values[32];

			for (size_t i = 0; i < b.n; i++)
				stored.at[i ^ (word - 1)] = b.at[i];
			snprintf(values, sizeof values, "srcbits=3,word_bytes=%u", said);
			events = decode(values, &stored, 0);
			CHECK(events.n > 0);
			if (said == word) {
				CHECK_EQ(events.losses, 0);
			} else {
				CHECK_EQ(events.ev[0].kind, HF_EVENT_NOTE);
				CHECK_EQ(events.ev[0].code, -HF_ERR_NTRACE_WORDS);
				CHECK_EQ(events.ev[0].loss.detail, word);
			}
			hf_ntt_events_free(&events);
		}
}

/* ---- messages ---- */

/* One round as other encoders say it. */
static void test_dialects(void)
{
	const struct hf_ntrace_message indirect = {.tcode = HF_NTRACE_INDIRECT_BRANCH_HIST, .icnt = 4 * 21 + 4, .hist = 1};
	const struct hf_ntrace_message overflow = {.tcode = HF_NTRACE_INDIRECT_BRANCH_HIST, .icnt = 4 * 20,
						   .hist = (1u << 21) - 1};
	const struct hf_ntrace_message exit = {.tcode = HF_NTRACE_INDIRECT_BRANCH_HIST, .icnt = 8, .hist = 2};
	struct bytes b = {.n = 0};
	size_t insns;

	recording(0, &insns);
	/* Pre-standard: so many taken, so many not taken. */
	put_sync(&b, 0, HF_NTRACE_SYNC_ENABLE);
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .rcode = 9, .icnt = 20});
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .rcode = 8, .icnt = 1});
	put(&b, indirect);
	insns = put_rounds(&b, 0, 3, 2);
	check("RCODE 8 and 9", "", &b, 0, 44 + insns, 0, 0);
	/* The same with a history that was full after a branch, as an indirect branch to where that leads. */
	b.n = 0;
	put_sync(&b, 0, HF_NTRACE_SYNC_ENABLE);
	put(&b, overflow);
	put(&b, exit);
	insns = put_rounds(&b, 0, 3, 2);
	check("a full history as IndirectBranchHist", "", &b, 0, 44 + insns, 0, 0);
	/* Nobody knows what another vendor counts: lost up to the next synchronisation. */
	b.n = 0;
	put_sync(&b, 0, HF_NTRACE_SYNC_ENABLE);
	insns = put_rounds(&b, 0, 3, 2);
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .rcode = 10, .icnt = 20});
	put_rounds(&b, 0, 3, 2);
	put_sync(&b, 0, HF_NTRACE_SYNC_PERIODIC);
	insns += put_rounds(&b, 0, 1, 2);
	check("RCODE 10", "", &b, 0, insns, 1, HF_ERR_NTRACE_VALUE);
	b.n = 0;
	put_sync(&b, 0, HF_NTRACE_SYNC_ENABLE);
	insns = put_rounds(&b, 0, 3, 2);
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .rcode = 9, .icnt = 1u << 22});
	check("too long a run", "", &b, 0, insns, 1, HF_ERR_NTRACE_VALUE);
}

static void test_errors(void)
{
	struct bytes b = {.n = 0};
	size_t insns;

	recording(0, &insns);
	put_sync(&b, 0, HF_NTRACE_SYNC_ENABLE);
	insns = put_rounds(&b, 0, 3, 2);
	/* A vendor's reason, program trace lost; then messages of ownership alone. */
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_ERROR, .etype = 9, .value = 0x84});
	put_sync(&b, 0, HF_NTRACE_SYNC_OVERRUN);
	insns += put_rounds(&b, 0, 5, 2);
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_ERROR, .value = 8});
	insns += put_rounds(&b, 0, 2, 2);
	check("Error messages", "", &b, 0, insns, 1, HF_ERR_NTRACE_OVERRUN);
}

/* Absolute with a sync, then counted on, in any message or none; Ownership between. */
static void test_times(void)
{
	const uint64_t expected[] = {1000, 1007, 1007 + 70000, 1007 + 70000 + 5};
	struct bytes b = {.n = 0};
	struct hf_ntrace_message msg;
	struct hf_ntt_events events;
	size_t insns, times = 0, contexts = 0;

	recording(0, &insns);
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_SYNC, .sync = 5, .address = BASE, .has_time = true, .time = 1000});
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_OWNERSHIP, .value = 0x3b2, .has_time = true, .time = 7});
	put(&b, round_of(0, 4));
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .rcode = 1, .hist = 7, .has_time = true,
					  .time = 70000});
	msg = (struct hf_ntrace_message){.tcode = HF_NTRACE_INDIRECT_BRANCH_HIST, .icnt = 4 * 3 + 4, .hist = 2};
	put(&b, msg);
	msg = (struct hf_ntrace_message){.tcode = HF_NTRACE_CORRELATION, .evcode = 4, .has_time = true, .time = 5};
	put(&b, msg);
	events = decode("timestamps=add", &b, 0);
	for (size_t i = 0; i < events.n; i++) {
		if (events.ev[i].kind == HF_EVENT_TIMESTAMP)
			CHECK(times < 4 && events.ev[i].time.value == expected[times++]);
		if (events.ev[i].kind != HF_EVENT_CONTEXT)
			continue;
		contexts++;
		CHECK_EQ(events.ev[i].context.pid, 0x1d);
		CHECK_EQ(events.ev[i].context.mode, HF_MODE_VU);
	}
	CHECK_EQ(times, 4);
	CHECK_EQ(contexts, 1);
	CHECK_EQ(events.losses, 0);
	CHECK_EQ(events.insns, 12 + 8);
	hf_ntt_events_free(&events);
}

/* Each file is a recording of its own: what the one before it ended with is none of its business. */
static void test_parts(void)
{
	struct hf_setup_part parts[] = {
		{.hart = HF_SETUP_ANY, .name = "a", .framing = ""}, {.hart = HF_SETUP_ANY, .name = "b", .framing = ""}};
	struct bytes b = {.n = 0};
	struct hf_ntt_events events;
	struct hf_ntt t;
	size_t insns;

	recording(0, &insns);
	put_sync(&b, 0, HF_NTRACE_SYNC_ENABLE);
	insns = put_rounds(&b, 0, 3, 5);
	parts[0].size = parts[1].offset = b.n;
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_SYNC, .sync = 5, .icnt = 6, .address = BASE + 8});
	put(&b, (struct hf_ntrace_message){.tcode = HF_NTRACE_INDIRECT_BRANCH_HIST, .icnt = 4, .address = 8, .hist = 1});
	insns += 2 + put_rounds(&b, 0, 4, 5);
	parts[1].size = b.n - parts[0].size;
	hf_ntt_init(&t, "");
	hf_ntt_add_code(&t, BASE, code, sizeof code);
	t.setup.parts = parts;
	t.setup.part_count = 2;
	events = hf_ntt_decode(&t, b.at, b.n, 0, 0);
	CHECK_EQ(events.losses, 0);
	CHECK_EQ(events.insns, insns);
	hf_ntt_check_cuts(&t, b.at, b.n, 0);
	hf_ntt_events_free(&events);
	hf_ntt_fini(&t);
}

int main(void)
{
	test_between();
	test_order();
	test_frames();
	test_harts();
	test_width();
	test_words();
	test_dialects();
	test_errors();
	test_times();
	test_parts();
	return 0;
}
