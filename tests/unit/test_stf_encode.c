/* SPDX-License-Identifier: Apache-2.0 */
/* The STF encoder: what it writes of foreign events, its header, and its state. */
#include "codecs/views.h"
#include "tests/lib/stftest.h"

extern const struct hf_codec hf_codec_stf;

#define FEATURES (HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64)

/* A stream of a format that is not STF. */
static const struct hf_codec foreign_codec = {.name = "other", .title = "Other Trace"};
static const struct hf_stream foreign = {
	.codec = &foreign_codec,
	.info = {.arch = HF_ARCH_RISCV,
		 .xlen = 64,
		 .isa = HF_ISA_RV64,
		 .flags = HF_STREAM_HARTS,
		 .vlen = 256,
		 .version = "2.0",
		 .json = ""},
};
static const struct hf_stream foreign_arm = {
	.codec = &foreign_codec,
	.info = {.arch = HF_ARCH_ARM,
		 .xlen = 64,
		 .isa = HF_ISA_A64,
		 .flags = HF_STREAM_HARTS,
		 .version = "2.0",
		 .json = ""},
};

static struct hf_events in, out;
static size_t cursor;

static struct hf_event *add(enum hf_event_kind kind)
{
	hf_events_add(&in, &(struct hf_event){.kind = (uint8_t)kind}, 1);
	return &in.ev[in.n - 1];
}

static struct hf_event *insn(enum hf_event_kind kind, uint64_t pc, uint8_t mode)
{
	struct hf_event *ev = add(kind);

	ev->insn = (struct hf_ev_insn){.pc = pc, .opcode = 0x13, .size = 4, .isa = HF_ISA_RV64, .mode = mode};
	return ev;
}

static struct hf_event *data(uint16_t n)
{
	struct hf_event *ev = add(HF_EVENT_DATA);

	ev->used = n;
	memset(ev->data.bytes, 'd', n);
	return ev;
}

/* in -> trace.stf -> out */
static void turn_around(const struct hf_stream *stream)
{
	struct hf_walk_bytes bytes = hf_stft_encode(stream, 3, &in);

	hf_events_free(&out);
	out = hf_stft_decode(&bytes, 0);
	cursor = 0;
	hf_bytes_free(&bytes);
	hf_events_free(&in);
}

static const struct hf_event *expect(enum hf_event_kind kind)
{
	CHECK(cursor < out.n);
	CHECK_EQ(out.ev[cursor].kind, kind);
	return &out.ev[cursor++];
}

static void expect_text(const char *want)
{
	const struct hf_event *ev = expect(HF_EVENT_TEXT);
	char text[700];
	size_t n = 0;

	CHECK(ev->size < sizeof text);
	for (size_t size = ev->size; n < size; n += ev->used) {
		ev = expect(HF_EVENT_DATA);
		memcpy(text + n, ev->data.bytes, ev->used);
	}
	text[n] = 0;
	CHECK_STR(text, want);
}

static void expect_insn(uint64_t pc, uint8_t mode)
{
	const struct hf_event *ev = expect(HF_EVENT_INSN);

	CHECK_EQ(ev->insn.pc, pc);
	CHECK_EQ(ev->insn.mode, mode);
}

static void expect_mode(uint8_t mode)
{
	const struct hf_event *ev = expect(HF_EVENT_CONTEXT);

	CHECK_EQ(ev->fields, HF_CONTEXT_MODE);
	CHECK_EQ(ev->context.mode, mode);
}

