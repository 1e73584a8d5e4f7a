/* SPDX-License-Identifier: Apache-2.0 */
/* What single N-Trace messages do: streams of a few messages on a small program, and the events they must become. */
#include "codecs/ntrace/errors.h"
#include "codecs/ntrace/message.h"
#include "tests/lib/ntracetest.h"

#define BASE 0x1000

/* Eight c.nop, beq to the last but three of them, eight c.nop, jr a0: 2 bytes each, but beq and jr 4. */
static const uint8_t code[] = {
	1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0xe3, 0x0c, 0x00, 0xfe,
	1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0x67, 0x00, 0x05, 0x00,
};

struct script {
	struct hf_ntt t;
	struct hf_ntrace_params params;
	uint8_t bytes[256];
	size_t n;
};

static void begin(struct script *s)
{
	memset(s, 0, sizeof *s);
	s->params.xlen = 64;
	hf_ntt_init(&s->t, "xlen=64");
	hf_ntt_add_code(&s->t, BASE, code, sizeof code);
}

static void add(struct script *s, struct hf_ntrace_message msg)
{
	s->n += hf_ntrace_message_write(&s->params, &msg, s->bytes + s->n);
}

static void add_sync(struct script *s, uint8_t sync, uint64_t icnt, uint64_t address)
{
	add(s, (struct hf_ntrace_message){.tcode = HF_NTRACE_SYNC, .sync = sync, .icnt = icnt, .address = address});
}

static void add_taken(struct script *s, uint64_t icnt)
{
	add(s, (struct hf_ntrace_message){.tcode = HF_NTRACE_DIRECT_BRANCH, .icnt = icnt});
}

static void add_stop(struct script *s, uint8_t evcode, uint64_t icnt)
{
	add(s, (struct hf_ntrace_message){.tcode = HF_NTRACE_CORRELATION, .evcode = evcode, .icnt = icnt});
}

static unsigned count(const struct hf_ntt_events *events, uint8_t kind)
{
	unsigned n = 0;

	for (size_t i = 0; i < events->n; i++)
		n += events->ev[i].kind == kind;
	return n;
}

/* The stream has that many instructions, notes, doubts, gaps and contexts; its losses are because of NTRACE_VALUE. */
static void end(struct script *s, const char *what, size_t insns, unsigned notes, unsigned doubts, unsigned gaps)
{
	struct hf_ntt_events events = hf_ntt_decode(&s->t, s->bytes, s->n, 0, 0);
	bool same = events.insns == insns && count(&events, HF_EVENT_NOTE) == notes &&
		    count(&events, HF_EVENT_DOUBT) == doubts && count(&events, HF_EVENT_GAP) == gaps;

	if (!same)
		fprintf(stderr, "%s: %zu instructions, %u notes, %u doubts, %u gaps\n", what, events.insns,
			count(&events, HF_EVENT_NOTE), count(&events, HF_EVENT_DOUBT), count(&events, HF_EVENT_GAP));
	CHECK(same);
	CHECK_EQ(events.err, HF_NOTE_END);
	hf_ntt_check_cuts(&s->t, s->bytes, s->n, 0);
	hf_ntt_events_free(&events);
	hf_ntt_fini(&s->t);
}

/* ---- reserved values ---- */

