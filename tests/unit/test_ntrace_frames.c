/* SPDX-License-Identifier: Apache-2.0 */
/*
 * N-Trace out of CoreSight frames, in every layout: two sources that take turns anywhere, padding, discontinuities,
 * damage. Events and records.txt are those of the bare streams, wherever a decoder is entered.
 */
#include "codecs/ntrace/decoder.h"
#include "codecs/records.h"
#include "tests/lib/frames.h"
#include "tests/lib/ntracetest.h"

#define BASE 0x1000u
#define MOST 40000

/* A loop of two instructions, and behind it a jump through a register to its start. */
static const uint32_t code[] = {0x00000013, 0xfeb51ee3, 0x00000013, 0x00050067};

static const struct {
	enum hf_coresight_layout layout;
	const char *values;
} layouts[] = {
	{HF_CORESIGHT_ALIGNED, "framing=coresight"},
	{HF_CORESIGHT_SYNCED, "framing=coresight_sync"},
	{HF_CORESIGHT_DSTREAM, "framing=dstream_coresight"},
};
#define LAYOUTS (sizeof layouts / sizeof layouts[0])

static const struct hf_ntrace_params params = {.xlen = 64, .word_bytes = 1};

static void put(struct hf_walk_bytes *b, struct hf_ntrace_message msg)
{
	uint8_t bytes[HF_NTRACE_WRITE_MAX];

	hf_bytes_add(b, bytes, hf_ntrace_message_write(&params, &msg, bytes));
}

/* A session: so many rounds, k times through the loop and more; idle bytes between some. Counts instructions. */
static void put_session(struct hf_walk_bytes *b, unsigned k, unsigned rounds, unsigned idle, size_t *insns)
{
	put(b, (struct hf_ntrace_message){.tcode = HF_NTRACE_SYNC, .sync = HF_NTRACE_SYNC_ENABLE, .address = BASE});
	for (unsigned i = 0; i < rounds; i++, k = (k + 3) % 9) {
		put(b, (struct hf_ntrace_message){.tcode = HF_NTRACE_INDIRECT_BRANCH_HIST, .icnt = 4 * (k + 1) + 4,
						  .hist = ((2u << k) - 1) << 1});
		*insns += 2 * (k + 1) + 2;
		for (unsigned n = 0; idle && i % 16 == 5 && n < idle; n++)
			hf_bytes_add(b, i % 32 == 5 ? "\xff" : "\0", 1);
	}
	put(b, (struct hf_ntrace_message){.tcode = HF_NTRACE_CORRELATION, .evcode = HF_NTRACE_EVCODE_DISABLED, .cdf = 1,
					  .hist = 1});
}

struct mix {
	size_t n;
	uint8_t bytes[MOST], ids[MOST];
};

static void mix(struct mix *m, const struct hf_walk_bytes *b, size_t from, size_t to, uint8_t id)
{
	CHECK(m->n + (to - from) <= MOST);
	memcpy(m->bytes + m->n, b->p + from, to - from);
	memset(m->ids + m->n, id, to - from);
	m->n += to - from;
}

/* Both in turn, in pieces that end anywhere, and padding between some. */
static void interleave(struct mix *m, const struct hf_walk_bytes streams[2])
{
	size_t at[2] = {0};

	for (unsigned turn = 0; at[0] < streams[0].n || at[1] < streams[1].n; turn++) {
		const unsigned which = turn % 2;
		const size_t left = streams[which].n - at[which], n = 1 + turn * 7 % 23;

		mix(m, &streams[which], at[which], at[which] + (left < n ? left : n), which ? 0x6f : 0x11);
		at[which] += left < n ? left : n;
		if (turn % 5 == 0) {
			m->ids[m->n] = 0;
			m->bytes[m->n++] = 0x24;
		}
	}
}

/* ---- decoders over a source that may be damaged ---- */

struct damaged {
	struct hf_src src; /* first */
	const uint8_t *bytes;
	uint64_t good; /* bytes before the damage */
};

static int damaged_read(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	const struct damaged *d = (const struct damaged *)src;
	const uint64_t left = offset < d->good ? d->good - offset : 0;

	*ret_n = left < n ? (size_t)left : n;
	memcpy(buf, d->bytes + (left ? offset : 0), *ret_n);
	if (*ret_n || offset >= src->size)
		return 0;
	return hf_diag_set(diag, HF_ERR_TRUNCATED, HF_SPACE_STREAM, offset, 0);
}

static const struct hf_src_ops damaged_ops = {.read_at = damaged_read};