/* What STF has no record for becomes a comment; nothing vanishes. */
static void test_foreign_events(void)
{
	struct hf_event *ev = add(HF_EVENT_GAP);

	ev->code = -HF_ERR_TRUNCATED;
	ev->loss = (struct hf_ev_loss){.offset = 77, .bytes = 9};
	insn(HF_EVENT_INSN, 0x1000, HF_MODE_UNKNOWN);
	ev = add(HF_EVENT_TIMESTAMP);
	ev->time.value = 5;
	ev = add(HF_EVENT_CYCLES);
	ev->time.value = 6;
	ev = add(HF_EVENT_MARKER);
	ev->marker = (struct hf_ev_marker){.value = 1, .number = 2, .type = 3};
	ev = add(HF_EVENT_OPAQUE);
	ev->size = 30;
	ev->text.offset = 4;
	data(24);
	data(6);
	ev = add(HF_EVENT_CONTEXT);
	ev->fields = HF_CONTEXT_ASID | HF_CONTEXT_VMID | HF_CONTEXT_VLEN;
	ev->context.asid = 1;
	ev->context.vmid = 2;
	ev->context.vlen = 16;
	ev = add(HF_EVENT_DISCONTINUITY);
	ev->flags = HF_EVF_UNTRACED;
	ev = add(HF_EVENT_MEM);
	ev->mem.address = 0x40;
	ev->words = 1;
	ev = add(HF_EVENT_MEM);
	ev->flags = HF_EVF_READ | HF_EVF_NO_ADDRESS;
	ev->mem.size = 4;
	insn(HF_EVENT_INSN, 0x1004, HF_MODE_UNKNOWN);
	ev = add(HF_EVENT_CONTEXT);
	ev->fields = HF_CONTEXT_MODE;
	ev->context.mode = HF_MODE_S;
	ev = add(HF_EVENT_DOUBT);
	ev->code = -HF_ERR_CORRUPT;
	ev->loss.offset = 5;
	add(HF_EVENT_TRANSACTION);
	turn_around(&foreign);
	expect_text("hartfs: the pc of the header is not known and made up");
	expect_text("hartfs: gap: offset 77: the file ends too early, 9 bytes");
	expect_insn(0x1000, 0);
	CHECK_EQ(expect(HF_EVENT_TIMESTAMP)->time.value, 5);
	expect_text("hartfs: cycles 6");
	expect_text("hartfs: marker 2: type 3, value 0x1");
	expect_text("hartfs: 30 bytes of the source at offset 4 have no counterpart");
	expect_text("hartfs: address space 1");
	expect_text("hartfs: virtual machine 2");
	expect_text("hartfs: vector length 128 bits");
	expect_text("hartfs: not traced from here to the next instruction");
	expect_text("hartfs: access at 0x40 without an instruction");
	expect_text("hartfs: load of 4 bytes at an address that is not known");
	expect_insn(0x1004, 0);
	expect_text("hartfs: doubt: offset 5: the data is damaged");
	expect_text("hartfs: transaction 0");
	/* forced by the discontinuity, so that group could not say it */
	expect_text("hartfs: mode S");
	CHECK_EQ(cursor, out.n);
}

static void test_attachments(void)
{
	struct hf_event *ev;

	insn(HF_EVENT_INSN, 0x1000, HF_MODE_U);
	ev = add(HF_EVENT_MEM);
	ev->flags = HF_EVF_READ | HF_EVF_WRITE;
	ev->words = 4;
	ev->size = 24;
	ev->mem = (struct hf_ev_mem){.address = 0x10, .size = 32, .data = 7};
	data(24);
	ev = add(HF_EVENT_REG);
	ev->reg = (struct hf_ev_reg){.value = 1, .number = 5, .class = 3, .role = 3};
	ev->size = 8; /* shorter than VLEN: zeros follow */
	data(8);
	ev = add(HF_EVENT_REG);
	ev->reg = (struct hf_ev_reg){.value = 1, .number = 5, .class = 3, .role = 3};
	ev->size = 48; /* longer: the rest is cut off */
	data(24);
	data(24);
	ev = add(HF_EVENT_TRANSLATION);
	ev->walk = (struct hf_ev_walk){.entries = 2};
	ev->size = 32; /* and then nothing comes */
	insn(HF_EVENT_INSN, 0x1004, HF_MODE_VS);
	turn_around(&foreign);
	expect_mode(HF_MODE_U);
	expect_insn(0x1000, HF_MODE_U);
	ev = (struct hf_event *)expect(HF_EVENT_MEM);
	CHECK(ev->flags == (HF_EVF_READ | HF_EVF_SIZE_ASSUMED) && ev->words == 0 && ev->mem.size == 32);
	ev = (struct hf_event *)expect(HF_EVENT_MEM);
	CHECK(ev->flags == (HF_EVF_WRITE | HF_EVF_SIZE_ASSUMED) && ev->words == 4 && ev->mem.data == 7 &&
	      ev->mem.address == 0x10);
	CHECK_EQ(expect(HF_EVENT_DATA)->data.bytes[23], 'd');
	CHECK_EQ(expect(HF_EVENT_REG)->size, 24);
	ev = (struct hf_event *)expect(HF_EVENT_DATA);
	CHECK(ev->data.bytes[7] == 'd' && ev->data.bytes[8] == 0 && ev->data.bytes[23] == 0);
	CHECK_EQ(expect(HF_EVENT_REG)->size, 24);
	CHECK_EQ(expect(HF_EVENT_DATA)->data.bytes[23], 'd');
	CHECK_EQ(expect(HF_EVENT_TRANSLATION)->size, 32);
	CHECK_EQ(expect(HF_EVENT_DATA)->data.bytes[0], 0);
	CHECK_EQ(expect(HF_EVENT_DATA)->used, 8);
	expect_mode(HF_MODE_S); /* STF has no VS */
	expect_insn(0x1004, HF_MODE_S);
	CHECK_EQ(cursor, out.n);
}

