/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slice of every view, from any instruction on: a view of lines has them where a slice is looked for; one that is a
 * capture by itself decodes to those instructions and traps.
 */
#include "tests/codec/loops.h"

#define INSNS 12 /* of a slice */

static const struct hf_codec *const *codecs;

struct slice {
	const struct sample *s;
	uint32_t hart;
	struct hf_events all;
	size_t first, from, to; /* the ordinal it begins with; its events, which end before the next instruction */
	struct hf_event begin[HF_BEGIN_EVENTS];
};

/* The bytes of a view of events from..to, behind begin if it is not the start. */
static struct hf_sink encode(const struct slice *c, const struct hf_enc_ops *ops, size_t from, size_t to)
{
	struct hf_sink sink;
	struct hf_enc *enc;

	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	CHECK_EQ(hf_enc_new(ops, c->s->stream, c->hart, NULL, &enc), 0);
	if (from)
		hf_enc_put(enc, c->begin, HF_BEGIN_EVENTS, &sink);
	hf_enc_put(enc, c->all.ev + from, to - from, &sink);
	hf_enc_end(enc, &sink);
	hf_enc_free(enc);
	CHECK_EQ(sink.err, 0);
	return sink;
}

/* What the flag promises, so that slices of it are found: an instruction's line begins with its ordinal, others with '#'. */
static void check_lines(const struct slice *c, const struct hf_enc_ops *ops)
{
	struct hf_sink whole = encode(c, ops, 0, c->all.n);
	size_t ordinal = 0;

	CHECK(whole.p == whole.start || whole.p[-1] == '\n');
	for (const uint8_t *line = whole.start; line < whole.p; line = (uint8_t *)memchr(line, '\n', whole.p - line) + 1) {
		char text[32];
		const size_t n = (size_t)snprintf(text, sizeof text, "%zu ", ordinal);

		if (*line == '#')
			continue;
		CHECK((size_t)(whole.p - line) > n && memcmp(line, text, n) == 0);
		ordinal++;
	}
	CHECK_EQ(ordinal, sample_insns(&c->all));
	hf_sink_fini_memory(&whole);
}

static bool is_compared(const struct hf_event *ev)
{
	return ev->kind == HF_EVENT_INSN || ev->kind == HF_EVENT_TRAP;
}

static void check_decoded(const struct slice *c, const struct hf_codec *codec, const struct hf_sink *bytes)
{
	struct sample part = {.codec = codec, .bytes = {.p = bytes->start, .n = (size_t)(bytes->p - bytes->start)}};
	struct hf_events got;
	struct hf_stream *stream;
	struct hf_src *src;
	size_t k = 0;
	int err;

	CHECK_EQ(sample_open(&part, part.bytes.n, &src, &stream), 0);
	got = sample_events(stream, src, stream->info.first_hart, 64, &err);
	CHECK_EQ(err, HF_NOTE_END);
	for (size_t i = c->from; i < c->to; i++) {
		const struct hf_event *want = &c->all.ev[i];

		if (!is_compared(want))
			continue;
		while (k < got.n && !is_compared(&got.ev[k]))
			k++;
		CHECK(k < got.n);
		CHECK_EQ(got.ev[k].kind, want->kind);
		if (want->kind == HF_EVENT_INSN)
			CHECK(got.ev[k].insn.pc == want->insn.pc && got.ev[k].insn.opcode == want->insn.opcode);
		k++;
	}
	for (; k < got.n; k++)
		CHECK(!is_compared(&got.ev[k]));
	hf_events_free(&got);
	hf_stream_close(stream);
	hf_src_free(src);
}

/* The codec that reads the view by itself, without a description. */
static const struct hf_codec *reader_of(const struct hf_enc_ops *ops)
{
	for (size_t i = 0; codecs[i] && !ops->side; i++)
		if (strcmp(codecs[i]->name, ops->name) == 0 && codecs[i]->probe)
			return codecs[i];
	return NULL;
}

static void check_slice(const struct slice *c)
{
	for (size_t i = 0; hf_views[i]; i++) {
		const struct hf_enc_ops *ops = hf_views[i];

		if (hf_enc_refusal(ops, &c->s->stream->info))
			continue;
		sample_about("%s hart %u, the view %s from %zu on", c->s->name, c->hart, ops->name, c->first);
		if ((ops->flags & HF_ENC_LINES) && !c->first) {
			check_lines(c, ops);
		} else if (reader_of(ops)) {
			struct hf_sink bytes = encode(c, ops, c->from, c->to);

			check_decoded(c, reader_of(ops), &bytes);
			hf_sink_fini_memory(&bytes);
		}
	}
}

/* Where the slice of that event ends. */
static size_t end_of(const struct hf_events *all, size_t from)
{
	size_t insns = 0;

	for (size_t i = from; i < all->n; i++) {
		insns += all->ev[i].kind == HF_EVENT_INSN;
		if (insns > INSNS)
			return i;
	}
	return all->n;
}

static void check_hart(struct sample *s, uint32_t hart)
{
	struct slice c = {.s = s, .hart = hart, .all = sample_all(s, hart, 64)};
	const size_t step = sample_step(sample_insns(&c.all), 60, 1000);
	struct hf_dec *dec;
	size_t ordinal = 0;

	CHECK_EQ(hf_dec_new(s->stream, s->src, hart, &dec), 0);
	for (size_t i = 0; i < c.all.n; i++) {
		struct hf_event ev;
		size_t n;

		CHECK_EQ(hf_dec_next(dec, &ev, 1, &n), 0);
		if (ev.kind != HF_EVENT_INSN)
			continue;
		if (ordinal % step == 0) {
			CHECK_EQ(hf_dec_begin(dec, &ev, ordinal, c.begin), HF_BEGIN_EVENTS);
			c.first = ordinal;
			c.from = ordinal ? i : 0;
			c.to = end_of(&c.all, c.from);
			check_slice(&c);
		}
		ordinal++;
	}
	hf_dec_free(dec);
	hf_events_free(&c.all);
}

static void check(struct sample *s)
{
	for (size_t h = 0; h < s->hart_count; h++)
		if (s->harts[h] != HF_HART_RECORDS)
			check_hart(s, s->harts[h]);
}

void loop_slice(struct samples *all)
{
	codecs = all->codecs;
	samples_each(all, check);
}
