/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an ASTF stream: all events through thin and thick reads alike; trace.astf of them, which decodes to the
 * same instructions; trace.stf of them and trace.astf of that, which decode again; and records.txt, whose every line
 * begins with its offset. Input: flags (1: a header is put before it, 2: of a Basic trace), then the stream.
 */
#include "codecs/astf/decoder.h"
#include "codecs/astf/encoder.h"
#include "codecs/stf/encoder.h"
#include "codecs/views.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/sliver.h"

struct sums {
	uint64_t all;   /* over everything */
	uint64_t insns; /* over retired pcs and opcodes */
};

static void check_event(uint64_t *left, const struct hf_event *ev)
{
	if (ev->kind == HF_EVENT_DATA) {
		MUST(ev->used && ev->used <= sizeof ev->data.bytes && ev->used <= *left);
		*left -= ev->used;
		return;
	}
	MUST(*left == 0);
	MUST(ev->kind > HF_EVENT_NONE && ev->kind < HF_EVENT_KINDS);
	if (ev->kind == HF_EVENT_TEXT || ev->kind == HF_EVENT_OPAQUE)
		*left = ev->size;
	if (ev->kind == HF_EVENT_GAP || ev->kind == HF_EVENT_NOTE)
		MUST(ev->code && hf_err_is_code(-(int64_t)ev->code));
	if (hf_event_is_instruction(ev))
		MUST(ev->insn.mode < HF_MODE_COUNT && ev->insn.size == 4 && ev->insn.flow < HF_FLOW_COUNT);
}

static struct sums run(const struct hf_stream *stream, struct hf_src *src, size_t batch, const struct hf_enc_ops *ops,
		       struct hf_sink *sink)
{
	struct hf_enc *enc = NULL;
	struct sums sums = {0};
	struct hf_event ev[64];
	struct hf_dec *dec;
	uint64_t left = 0;
	size_t n;

	MUST(hf_dec_new(stream, src, 0, &dec) == 0);
	if (ops)
		MUST(hf_enc_new(ops, stream, 0, NULL, &enc) == 0);
	while (hf_dec_next(dec, ev, batch, &n) == 0) {
		for (size_t i = 0; i < n; i++) {
			if (stream->codec == &hf_codec_astf)
				check_event(&left, &ev[i]);
			for (unsigned k = 0; k < 3; k++)
				sums.all = (sums.all ^ ev[i].word[k]) * 0x9e3779b97f4a7c15;
			sums.all += ev[i].kind + ev[i].flags * 3u + ev[i].any * 5u + ev[i].size * 7u;
			if (ev[i].kind == HF_EVENT_INSN)
				sums.insns = (sums.insns ^ hf_astf_sanitise(ev[i].insn.pc) ^ ev[i].insn.opcode) *
					     0x9e3779b97f4a7c15;
		}
		if (enc)
			hf_enc_put(enc, ev, n, sink);
	}
	MUST(dec->err == HF_NOTE_END);
	MUST(left == 0);
	if (enc) {
		hf_enc_end(enc, sink);
		MUST(sink->err == 0);
		hf_enc_free(enc);
	}
	hf_dec_free(dec);
	return sums;
}

/* What an encoder made decodes to the same instructions; again: trace.astf of it too. */
static void check_again(const struct hf_codec *codec, const struct hf_sink *made, const struct sums *want, bool again)
{
	struct hf_stream *stream;
	struct hf_sink sink;
	struct hf_src *src;
	struct sums sums;

	MUST(hf_src_memory_new(made->start, (size_t)(made->p - made->start), &src) == 0);
	MUST(hf_stream_open(codec, src, NULL, &stream, NULL) == 0);
	MUST(hf_sink_init_memory(&sink, 1 << 16) == 0);
	sums = run(stream, src, 64, again ? &hf_view_astf : NULL, &sink);
	MUST(sums.insns == want->insns);
	if (again)
		check_again(&hf_codec_astf, &sink, want, false);
	hf_sink_fini_memory(&sink);
	hf_stream_close(stream);
	hf_src_free(src);
}

static void check_records(const struct hf_stream *stream, struct hf_src *src)
{
	struct hf_event ev[16];
	struct hf_dec *dec;
	struct hf_enc *enc;
	struct hf_sink sink;
	bool begins = true;
	size_t n;

	MUST(hf_dec_new(stream, src, HF_HART_RECORDS, &dec) == 0);
	MUST(hf_enc_new(&hf_enc_records, stream, HF_HART_RECORDS, NULL, &enc) == 0);
	MUST(hf_sink_init_memory(&sink, 1 << 16) == 0);
	while (hf_dec_next(dec, ev, 16, &n) == 0)
		hf_enc_put(enc, ev, n, &sink);
	for (const uint8_t *p = sink.start; p < sink.p; p++) {
		MUST(*p == '\n' || (*p >= ' ' && *p <= '~'));
		if (begins)
			MUST(*p == '#' || (*p >= '0' && *p <= '9'));
		begins = *p == '\n';
	}
	MUST(dec->err == HF_NOTE_END && begins && !sink.err);
	hf_sink_fini_memory(&sink);
	hf_enc_free(enc);
	hf_dec_free(dec);
}

static void check_stream(const struct hf_stream *stream, struct hf_src *src)
{
	struct hf_sink sink;
	struct hf_src *thin;
	struct sums sums, other;

	MUST(hf_sink_init_memory(&sink, 1 << 16) == 0);
	sums = run(stream, src, 64, &hf_view_astf, &sink);
	check_again(&hf_codec_astf, &sink, &sums, true);
	hf_sink_fini_memory(&sink);
	MUST(hf_sliver_new(src, 5, &thin) == 0);
	other = run(stream, thin, 3, NULL, NULL);
	MUST(other.all == sums.all);
	hf_src_free(thin);
	MUST(hf_sink_init_memory(&sink, 1 << 16) == 0);
	run(stream, src, 17, &hf_view_stf, &sink);
	check_again(&hf_codec_stf, &sink, &sums, true);
	hf_sink_fini_memory(&sink);
	check_records(stream, src);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t header[2][HF_ASTF_SIZE] = {"ASTF\0\13\0\0\0\0\0\0\0\0\0\0\100",
							"ASTF\0\13\0\0\0\0\0\0\0\0\0\0\40"};
	const size_t head = size && data[0] & 1 ? HF_ASTF_SIZE : 0;
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_src *src;
	uint8_t *bytes;

	if (!size)
		return 0;
	bytes = malloc(head + size);
	MUST(bytes);
	memcpy(bytes, header[data[0] >> 1 & 1], head);
	memcpy(bytes + head, data + 1, size - 1);
	MUST(hf_src_memory_new(bytes, head + size - 1, &src) == 0);
	if (hf_stream_open(&hf_codec_astf, src, NULL, &stream, &diag) == 0) {
		check_stream(stream, src);
		hf_stream_close(stream);
	} else {
		MUST(!head && diag.code < 0);
	}
	hf_src_free(src);
	free(bytes);
	return 0;
}