struct box {
	struct hf_ntt t;
	struct damaged src;
	struct hf_stream *stream;
};

/* good: bytes before the damage, or all of them. */
static void open_box(struct box *box, const char *values, const uint8_t *bytes, size_t n, size_t good)
{
	struct hf_diag diag;

	hf_ntt_init(&box->t, values);
	hf_ntt_add_code(&box->t, BASE, code, sizeof code);
	box->src = (struct damaged){.src = {.ops = &damaged_ops, .size = n}, .bytes = bytes, .good = good};
	CHECK_EQ(hf_stream_open(hf_codec_by_name("ntrace"), &box->src.src, &box->t.setup, &box->stream, &diag), 0);
}

static void close_box(struct box *box)
{
	hf_stream_close(box->stream);
	hf_ntt_fini(&box->t);
}

/* The events of a hart or of records.txt, and the end. */
static struct hf_ntt_events all_events(struct box *box, uint32_t hart)
{
	struct hf_ntt_events e = {.cap = 1 << 16, .ev = malloc(sizeof(struct hf_event) << 16)};
	struct hf_dec *dec;

	CHECK(e.ev);
	CHECK_EQ(hf_dec_new(box->stream, &box->src.src, hart, &dec), 0);
	while (!e.err) {
		size_t n;

		CHECK(e.n + 100 <= e.cap);
		e.err = hf_dec_next(dec, e.ev + e.n, 100, &n);
		for (size_t i = 0; i < n; i++) {
			e.insns += e.ev[e.n + i].kind == HF_EVENT_INSN;
			e.losses += e.ev[e.n + i].kind == HF_EVENT_GAP || e.ev[e.n + i].kind == HF_EVENT_DOUBT;
		}
		e.n += n;
	}
	hf_dec_free(dec);
	return e;
}

/* Saved before any event, a decoder goes on elsewhere with the same ones: some, at some places all. */
static void check_places(struct box *box, uint32_t hart)
{
	struct hf_ntt_events e = all_events(box, hart);
	struct hf_dec *dec, *other;
	uint8_t blob[HF_STATE_MAX];
	struct hf_event ev[64];
	size_t n;

	CHECK_EQ(hf_dec_new(box->stream, &box->src.src, hart, &dec), 0);
	CHECK_EQ(hf_dec_new(box->stream, &box->src.src, hart, &other), 0);
	for (size_t i = 0; i < e.n; i++) {
		uint64_t discard;
		const size_t size = hf_dec_save(dec, blob, &discard);
		size_t most = i % 97 ? 3 : e.n, at = i;

		CHECK_EQ(hf_dec_load(other, blob, size, discard), 0);
		for (; most && at < e.n; at += n, most -= n) {
			CHECK_EQ(hf_dec_next(other, ev, most < 64 ? most : 64, &n), 0);
			CHECK(n && memcmp(ev, e.ev + at, n * sizeof *ev) == 0);
		}
		CHECK_EQ(hf_dec_next(dec, ev, 1, &n), 0);
		CHECK(memcmp(ev, e.ev + i, sizeof *ev) == 0);
	}
	hf_dec_free(dec);
	hf_dec_free(other);
	hf_ntt_events_free(&e);
}

static struct hf_walk_bytes records(struct box *box, int end)
{
	struct hf_ntt_events e = all_events(box, HF_HART_RECORDS);
	struct hf_walk_bytes text = {0};

	CHECK_EQ(e.err, end);
	for (size_t i = 0; i < e.n; i++)
		hf_bytes_add(&text, e.ev[i].data.bytes, e.ev[i].used);
	hf_bytes_add(&text, "", 1);
	hf_ntt_events_free(&e);
	return text;
}

/* Without offsets and ids: what the lines say. */
static struct hf_walk_bytes bare_lines(const char *text)
{
	struct hf_walk_bytes b = {0};

	for (const char *end; *text; text = end + 1) {
		const char *p = strchr(text, ' '), *id;

		end = strchr(text, '\n');
		CHECK(end && p && p < end);
		id = strstr(p, " ID=");
		if (id && id < end) {
			hf_bytes_add(&b, p, (size_t)(id - p));
			p = id + 4 + strspn(id + 4, "0123456789");
		}
		hf_bytes_add(&b, p, (size_t)(end + 1 - p));
	}
	hf_bytes_add(&b, "", 1);
	return b;
}

static size_t count(const struct hf_walk_bytes *text, const char *what)
{
	size_t n = 0;

	for (const char *p = (const char *)text->p; (p = strstr(p, what)) != NULL; p++)
		n++;
	return n;
}