static void test_reserved(void)
{
	struct script s;

	for (uint8_t v = 0; v < 16; v++) {
		begin(&s);
		add_sync(&s, v, 0, BASE);
		add_taken(&s, 10);
		add_stop(&s, 4, 2);
		/* 15 is no start, but a sample */
		end(&s, "SYNC", v == HF_NTRACE_SYNC_SAMPLE ? 0 : 11, v == 8 || (v >= 10 && v <= 13), 0, v == HF_NTRACE_SYNC_SAMPLE);
		begin(&s);
		add_sync(&s, 5, 0, BASE);
		add_taken(&s, 10);
		add_stop(&s, v, 2);
		end(&s, "EVCODE", 11, v == 2 || v == 3 || (v >= 5 && v <= 7), 0, 0);
		begin(&s);
		add_sync(&s, 5, 0, BASE);
		add_taken(&s, 10);
		add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_ERROR, .etype = v, .value = 4});
		add_sync(&s, 7, 0, BASE);
		add_stop(&s, 4, 2);
		end(&s, "ETYPE", 11, v >= 1 && v <= 7, 0, 1);
	}
	for (uint8_t v = 0; v < 32; v++) {
		const unsigned format = v & 3, prv = v >> 2 & 3, virtual = v >> 4;

		begin(&s);
		add_sync(&s, 5, 0, BASE);
		add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_OWNERSHIP, .value = v});
		add_taken(&s, 10);
		add_stop(&s, 4, 2);
		end(&s, "PROCESS", 11, 0, format == 1 || prv == 2 || (virtual && prv == 3), 0);
	}
	for (unsigned v = 0; v < 2; v++) {
		begin(&s);
		add_sync(&s, 5, 0, BASE);
		add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_OWNERSHIP, .value = (2 | v) | UINT64_C(1) << 37});
		add_taken(&s, 10);
		add_stop(&s, 4, 2);
		end(&s, "an id of 33 bits", 11, 1, 0, 0);
	}
	for (uint32_t repeats = 0; repeats < 3; repeats++) {
		begin(&s);
		add_sync(&s, 5, 0, BASE);
		add(&s, (struct hf_ntrace_message){
			.tcode = HF_NTRACE_RESOURCE_FULL, .rcode = HF_NTRACE_RCODE_HREPEAT, .hist = 3, .hrepeat = repeats,
		});
		add(&s, (struct hf_ntrace_message){
			.tcode = HF_NTRACE_CORRELATION, .evcode = 4, .cdf = 1, .hist = 1,
			.icnt = repeats ? 10 + 6 * (repeats - 1) : 0,
		});
		end(&s, "HREPEAT", repeats ? 9 + 5 * (repeats - 1) : 0, 0, 0, repeats == 0);
	}
}

/* ---- a synchronising message that contradicts the flow: which of the two is wrong cannot be known ---- */

static void test_contradiction(void)
{
	struct script s;

	begin(&s);
	add_sync(&s, 5, 0, BASE);
	add_taken(&s, 10);
	add_sync(&s, 2, 1, BASE + 12);
	add_stop(&s, 4, 2);
	end(&s, "synchronises elsewhere", 11, 0, 1, 1);
	begin(&s);
	add_sync(&s, 5, 0, BASE);
	add_taken(&s, 10);
	add_sync(&s, 5, 0, BASE + 12);
	add_stop(&s, 4, 2);
	end(&s, "starts without having stopped", 11, 0, 0, 1);
}

/* A synchronising message that does not fit loses what it says of the code before it, but not its address. */
static void test_restart(void)
{
	static const uint64_t icnts[] = {5, 300, 15};
	struct script s;

	for (size_t i = 0; i < sizeof icnts / sizeof icnts[0]; i++) { /* half of the beq; behind the jr; half of that */
		begin(&s);
		add_sync(&s, 5, 0, BASE);
		add_taken(&s, 10);
		add_sync(&s, 2, 0, BASE + 8);
		add_sync(&s, 2, icnts[i], BASE);
		add_stop(&s, 4, 8);
		end(&s, "I-CNT does not fit", 17, 0, 0, 1);
	}
}

/* ---- synchronising messages in linear code, and behind branches (7.6, 8.4) ---- */

static void add_sync_of(struct script *s, uint8_t tcode, uint8_t btype, uint64_t icnt, uint64_t address)
{
	add(s, (struct hf_ntrace_message){
		.tcode = tcode, .sync = 2, .btype = btype, .icnt = icnt, .address = address, .hist = 1,
	});
}

/* Whether the branch was taken, which is instruction 8. */
static void check_taken(struct script *s, bool taken)
{
	struct hf_ntt_events events = hf_ntt_decode(&s->t, s->bytes, s->n, 0, 0);
	size_t insns = 0;

	for (size_t i = 0; i < events.n; i++)
		if (events.ev[i].kind == HF_EVENT_INSN && insns++ == 8)
			CHECK_EQ(events.ev[i].flags & HF_EVF_TAKEN, taken ? HF_EVF_TAKEN : 0);
	CHECK(insns > 8);
	hf_ntt_events_free(&events);
}

