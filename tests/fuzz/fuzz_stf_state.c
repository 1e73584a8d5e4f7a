/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as state blobs of the STF decoder and encoder: refused, or some events and bytes come out, whatever they
 * are. The first byte says how many bytes the decoder's blob has; the rest is the encoder's.
 */
#include "codecs/stf/decoder.h"
#include "codecs/stf/encoder.h"
#include "codecs/views.h"
#include "tests/lib/fuzz.h"

extern const struct hf_codec hf_codec_stf;
/* A header with several harts and VLEN 128, and a few groups of most kinds. */
static const uint8_t stream_bytes[] =
	"\1STF\2\1\0\0\0\6\0\0\0\4\1\0\5\2\0\6\1\0\0\0\0\0\7\0\0\11\0\0\0\0\0\11\0\20\0\0\0\0\0\0\12\200\0\0\0\23"
	"\10\0\0\0\0\1\0\0\0\2\0\0\0\360\23\0\0\0"
	"\37\0\40\0\0\0\0\0\0\360\157\0\0\0"
	"\74\0\20\0\0\0\0\0\0\20\0\0\0\1\75AAAAAAAA\75BBBBBBBB\50\3\0\063CCCCCCCCDDDDDDDD\361\1\0"
	"\144\15\0\0\0\0\0\0\0\1EEEEEEEE\145\0\60\0\0\0\0\0\0\144\0\0\0\0\0\0\0\100\1\1\0\0\0\0\0\0\0\360\3\60\0\0"
	"\10\1\0\0\0\1\0\0\0\2\0\0\0\3\2\0\0\0hi\360\23\0\0\0\360\23\0\0\0"
	"\10\0\0\0\0\1\0\0\0\2\0\0\0\62AAAAAAAABBBBBBBBCCCC\1DDDDDDDDEEEEEEEE\360\23\0\0\0\361\1\0";

static void run(struct hf_stream *stream, struct hf_src *src, const uint8_t *blob, size_t n, struct hf_enc *enc)
{
	uint8_t buf[4 * HF_SINK_ROOM];
	struct hf_event ev[16];
	struct hf_sink sink;
	struct hf_dec *dec;
	size_t count;

	hf_sink_init_count(&sink, buf, sizeof buf);
	MUST(hf_dec_new(stream, src, 0, &dec) == 0);
	if (hf_dec_load(dec, blob, n, 0) == 0) {
		while (hf_dec_next(dec, ev, 16, &count) == 0)
			hf_enc_put(enc, ev, count, &sink);
		MUST(dec->err == HF_NOTE_END);
	} else {
		MUST(dec->err == HF_ERR_STATE);
	}
	hf_enc_end(enc, &sink);
	hf_dec_free(dec);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_stream *stream;
	struct hf_src *src;
	struct hf_enc *enc;
	size_t first;

	if (n == 0)
		return 0;
	first = bytes[0] < n - 1 ? bytes[0] : n - 1;
	MUST(hf_src_memory_new(stream_bytes, sizeof stream_bytes - 1, &src) == 0);
	MUST(hf_stream_open(&hf_codec_stf, src, NULL, &stream, NULL) == 0);
	MUST(hf_enc_new(&hf_view_stf, stream, 0, NULL, &enc) == 0);
	if (hf_enc_load(enc, bytes + 1 + first, n - 1 - first))
		MUST(hf_enc_load(enc, (const uint8_t *)"", 0) == HF_ERR_STATE);
	run(stream, src, bytes + 1, first, enc);
	hf_enc_free(enc);
	hf_stream_close(stream);
	hf_src_free(src);
	return 0;
}