/* Traps of a source that knows causes and values, but not STF's metadata. */
static void test_traps(void)
{
	struct hf_event *ev;

	insn(HF_EVENT_INSN, 0x1000, HF_MODE_U);
	ev = add(HF_EVENT_TRAP); /* an interrupt behind an instruction that retired */
	ev->flags = HF_EVF_ASYNC | HF_EVF_CAUSE | HF_EVF_HANDLER;
	ev->trap = (struct hf_ev_trap){.cause = 7, .handler = 0x8000};
	insn(HF_EVENT_INSN, 0x8000, HF_MODE_M);
	ev = insn(HF_EVENT_ATTEMPT, 0x8004, HF_MODE_M);
	ev = add(HF_EVENT_TRAP);
	ev->flags = HF_EVF_CAUSE | HF_EVF_HANDLER | HF_EVF_MODE | HF_EVF_VALUE;
	ev->mode = HF_MODE_S;
	ev->trap = (struct hf_ev_trap){.cause = 13, .value = 0xbad, .handler = 0x9000};
	insn(HF_EVENT_INSN, 0x9000, HF_MODE_S);
	ev = add(HF_EVENT_TRAP_RETURN);
	ev->flags = HF_EVF_HANDLER | HF_EVF_MODE;
	ev->mode = HF_MODE_U;
	ev->trap.handler = 0x1004;
	insn(HF_EVENT_ATTEMPT, 0x1004, HF_MODE_U); /* nobody says why */
	insn(HF_EVENT_INSN, 0x1008, HF_MODE_U);
	turn_around(&foreign);
	expect_mode(HF_MODE_U);
	expect_insn(0x1000, HF_MODE_U);
	ev = (struct hf_event *)expect(HF_EVENT_ATTEMPT); /* a NOP where the flow would have gone on */
	CHECK(ev->insn.pc == 0x1004 && ev->insn.opcode == 0x13 && ev->insn.mode == HF_MODE_U);
	ev = (struct hf_event *)expect(HF_EVENT_TRAP);
	CHECK(ev->flags & HF_EVF_ASYNC && ev->trap.cause == 7 && ev->trap.handler == 0x8000);
	CHECK_EQ(ev->size, 0);
	expect_mode(HF_MODE_M);
	expect_insn(0x8000, HF_MODE_M);
	CHECK_EQ(expect(HF_EVENT_ATTEMPT)->insn.pc, 0x8004);
	ev = (struct hf_event *)expect(HF_EVENT_TRAP);
	CHECK(ev->trap.cause == 13 && ev->trap.value == 0xbad && ev->trap.handler == 0x9000 && ev->mode == HF_MODE_S);
	ev = (struct hf_event *)expect(HF_EVENT_DATA);
	CHECK(hf_get64(ev->data.bytes) == 0x8004 && hf_get64(ev->data.bytes + 8) == 0x13);
	expect_insn(0x9000, HF_MODE_S);
	CHECK_EQ(expect(HF_EVENT_TRAP_RETURN)->trap.handler, 0x1004);
	expect_text("hartfs: the cause of this event is not known, its number is made up");
	CHECK_EQ(expect(HF_EVENT_ATTEMPT)->insn.mode, HF_MODE_U);
	expect(HF_EVENT_TRAP);
	expect_insn(0x1008, HF_MODE_U);
	CHECK_EQ(cursor, out.n);
}