static void test_linear(void)
{
	static const uint8_t tcodes[] = {
		HF_NTRACE_SYNC, HF_NTRACE_DIRECT_BRANCH_SYNC, HF_NTRACE_INDIRECT_BRANCH_SYNC,
	};
	struct script s;

	for (size_t i = 0; i < sizeof tcodes; i++) {
		begin(&s);
		add_sync(&s, 5, 0, BASE);
		add_sync_of(&s, tcodes[i], HF_NTRACE_BTYPE_JUMP, 3, BASE + 6);
		add_sync_of(&s, tcodes[i], HF_NTRACE_BTYPE_JUMP, 0, BASE + 6);
		add_sync_of(&s, tcodes[i], HF_NTRACE_BTYPE_JUMP, 7, BASE + 20);
		add_stop(&s, 4, 8);
		check_taken(&s, false);
		end(&s, "in linear code", 17, 0, 0, 0);
		begin(&s);
		add_sync(&s, 5, 0, BASE);
		add_sync_of(&s, tcodes[i], HF_NTRACE_BTYPE_JUMP, 10, BASE + 8);
		add_stop(&s, 4, 2);
		check_taken(&s, true);
		end(&s, "behind a branch", 11, 0, 0, 0);
		begin(&s);
		add_sync(&s, 5, 0, BASE);
		add_sync_of(&s, tcodes[i], HF_NTRACE_BTYPE_JUMP, 20, BASE + 8);
		add_stop(&s, 4, 2);
		end(&s, "behind an indirect jump", tcodes[i] == HF_NTRACE_DIRECT_BRANCH_SYNC ? 2 : 20, 0, 0,
		    tcodes[i] == HF_NTRACE_DIRECT_BRANCH_SYNC);
	}
	begin(&s); /* the handler happens to be where the branch could have led */
	add_sync(&s, 5, 0, BASE);
	add_sync_of(&s, HF_NTRACE_INDIRECT_BRANCH_SYNC, HF_NTRACE_BTYPE_INTERRUPT, 10, BASE + 8);
	add_stop(&s, 4, 2);
	check_taken(&s, false);
	end(&s, "an interrupt behind a branch", 11, 0, 0, 0);
}

/* ---- a hart that is reset or powered up goes on elsewhere; I-CNT tells how far it had come (8.4) ---- */

static void test_reset(void)
{
	for (uint8_t sync = 0; sync < 10; sync++) {
		const bool reset = sync == HF_NTRACE_SYNC_RESET || sync == HF_NTRACE_SYNC_POWER;
		struct script s;

		if (sync == HF_NTRACE_SYNC_OVERRUN || sync == 8)
			continue;
		begin(&s);
		add_sync(&s, HF_NTRACE_SYNC_RESET, 0, BASE);
		add_sync(&s, 2, 3, BASE + 6);
		add_sync(&s, sync, 2, BASE);
		add_stop(&s, 4, 8);
		end(&s, "reset", reset ? 13 : 11, 0, !reset, !reset);
		begin(&s);
		add_sync(&s, sync, 0, BASE);
		add_sync(&s, 2, 3, BASE + 20);
		add_stop(&s, 4, 8);
		end(&s, "reset before", 8, 0, 1, 1);
	}
}

/* ---- the end of a trace that was off: nothing is lost (8.6) ---- */

static void test_still_off(void)
{
	for (uint64_t icnt = 0; icnt < 2; icnt++) {
		struct script s;

		begin(&s);
		add_stop(&s, 4, 0);
		add_sync(&s, 5, 0, BASE);
		add_stop(&s, 4, 3);
		add_stop(&s, 0, icnt);
		add_sync(&s, 3, 0, BASE);
		add_stop(&s, 4, 2);
		end(&s, "halted while tracing was off", 5, 0, 0, icnt != 0);
	}
}

/* ---- what HIST alone told, when I-CNT contradicts it ---- */

static void add_history(struct script *s, uint32_t hist)
{
	add(s, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .rcode = HF_NTRACE_RCODE_HIST, .hist = hist});
}

static void test_unsure(void)
{
	for (unsigned fits = 0; fits < 2; fits++) {
		struct hf_ntt_events events;
		struct script s;

		begin(&s);
		add_sync(&s, 5, 0, BASE);
		add_history(&s, 3); /* taken: 9 instructions */
		add_history(&s, 3); /* 5 more */
		add(&s, (struct hf_ntrace_message){
			.tcode = HF_NTRACE_CORRELATION, .evcode = 4, .cdf = 1, .hist = 1, .icnt = fits ? 16 : 15,
		});
		events = hf_ntt_decode(&s.t, s.bytes, s.n, 0, 0);
		for (size_t i = 0; i < events.n; i++)
			if (events.ev[i].kind == HF_EVENT_GAP)
				CHECK_EQ(events.ev[i].back, 14);
		hf_ntt_events_free(&events);
		end(&s, "HIST without I-CNT", 14, 0, 0, !fits);
	}
}

/* ---- the word length, where only harts have programs ---- */