/* ---- tests ---- */

/* records.txt of a bare stream. */
static void add_records(struct hf_walk_bytes *text, const struct hf_walk_bytes *stream)
{
	struct hf_walk_bytes one;
	struct box box;

	open_box(&box, "", stream->p, stream->n, stream->n);
	one = records(&box, HF_NOTE_END);
	check_places(&box, HF_HART_RECORDS);
	hf_bytes_add(text, one.p, one.n - 1);
	hf_bytes_free(&one);
	close_box(&box);
}

/* Two streams of many pages with long runs of idle bytes, of which a page begins anywhere. */
static void test_sources(void)
{
	static struct mix m;
	struct hf_walk_bytes streams[2] = {{0}}, want = {0};
	size_t insns[2] = {0};

	put_session(&streams[0], 1, 900, 300, &insns[0]);
	put_session(&streams[1], 8, 300, 0, &insns[1]);
	interleave(&m, streams);
	for (unsigned i = 0; i < 2; i++)
		add_records(&want, &streams[i]);
	hf_bytes_add(&want, "", 1);
	CHECK(want.n > 8 * HF_RECORDS_PAGE);
	for (unsigned k = 0; k < LAYOUTS; k++) {
		struct hf_walk_bytes framed = hf_frames(layouts[k].layout, m.bytes, m.ids, m.n), text, a, b;
		struct box box;

		open_box(&box, layouts[k].values, framed.p, framed.n, framed.n);
		for (unsigned i = 0; i < 2; i++) {
			struct hf_ntt_events e = all_events(&box, i ? 0x6f : 0x11);

			CHECK_EQ(e.err, HF_NOTE_END);
			CHECK_EQ(e.insns, insns[i]);
			CHECK_EQ(e.losses, 0);
			hf_ntt_events_free(&e);
		}
		check_places(&box, 0x6f);
		text = records(&box, HF_NOTE_END);
		a = bare_lines((const char *)text.p);
		b = bare_lines((const char *)want.p);
		CHECK_EQ(a.n, b.n);
		CHECK(memcmp(a.p, b.p, a.n) == 0);
		check_places(&box, HF_HART_RECORDS);
		hf_bytes_free(&a);
		hf_bytes_free(&b);
		hf_bytes_free(&text);
		close_box(&box);
		hf_bytes_free(&framed);
	}
	hf_bytes_free(&want);
	hf_bytes_free(&streams[0]);
	hf_bytes_free(&streams[1]);
}

/* Idle bytes, and bytes of no message, by the ten thousand: as they are read they have no lines of their own. */
static void test_runs(void)
{
	struct hf_walk_bytes b = {0}, text;
	struct box box;
	size_t insns = 0;

	put_session(&b, 1, 1, 0, &insns);
	for (unsigned i = 0; i < 70000; i++)
		hf_bytes_add(&b, "\xff", 1);
	hf_bytes_add(&b, "\x24\x02", 2);
	for (unsigned i = 0; i < 10000; i++)
		hf_bytes_add(&b, "\x24", 1);
	put_session(&b, 1, 1, 0, &insns);
	open_box(&box, "", b.p, b.n, b.n);
	text = records(&box, HF_NOTE_END);
	CHECK_EQ(count(&text, " idle bytes=65536\n"), 1);
	CHECK_EQ(count(&text, " idle bytes=4464\n"), 1);
	CHECK_EQ(count(&text, " passed-over bytes=10"), 1);
	CHECK_EQ(count(&text, " idle "), 2);
	CHECK_EQ(count(&text, " passed-over "), 1);
	hf_bytes_free(&text);
	close_box(&box);
	hf_bytes_free(&b);
}

