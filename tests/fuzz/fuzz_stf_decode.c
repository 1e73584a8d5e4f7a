/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an STF stream: header, all events of its first harts through thin and thick reads alike, and trace.stf
 * of them, which must decode again without a loss of its own.
 */
#include "codecs/stf/decoder.h"
#include "codecs/stf/encoder.h"
#include "codecs/views.h"
#include "tests/lib/fuzz.h"

extern const struct hf_codec hf_codec_stf;
/* DATA comes exactly as its head promises. */
struct promise {
	uint64_t left;
};

static void check_event(struct promise *p, const struct hf_event *ev)
{
	if (ev->kind == HF_EVENT_DATA) {
		MUST(ev->used && ev->used <= sizeof ev->data.bytes && ev->used <= p->left);
		p->left -= ev->used;
		return;
	}
	MUST(p->left == 0);
	MUST(ev->kind > HF_EVENT_NONE && ev->kind < HF_EVENT_KINDS);
	switch (ev->kind) {
	case HF_EVENT_MEM:
	case HF_EVENT_BUS:
	case HF_EVENT_REG:
	case HF_EVENT_TRANSLATION:
	case HF_EVENT_TRAP:
	case HF_EVENT_TEXT:
	case HF_EVENT_TRANSACTION:
		p->left = ev->size;
		break;
	case HF_EVENT_INSN:
	case HF_EVENT_ATTEMPT:
		MUST(ev->insn.mode < HF_MODE_COUNT && ev->insn.isa < HF_ISA_COUNT && ev->insn.flow < HF_FLOW_COUNT);
		break;
	case HF_EVENT_GAP:
	case HF_EVENT_NOTE:
		MUST(ev->code && hf_err_is_code(-(int64_t)ev->code));
		break;
	default:
		break;
	}
}

/* A sum over all events; batch and window must not matter. */
static uint64_t run(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, size_t batch,
		    struct hf_sink *sink)
{
	struct promise promise = {0};
	struct hf_event ev[64];
	struct hf_enc *enc = NULL;
	struct hf_dec *dec;
	uint64_t sum = 0;
	size_t n;

	MUST(hf_dec_new(stream, src, hart, &dec) == 0);
	if (sink)
		MUST(hf_enc_new(&hf_view_stf, stream, hart, NULL, &enc) == 0);
	while (hf_dec_next(dec, ev, batch, &n) == 0) {
		for (size_t i = 0; i < n; i++) {
			check_event(&promise, &ev[i]);
			for (unsigned k = 0; k < 3; k++)
				sum = (sum ^ ev[i].word[k]) * 0x9e3779b97f4a7c15;
			sum += ev[i].kind + ev[i].flags * 3u + ev[i].any * 5u + ev[i].size * 7u;
		}
		if (enc)
			hf_enc_put(enc, ev, n, sink);
	}
	MUST(dec->err == HF_NOTE_END);
	MUST(promise.left == 0);
	if (enc) {
		hf_enc_end(enc, sink);
		hf_enc_free(enc);
	}
	hf_dec_free(dec);
	return sum;
}

static void check_again(struct hf_sink *sink)
{
	struct hf_stream *stream;
	struct hf_src *src;
	struct hf_event ev[64];
	struct hf_dec *dec;
	size_t n;

	MUST(hf_src_memory_new(sink->start, (size_t)(sink->p - sink->start), &src) == 0);
	MUST(hf_stream_open(&hf_codec_stf, src, NULL, &stream, NULL) == 0);
	MUST(hf_dec_new(stream, src, 0, &dec) == 0);
	while (hf_dec_next(dec, ev, 64, &n) == 0)
		for (size_t i = 0; i < n; i++)
			MUST(ev[i].kind != HF_EVENT_GAP);
	hf_dec_free(dec);
	hf_stream_close(stream);
	hf_src_free(src);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_stream *stream;
	struct hf_src *src;
	struct hf_sink sink;
	uint32_t hart;
	bool harts;

	MUST(hf_src_memory_new(bytes, n, &src) == 0);
	if (hf_stream_open(&hf_codec_stf, src, NULL, &stream, NULL)) {
		hf_src_free(src);
		return 0;
	}
	hart = stream->info.first_hart;
	harts = stream->info.flags & HF_STREAM_HARTS;
	MUST(hf_sink_init_memory(&sink, 1 << 16) == 0);
	MUST(run(stream, src, hart, 64, harts ? &sink : NULL) == run(stream, src, hart, 1, NULL));
	if (harts)
		check_again(&sink);
	hf_sink_fini_memory(&sink);
	if (stream->info.flags & HF_STREAM_MANY)
		run(stream, src, (hart ^ 1) & 0xffff, 7, NULL);
	hf_stream_close(stream);
	hf_src_free(src);
	return 0;
}