static void test_xlen(void)
{
	static const uint8_t bytes[] = {0xff};
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_src *src;
	struct hf_ntt t;

	hf_ntt_init(&t, "srcbits=2");
	t.image.hart = 3;
	t.image.program.xlen = 32;
	CHECK_EQ(hf_src_memory_new(bytes, sizeof bytes, &src), 0);
	CHECK_EQ(hf_stream_open(hf_codec_by_name("ntrace"), src, &t.setup, &stream, &diag), 0);
	CHECK_EQ(stream->info.xlen, 32);
	hf_stream_close(stream);
	hf_src_free(src);
	hf_ntt_fini(&t);
}

/* ---- a source that never synchronises ---- */

static void check_told(const struct script *s, uint32_t hart)
{
	struct hf_ntt_events events = hf_ntt_decode(&s->t, s->bytes, s->n, hart, 0);

	CHECK_EQ(events.n, 1);
	CHECK_EQ(events.ev[0].kind, HF_EVENT_GAP);
	CHECK_EQ(events.ev[0].code, -HF_ERR_NTRACE_NEVER);
	CHECK_EQ(events.ev[0].loss.detail, 1);
	hf_ntt_events_free(&events);
}

static void test_no_sync(void)
{
	for (unsigned cut = 0; cut < 2; cut++) {
		struct hf_stream *stream;
		struct hf_diag diag;
		struct hf_src *src;
		struct script s;

		begin(&s);
		hf_ntt_fini(&s.t);
		hf_ntt_init(&s.t, "srcbits=3");
		s.params.srcbits = 3;
		add(&s, (struct hf_ntrace_message){
			.tcode = cut ? HF_NTRACE_SYNC : HF_NTRACE_DIRECT_BRANCH, .src = 5, .icnt = 300, .address = BASE,
		});
		CHECK_EQ(hf_src_memory_new(s.bytes, s.n - cut, &src), 0);
		CHECK_EQ(hf_stream_open(hf_codec_by_name("ntrace"), src, &s.t.setup, &stream, &diag), 0);
		CHECK_EQ(stream->info.first_hart, 5);
		hf_stream_close(stream);
		hf_src_free(src);
		if (!cut)
			check_told(&s, 5);
		hf_ntt_fini(&s.t);
	}
}

static void add_own(struct script *s, uint64_t pid)
{
	add(s, (struct hf_ntrace_message){.tcode = HF_NTRACE_OWNERSHIP, .value = 2 | 1 << 2 | pid << 5});
}

static void add_full(struct script *s, uint8_t rcode, uint64_t icnt, uint32_t hist)
{
	add(s, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .rcode = rcode, .icnt = icnt, .hist = hist});
}

/* The stream has that many instructions, and these contexts behind so many of them: "5@0 7@3 ". */
static void end_contexts(struct script *s, size_t insns, const char *want)
{
	struct hf_ntt_events events = hf_ntt_decode(&s->t, s->bytes, s->n, 0, 0);
	char text[256] = "";
	size_t n = 0, at = 0;

	for (size_t i = 0; i < events.n; i++) {
		at += events.ev[i].kind == HF_EVENT_INSN;
		if (events.ev[i].kind == HF_EVENT_CONTEXT)
			n += (size_t)sprintf(text + n, "%u@%zu ", events.ev[i].context.pid, at);
	}
	CHECK_STR(text, want);
	CHECK_EQ(events.losses, 0);
	CHECK_EQ(events.insns, insns);
	hf_ntt_check_cuts(&s->t, s->bytes, s->n, 0);
	hf_ntt_events_free(&events);
	hf_ntt_fini(&s->t);
}