/* Of a session that ends in the middle of a message, and the rest of another before the next. */
static void test_break(void)
{
	struct hf_walk_bytes one = {0}, two = {0};
	size_t insns = 0;

	put_session(&one, 2, 60, 0, &insns);
	put_session(&two, 5, 60, 0, &insns);
	for (unsigned k = 0; k < LAYOUTS; k++)
		for (size_t cut = 150; cut < 190; cut += 3) {
			static struct mix m;
			struct hf_walk_bytes framed, text;
			struct hf_ntt_events e;
			struct box box;

			m.n = 0;
			mix(&m, &one, 0, cut, 0x11);
			m.ids[m.n] = 0x11 | HF_FRAMES_BREAK;
			/* what looks like a message that synchronises, somewhere else, and is the end of one */
			m.bytes[m.n++] = 0x24;
			memset(m.ids + m.n, 0x11, 3);
			memcpy(m.bytes + m.n, "\x15\x40\x07", 3);
			m.n += 3;
			mix(&m, &two, 0, two.n, 0x11);
			framed = hf_frames(layouts[k].layout, m.bytes, m.ids, m.n);
			open_box(&box, layouts[k].values, framed.p, framed.n, framed.n);
			e = all_events(&box, 0x11);
			CHECK_EQ(e.err, HF_NOTE_END);
			CHECK_EQ(e.losses, 1);
			CHECK(e.insns > insns / 2);
			check_places(&box, 0x11);
			check_places(&box, HF_HART_RECORDS);
			text = records(&box, HF_NOTE_END);
			CHECK_EQ(count(&text, "discontinuity"), 1);
			CHECK_EQ(count(&text, " passed-over bytes=4\n"), 1);
			hf_bytes_free(&text);
			hf_ntt_events_free(&e);
			close_box(&box);
			hf_bytes_free(&framed);
		}
	hf_bytes_free(&one);
	hf_bytes_free(&two);
}

/* One before all else interrupts nothing. */
static void test_first_break(void)
{
	static struct mix m;
	struct hf_walk_bytes one = {0}, framed, text;
	struct hf_ntt_events e;
	struct box box;
	size_t insns = 0;

	put_session(&one, 2, 60, 0, &insns);
	mix(&m, &one, 0, one.n, 0x11);
	m.ids[0] |= HF_FRAMES_BREAK;
	framed = hf_frames(HF_CORESIGHT_ALIGNED, m.bytes, m.ids, m.n);
	open_box(&box, "framing=coresight", framed.p, framed.n, framed.n);
	e = all_events(&box, 0x11);
	CHECK_EQ(e.insns, insns);
	CHECK_EQ(e.losses, 0);
	text = records(&box, HF_NOTE_END);
	CHECK_EQ(count(&text, "passed-over"), 0);
	CHECK_EQ(count(&text, " ProgTraceSync "), 1);
	hf_ntt_events_free(&e);
	hf_bytes_free(&text);
	close_box(&box);
	hf_bytes_free(&framed);
	hf_bytes_free(&one);
}

/* What is before damage is there, of every source, and then it is told; words cannot hide it. */
static void test_damage(void)
{
	static struct mix m;
	struct hf_walk_bytes streams[2] = {{0}}, framed;
	size_t insns[2] = {0};

	for (unsigned i = 0; i < 2; i++)
		put_session(&streams[i], i, 100, 0, &insns[i]);
	interleave(&m, streams);
	framed = hf_frames(HF_CORESIGHT_ALIGNED, m.bytes, m.ids, m.n);
	CHECK_EQ(framed.n % 4, 0);
	for (unsigned word = 1; word <= 4; word *= 2)
		for (size_t good = framed.n / 2; good < framed.n / 2 + 20; good++) {
			struct hf_walk_bytes turned = {0}, text;
			struct hf_ntt_events e;
			char values[64];
			struct box box;

			for (size_t i = 0; i < framed.n; i++)
				hf_bytes_add(&turned, framed.p + (i ^ (word - 1)), 1);
			snprintf(values, sizeof values, "framing=coresight,word_bytes=%u", word);
			open_box(&box, values, turned.p, turned.n, good);
			text = records(&box, HF_ERR_TRUNCATED);
			CHECK(count(&text, " ID=17 ") > 20 && count(&text, " ID=111 ") > 20);
			e = all_events(&box, 0x6f);
			CHECK_EQ(e.err, HF_ERR_TRUNCATED);
			CHECK(e.insns > 100);
			hf_ntt_events_free(&e);
			hf_bytes_free(&text);
			close_box(&box);
			hf_bytes_free(&turned);
		}
	hf_bytes_free(&framed);
	hf_bytes_free(&streams[0]);
	hf_bytes_free(&streams[1]);
}

/* Without frames a trace id names no hart. */
static void test_no_frames(void)
{
	struct hf_walk_bytes one = {0};
	size_t insns = 0;
	struct box box;

	put_session(&one, 2, 10, 0, &insns);
	open_box(&box, "trace_id=17", one.p, one.n, one.n);
	CHECK_EQ(box.stream->info.first_hart, 0);
	close_box(&box);
	hf_bytes_free(&one);
}

int main(void)
{
	test_sources();
	test_runs();
	test_break();
	test_first_break();
	test_damage();
	test_no_frames();
	return 0;
}