/* What a source does not know is nothing that a reader would take for known. */
static void test_unknown(void)
{
	struct hf_event *ev = insn(HF_EVENT_INSN, 0x1000, HF_MODE_U);

	ev->flags = HF_EVF_OPEN;
	ev->insn.opcode = 0x00b50463;
	ev = add(HF_EVENT_MEM);
	ev->flags = HF_EVF_WRITE | HF_EVF_NO_ADDRESS;
	ev->words = 1;
	ev->mem = (struct hf_ev_mem){.data = 7, .size = 4};
	insn(HF_EVENT_ATTEMPT, 0x1004, HF_MODE_U);
	ev = add(HF_EVENT_TRAP); /* a page fault at an address that nobody says */
	ev->flags = HF_EVF_CAUSE;
	ev->trap.cause = 13;
	ev = add(HF_EVENT_TRAP); /* none of whose instruction is known */
	ev->flags = HF_EVF_CAUSE | HF_EVF_VALUE;
	ev->trap = (struct hf_ev_trap){.cause = 15, .value = 0x40};
	ev = add(HF_EVENT_TRAP);
	ev->flags = HF_EVF_CAUSE | HF_EVF_VALUE;
	ev->trap = (struct hf_ev_trap){.cause = 1, .value = 0x44};
	turn_around(&foreign);
	expect_text("hartfs: whether this branch was taken is not known");
	expect_text("hartfs: store of 4 bytes, 0x7, at an address that is not known");
	expect_mode(HF_MODE_U);
	expect_insn(0x1000, HF_MODE_U);
	expect(HF_EVENT_ATTEMPT);
	ev = (struct hf_event *)expect(HF_EVENT_TRAP);
	CHECK(ev->flags == HF_EVF_CAUSE && ev->size == 16);
	ev = (struct hf_event *)expect(HF_EVENT_DATA);
	CHECK_EQ(hf_get64(ev->data.bytes), 0x1004);
	expect_text("hartfs: trap value 0x40");
	expect(HF_EVENT_ATTEMPT);
	ev = (struct hf_event *)expect(HF_EVENT_TRAP);
	CHECK(ev->flags == HF_EVF_CAUSE && ev->size == 0);
	expect(HF_EVENT_ATTEMPT);
	ev = (struct hf_event *)expect(HF_EVENT_TRAP);
	CHECK(ev->flags == (HF_EVF_CAUSE | HF_EVF_VALUE) && ev->size == 8 && ev->trap.value == 0x44);
	expect(HF_EVENT_DATA);
	CHECK_EQ(cursor, out.n);
}

/* What a packet source calls a retired ecall keeps retired: its exception becomes a COMMENT. */
static void test_retired_call(void)
{
	struct hf_event *ev = insn(HF_EVENT_INSN, 0x1000, HF_MODE_U);

	ev->insn.opcode = 0x73;
	ev = add(HF_EVENT_TRAP);
	ev->flags = HF_EVF_CAUSE | HF_EVF_HANDLER;
	ev->trap = (struct hf_ev_trap){.cause = 8, .handler = 0x8000};
	insn(HF_EVENT_INSN, 0x8000, HF_MODE_U);
	turn_around(&foreign);
	expect_mode(HF_MODE_U);
	expect_insn(0x1000, HF_MODE_U);
	expect_text("hartfs: exception, cause 8, handler 0x8000");
	CHECK_EQ(expect(HF_EVENT_DISCONTINUITY)->jump.to, 0x8000);
	expect_insn(0x8000, HF_MODE_U);
	CHECK_EQ(cursor, out.n);
}