/* What ResourceFull counted before an Ownership ran in the context before (7.1). */
static void test_contexts(void)
{
	struct script s;

	for (unsigned counted = 0; counted <= 8; counted++) {
		char want[32];

		begin(&s);
		add_sync(&s, HF_NTRACE_SYNC_ENABLE, 0, BASE);
		add_own(&s, 5);
		add_full(&s, HF_NTRACE_RCODE_ICNT, counted, 0);
		add_own(&s, 7);
		add_stop(&s, 0, 8 - counted);
		snprintf(want, sizeof want, "5@0 7@%u ", counted);
		end_contexts(&s, 8, want);
	}
	/* at the end of a block and further on, twice counted; a synchronising message */
	begin(&s);
	add_sync(&s, HF_NTRACE_SYNC_ENABLE, 0, BASE);
	add_full(&s, HF_NTRACE_RCODE_ICNT, 4, 0);
	add_full(&s, HF_NTRACE_RCODE_ICNT, 6, 0);
	add_own(&s, 7);
	add_sync(&s, HF_NTRACE_SYNC_PERIODIC, 2, BASE + 24);
	add_full(&s, HF_NTRACE_RCODE_ICNT, 1, 0);
	add_own(&s, 8);
	add_stop(&s, 0, 2);
	end_contexts(&s, 14, "7@9 8@12 ");
	/* a history is walked by blocks */
	begin(&s);
	add_sync(&s, HF_NTRACE_SYNC_ENABLE, 0, BASE);
	add_full(&s, HF_NTRACE_RCODE_ICNT, 3, 0);
	add_own(&s, 7);
	add_full(&s, HF_NTRACE_RCODE_HIST, 0, 2);
	add_stop(&s, 0, 9);
	end_contexts(&s, 11, "7@9 ");
	/* two before the count is executed; one that nothing follows */
	begin(&s);
	add_sync(&s, HF_NTRACE_SYNC_ENABLE, 0, BASE);
	add_full(&s, HF_NTRACE_RCODE_ICNT, 3, 0);
	add_own(&s, 5);
	add_own(&s, 7);
	add_sync(&s, HF_NTRACE_SYNC_PERIODIC, 2, BASE + 10);
	add_full(&s, HF_NTRACE_RCODE_ICNT, 3, 0);
	add_own(&s, 8);
	end_contexts(&s, 5, "5@0 7@3 8@5 ");
}

/* Messages that N-Trace reserves, and no others: what they are is said before anything about the end of the bytes. */
static void test_no_flow(void)
{
	static const struct {
		const char *hex;
		size_t n;
		int code;
		unsigned count;
	} cases[] = {
		{"\x04\x08\x17\x04\x08\x17", 6, HF_ERR_NTRACE_RESERVED, 2},
		{"\x04\x08\x17\x94\x04\x17\x04\x08", 8, HF_ERR_NTRACE_RESERVED, 2},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hf_ntt_events events;
		struct script s;

		begin(&s);
		events = hf_ntt_decode(&s.t, (const uint8_t *)cases[i].hex, cases[i].n, 0, 0);
		CHECK_EQ(events.n, 1 + i);
		CHECK_EQ(events.ev[0].kind, HF_EVENT_GAP);
		CHECK_EQ(events.ev[0].code, -cases[i].code);
		CHECK_EQ(events.ev[0].loss.detail, cases[i].count);
		hf_ntt_events_free(&events);
		hf_ntt_fini(&s.t);
	}
}

/* jal to 8; two c.nop; 8: beqz a0 to the ret, jal to 8, ret: a call and 39 more in it, and returns that nobody reports. */
static void test_deep(const char *params, bool whole)
{
	static const uint8_t recursion[] = {
		0xef, 0x00, 0x80, 0x00, 0x01, 0x00, 0x01, 0x00, 0x63, 0x04,
		0x05, 0x00, 0xef, 0xf0, 0xdf, 0xff, 0x82, 0x80,
	};
	const size_t calls = 40, insns = 1 + 2 * (calls - 1) + 1 + calls + 1;
	struct script s = {.params.xlen = 64};
	struct hf_ntt_events events;

	hf_ntt_init(&s.t, params);
	hf_ntt_add_code(&s.t, BASE, recursion, sizeof recursion);
	add_sync(&s, HF_NTRACE_SYNC_ENABLE, 0, BASE);
	add_full(&s, HF_NTRACE_RCODE_HIST, 0, UINT32_C(1) << 31);
	add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_CORRELATION, .cdf = 1, .icnt = 2 + 4 * (calls - 1) + 2 + calls + 1,
					   .hist = 1 << (calls - 31) | 1});
	events = hf_ntt_decode(&s.t, s.bytes, s.n, 0, 0);
	CHECK_EQ(events.losses == 0, whole);
	CHECK(whole == (events.insns == insns));
	hf_ntt_check_cuts(&s.t, s.bytes, s.n, 0);
	hf_ntt_events_free(&events);
	hf_ntt_fini(&s.t);
}

int main(void)
{
	test_reserved();
	test_contradiction();
	test_restart();
	test_linear();
	test_reset();
	test_still_off();
	test_unsure();
	test_xlen();
	test_no_sync();
	test_contexts();
	test_no_flow();
	test_deep("xlen=64,implicit_return=1", false);
	test_deep("xlen=64,implicit_return_depth=8", false);
	test_deep("xlen=64,implicit_return_depth=40", true);
	test_deep("xlen=64,implicit_return_depth=2048", true);
	return 0;
}
