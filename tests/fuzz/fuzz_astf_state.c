/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as state blobs of the ASTF decoders and encoder: refused, or some events and bytes come out, whatever they
 * are. The first byte says how many bytes the decoder's blob has; the rest is the encoder's.
 */
#include "codecs/astf/decoder.h"
#include "codecs/astf/encoder.h"
#include "codecs/views.h"
#include "tests/lib/fuzz.h"

/* A header, and one record of each type, with a string of two. */
static const uint8_t stream_bytes[][HF_ASTF_SIZE] = {
	"ASTF\0\13\0\0\0\0\0\0\0\0\0\0\100",
	"\105\1\0\0\0\0\0\0\7",
	"\103\0\50\0a string that is longer than",
	"\104 the first record",
	"\10\0\0\0\3\0\0\341\5\0\0\0\0\0\0\0\6",
	"\1\0\320\7\0\0\340\370\0\20\0\0\0\0\0\0\0\40",
	"\7\0\100\7\0\0\0\0\0\60",
	"\1\0\4\0\41\0\0\324\4\20",
	"\5\0\20\124\7\0\0\0\0\220",
	"\1\2\20\77\4\0\0\341\0\220\0\0\0\0\0\0\0\60\0\0\0\0\0\0\5",
};

static void run(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, const uint8_t *blob, size_t n,
		struct hf_enc *enc)
{
	uint8_t buf[4 * HF_SINK_ROOM];
	struct hf_event ev[16];
	struct hf_sink sink;
	struct hf_dec *dec;
	size_t count;

	hf_sink_init_count(&sink, buf, sizeof buf);
	MUST(hf_dec_new(stream, src, hart, &dec) == 0);
	if (hf_dec_load(dec, blob, n, 0) == 0) {
		while (hf_dec_next(dec, ev, 16, &count) == 0)
			hf_enc_put(enc, ev, count, &sink);
		MUST(dec->err == HF_NOTE_END);
	} else {
		MUST(dec->err == HF_ERR_STATE);
	}
	/* a text of up to 4 GiB may be owed: not to be written here */
	if (((struct hf_astf_enc *)enc)->s.text < 100000)
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
	MUST(hf_src_memory_new(stream_bytes, sizeof stream_bytes, &src) == 0);
	MUST(hf_stream_open(&hf_codec_astf, src, NULL, &stream, NULL) == 0);
	MUST(hf_enc_new(&hf_view_astf, stream, 0, NULL, &enc) == 0);
	if (hf_enc_load(enc, bytes + 1 + first, n - 1 - first))
		MUST(hf_enc_load(enc, (const uint8_t *)"", 0) == HF_ERR_STATE);
	if (((struct hf_astf_enc *)enc)->s.text < 100000)
		run(stream, src, 0, bytes + 1, first, enc);
	run(stream, src, HF_HART_RECORDS, bytes + 1, first, enc);
	hf_enc_free(enc);
	hf_stream_close(stream);
	hf_src_free(src);
	return 0;
}