/* A system call of ARM retires and has its event all the same. */
static void test_arm(void)
{
	struct hf_event *ev = insn(HF_EVENT_INSN, 0x1000, HF_MODE_EL0t);

	ev->insn.isa = HF_ISA_A64;
	ev = add(HF_EVENT_MEM);
	ev->flags = HF_EVF_READ;
	ev->mem = (struct hf_ev_mem){.address = 0x10, .size = 8, .tag = 5};
	ev = add(HF_EVENT_TRAP);
	ev->flags = HF_EVF_CAUSE | HF_EVF_HANDLER | HF_EVF_MODE;
	ev->mode = HF_MODE_EL1h;
	ev->trap = (struct hf_ev_trap){.cause = 0x15, .handler = 0x8000};
	ev = insn(HF_EVENT_INSN, 0x8000, HF_MODE_EL1h);
	ev->insn.isa = HF_ISA_T32;
	turn_around(&foreign_arm);
	expect_mode(HF_MODE_EL0t);
	expect_insn(0x1000, HF_MODE_EL0t);
	ev = (struct hf_event *)expect(HF_EVENT_MEM);
	CHECK(ev->mem.tag == 5 && ev->mem.attr == 0x15);
	ev = (struct hf_event *)expect(HF_EVENT_TRAP);
	CHECK(ev->trap.cause == 0x15 && ev->mode == HF_MODE_EL1h);
	expect(HF_EVENT_DATA);
	expect_insn(0x8000, HF_MODE_EL1h);
	CHECK_EQ(out.ev[cursor - 1].insn.isa, HF_ISA_T32);
	CHECK_EQ(cursor, out.n);
}

static void test_header(void)
{
	struct hf_walk_bytes bytes;
	struct hf_event *ev = add(HF_EVENT_CONTEXT);
	const struct hf_stf_header *h;
	struct hf_stft t;

	CHECK(hf_enc_refusal(&hf_view_stf, &foreign.info) == NULL);
	CHECK(hf_enc_refusal(&hf_view_stf, &foreign_arm.info) == NULL);
	CHECK(hf_enc_refusal(&hf_view_stf, &(struct hf_stream_info){.arch = HF_ARCH_RISCV}));
	ev->fields = HF_CONTEXT_HW | HF_CONTEXT_PID | HF_CONTEXT_TID;
	ev->context.pid = 9;
	insn(HF_EVENT_INSN, 0x4000, HF_MODE_UNKNOWN);
	bytes = hf_stft_encode(&foreign, 3, &in);
	hf_events_free(&in);
	hf_stft_open(&t, &bytes);
	h = t.stream->info.header;
	CHECK_EQ(h->force_pc, 0x4000);
	CHECK_EQ(h->ids[1], 9);
	CHECK_EQ(h->vlen, 256);
	CHECK(h->major == 1 && h->minor == 6);
	CHECK_EQ(h->features, HF_STF_FEATURE_EVENT | HF_STF_FEATURE_RV64 | HF_STF_FEATURE_PROCESS_ID |
				      HF_STF_FEATURE_VEC | HF_STF_FEATURE_EVENT64);
	CHECK(h->infos.n == 13 && h->infos.p[1] == HF_STF_GENERATOR_EXTRACT);
	CHECK(strstr(t.stream->info.json, "\"hartfs: hart 3 of a capture in Other Trace 2.0\""));
	hf_stft_close(&t);
	hf_bytes_free(&bytes);
	/* of nothing at all */
	bytes = hf_stft_encode(&foreign, 0, &in);
	hf_stft_open(&t, &bytes);
	CHECK_EQ(((const struct hf_stf_header *)t.stream->info.header)->body + 5 +
			 strlen("hartfs: the pc of the header is not known and made up"), bytes.n);
	hf_stft_close(&t);
	hf_bytes_free(&bytes);
}

/* Of an STF source: its producers, its unit, its features but MULTI_CORE. */
static void test_header_of_stf(void)
{
	struct hf_walk_bytes b = {0}, again;
	const struct hf_stf_header *h;
	struct hf_events list;
	struct hf_stft t, u;

	hf_stft_header(&b, FEATURES | HF_STF_FEATURE_MULTI_CORE | 1, 0x1000);
	b.p[20] = HF_STF_GENERATOR_DROMAJO;
	PUT(&b, INST_MEM_ACCESS, .size = 64, .code = HF_STF_READ);
	PUT(&b, INST_OPCODE16, .size = 1);
	PUT(&b, INST_MEM_ACCESS, .size = 4, .code = HF_STF_READ);
	PUT(&b, INST_OPCODE16, .size = 1);
	hf_stft_open(&t, &b);
	list = hf_stft_events(t.stream, t.src, 0, 256);
	again = hf_stft_encode(t.stream, 0, &list);
	hf_stft_open(&u, &again);
	h = u.stream->info.header;
	CHECK(h->bits);
	CHECK_EQ(h->features, FEATURES | 1);
	CHECK_EQ(h->infos.n, 7 + 13);
	CHECK(again.n - h->body == b.n - ((const struct hf_stf_header *)t.stream->info.header)->body);
	CHECK(memcmp(again.p + h->body, b.p + b.n - (again.n - h->body), again.n - h->body) == 0);
	hf_stft_close(&u);
	hf_stft_close(&t);
	hf_events_free(&list);
	hf_bytes_free(&again);
	hf_bytes_free(&b);
}

/* A slice: the header knows where it begins and what holds there, and records are counted from there. */
static void test_begin(void)
{
	struct hf_walk_bytes bytes;
	const struct hf_stf_header *h;
	struct hf_event *ev = add(HF_EVENT_BEGIN);
	struct hf_stft t;

	ev->isa = HF_ISA_RV64;
	ev->begin = (struct hf_ev_begin){.ordinal = 70, .record = 100, .pc = 0x4000};
	ev = add(HF_EVENT_CONTEXT);
	ev->fields = HF_CONTEXT_MODE | HF_CONTEXT_PID | HF_CONTEXT_ASID;
	ev->context = (struct hf_ev_context){.mode = HF_MODE_S, .pid = 9, .asid = 3};
	for (uint64_t first = 99; first < 103; first++) {
		insn(HF_EVENT_INSN, 0x4000 + (first - 99) * 4, HF_MODE_S);
		ev = add(HF_EVENT_TRANSLATION);
		ev->walk.first = first;
	}
	bytes = hf_stft_encode(&foreign, 3, &in);
	hf_stft_open(&t, &bytes);
	h = t.stream->info.header;
	CHECK_EQ(h->force_pc, 0x4000);
	CHECK_EQ(h->iem, HF_STF_IEM_RV64);
	CHECK_EQ(h->ids[1], 9);
	hf_stft_close(&t);
	hf_bytes_free(&bytes);
	turn_around(&foreign);
	CHECK_EQ(expect(HF_EVENT_CONTEXT)->context.pid, 9);
	expect_text("hartfs: address space 3");
	expect_mode(HF_MODE_S);
	for (uint64_t first = 0; first < 4; first++) {
		expect_insn(0x4000 + first * 4, HF_MODE_S);
		CHECK_EQ(expect(HF_EVENT_TRANSLATION)->walk.first, first ? first - 1 : 0);
	}
	CHECK_EQ(cursor, out.n);
}

/* ---- state ---- */

/* The bytes of events [first, last) made by an encoder that starts from *blob and leaves its state there. */
static void piece(const struct hf_stream *stream, const struct hf_events *list, size_t first, size_t last,
		  uint8_t *blob, size_t *size, struct hf_walk_bytes *to)
{
	struct hf_sink sink;
	struct hf_enc *enc;

	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 14), 0);
	CHECK_EQ(hf_enc_new(&hf_view_stf, stream, 0, NULL, &enc), 0);
	memset(&((struct hf_stf_enc *)enc)->s, 0xa5, sizeof(struct hf_stf_enc_state));
	CHECK_EQ(hf_enc_load(enc, blob, *size), 0);
	hf_enc_put(enc, list->ev + first, last - first, &sink);
	if (last == list->n)
		hf_enc_end(enc, &sink);
	*size = hf_enc_save(enc, blob);
	hf_bytes_add(to, sink.start, (size_t)(sink.p - sink.start));
	hf_enc_free(enc);
	hf_sink_fini_memory(&sink);
}

/* Each event through an encoder of its own, and in pieces of other sizes, gives the same bytes. */
static size_t check_pieces(const struct hf_stream *stream, const struct hf_events *list)
{
	struct hf_walk_bytes whole = hf_stft_encode(stream, 0, list);
	size_t largest = 0;

	for (size_t step = 1; step < 8; step += 2) {
		struct hf_walk_bytes bytes = {0};
		uint8_t blob[HF_STATE_MAX];
		struct hf_enc *enc;
		size_t size;

		CHECK_EQ(hf_enc_new(&hf_view_stf, stream, 0, NULL, &enc), 0);
		size = hf_enc_save(enc, blob);
		hf_enc_free(enc);
		for (size_t at = 0; at < list->n; at += step) {
			piece(stream, list, at, at + step < list->n ? at + step : list->n, blob, &size, &bytes);
			largest = size > largest ? size : largest;
		}
		CHECK_EQ(bytes.n, whole.n);
		CHECK(memcmp(bytes.p, whole.p, whole.n) == 0);
		hf_bytes_free(&bytes);
	}
	hf_bytes_free(&whole);
	return largest;
}

static void test_state(void)
{
	static const uint64_t words[6] = {0x1008, 0x13, 3, 4, 5, 6};
	struct hf_walk_bytes b = {0};
	struct hf_events list, again;
	struct hf_walk_bytes bytes;
	struct hf_stft t;

	hf_stft_header(&b, FEATURES, 0xffffffffc0000000);
	for (unsigned turn = 0; turn < 3; turn++) {
		PUT(&b, COMMENT, .count = 60);
		hf_bytes_add(&b, "012345678901234567890123456789012345678901234567890123456789", 60);
		PUT(&b, PROCESS_ID_EXT, .hw = UINT32_MAX, .pid = 0x7fffffff, .tid = 0x80000000 + turn);
		hf_stft_mode(&b, 3);
		PUT(&b, INST_OPCODE32, .size = 0xfff00013);
		PUT(&b, INST_PC_TARGET, .address = 0xffffffff80000800);
		PUT(&b, INST_REG, .number = 3, .code = 0x33, .value = 1);
		hf_bytes_add(&b, words, 24);
		PUT(&b, PAGE_TABLE_WALK, .count = 3);
		hf_bytes_add(&b, words, 48);
		PUT(&b, INST_MEM_ACCESS, .address = 8, .size = 32, .code = HF_STF_READ);
		for (unsigned i = 0; i < 6; i++)
			PUT(&b, INST_MEM_CONTENT, .value = i);
		PUT(&b, BUS_MASTER_ACCESS, .address = 8, .size = 32, .code = HF_STF_WRITE);
		for (unsigned i = 0; i < 3; i++)
			PUT(&b, BUS_MASTER_CONTENT, .value = i);
		PUT(&b, INST_OPCODE32, .size = 0x78067);
		hf_stft_event(&b, 13, 6, words);
		PUT(&b, EVENT_PC_TARGET, .address = 0x9000);
		hf_stft_mode(&b, 1);
		PUT(&b, INST_OPCODE32, .size = 0x3003);
		hf_stft_mode(&b, 0);
		PUT(&b, EVENT_PC_TARGET, .address = 0xffffffff80000100);
		PUT(&b, INST_OPCODE32, .size = 0x10200073);
		PUT(&b, FORCE_PC, .address = 0x55);
		hf_stft_mode(&b, 2);
		PUT(&b, INST_MICROOP, .code = 4, .size = 1);
		PUT(&b, INST_OPCODE16, .size = 1);
	}
	hf_stft_open(&t, &b);
	list = hf_stft_events(t.stream, t.src, 0, 256);
	CHECK(check_pieces(t.stream, &list) < 60);
	CHECK(check_pieces(&foreign, &list) < 60);
	bytes = hf_stft_encode(t.stream, 0, &list);
	again = hf_stft_decode(&bytes, 0);
	hf_events_forget_places(&list);
	hf_events_forget_places(&again);
	hf_events_check_same(&list, &again, "trace.stf");
	hf_events_free(&list);
	hf_events_free(&again);
	hf_bytes_free(&bytes);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

/* Whatever blob an encoder takes, it does no harm. */
static void test_bad_states(void)
{
	uint8_t blob[HF_STATE_MAX], buf[4 * HF_SINK_ROOM];
	struct hf_sink sink;
	struct hf_enc *enc;
	size_t size;

	insn(HF_EVENT_INSN, 0x1000, HF_MODE_U);
	in.ev[0].insn.target = 0x2000;
	in.ev[0].flags = HF_EVF_TAKEN;
	CHECK_EQ(hf_enc_new(&hf_view_stf, &foreign, 0, NULL, &enc), 0);
	hf_sink_init_count(&sink, buf, sizeof buf);
	hf_enc_put(enc, in.ev, in.n, &sink);
	size = hf_enc_save(enc, blob);
	for (size_t i = 0; i < size * 8; i++) {
		uint8_t copy[HF_STATE_MAX];

		memcpy(copy, blob, size);
		copy[i / 8] ^= (uint8_t)(1 << i % 8);
		if (hf_enc_load(enc, copy, size) == 0) {
			hf_enc_put(enc, in.ev, in.n, &sink);
			hf_enc_end(enc, &sink);
		}
	}
	for (size_t i = 0; i < size; i++)
		CHECK_EQ(hf_enc_load(enc, blob, i), HF_ERR_STATE);
	hf_enc_free(enc);
	hf_events_free(&in);
}

/* A state that claims data for gigabytes does not make zeros for longer than there is room. */
static void test_claimed_data(void)
{
	const struct hf_event insn = {.kind = HF_EVENT_INSN, .insn = {.pc = 0x1000, .opcode = 0x13, .size = 4, .isa = HF_ISA_RV64}};
	uint8_t blob[HF_STATE_MAX], buf[4 * HF_SINK_ROOM];
	struct hf_enc *enc;
	struct hf_sink sink;
	size_t size;

	CHECK_EQ(hf_enc_new(&hf_view_stf, &foreign, 0, NULL, &enc), 0);
	((struct hf_stf_enc *)enc)->s.head = HF_EVENT_TRAP;
	((struct hf_stf_enc *)enc)->s.left = 1;
	((struct hf_stf_enc *)enc)->s.take = UINT32_MAX;
	size = hf_enc_save(enc, blob);
	CHECK_EQ(hf_enc_load(enc, blob, size), 0);
	hf_sink_init_buffer(&sink, buf, sizeof buf);
	hf_enc_put(enc, &insn, 1, &sink);
	CHECK_EQ(sink.err, HF_ERR_LIMIT);
	CHECK(hf_sink_total(&sink) <= 2 * sizeof buf);
	hf_enc_free(enc);
}

/* Every mode of an Arm PE comes back, those of AArch32 too; EL1 as that of the handler's stack. */
static void test_arm_modes(void)
{
	uint64_t word;

	for (unsigned mode = HF_MODE_EL0t; mode <= HF_MODE_SYS; mode++) {
		const unsigned back = hf_stf_word_of_mode(mode, &word) ? hf_stf_mode_of_word(HF_ARCH_ARM, word) : 0;
		const unsigned alone = mode >= HF_MODE_EL0 && mode <= HF_MODE_EL3;

		CHECK_EQ(back, !alone ? mode : mode == HF_MODE_EL0 ? HF_MODE_EL0t : HF_MODE_EL1h + 2 * (mode - HF_MODE_EL1));
	}
	CHECK(!hf_stf_word_of_mode(HF_MODE_THREAD, &word) && !hf_stf_word_of_mode(HF_MODE_UNKNOWN, &word));
	CHECK_EQ(hf_stf_mode_of_word(HF_ARCH_RISCV, 19), HF_MODE_UNKNOWN);
	CHECK_EQ(hf_stf_mode_of_word(HF_ARCH_RISCV, 1), HF_MODE_S);
	CHECK_EQ(hf_stf_mode_of_word(HF_ARCH_ARM, 1), HF_MODE_UNKNOWN);
}

int main(void)
{
	test_arm_modes();
	test_claimed_data();
	test_foreign_events();
	test_attachments();
	test_traps();
	test_retired_call();
	test_unknown();
	test_arm();
	test_header();
	test_header_of_stf();
	test_begin();
	test_state();
	test_bad_states();
	hf_events_free(&out);
	return 0;
}
