/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as state blobs of the N-Trace decoder and encoder: refused, or some events and bytes come out, whatever
 * they are. The first byte says how many bytes the decoder's blob has; the rest is the encoder's.
 */
#include "codecs/views.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/rvrun.h"

#define ROUNDS 100

static struct hf_run run;
static struct hf_walk_bytes trace;

static void feed(struct hf_dec *dec, struct hf_enc *enc)
{
	uint8_t buf[4 * HF_SINK_ROOM];
	struct hf_event ev[64];
	struct hf_sink sink;
	size_t count;

	hf_sink_init_count(&sink, buf, sizeof buf);
	for (unsigned i = 0; i < ROUNDS && hf_dec_next(dec, ev, 64, &count) == 0; i++)
		hf_enc_put(enc, ev, count, &sink);
	MUST(dec->err == 0 || dec->err == HF_NOTE_END);
	hf_enc_put(enc, run.events.ev, run.events.n, &sink);
	hf_enc_end(enc, &sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct hf_enc_env env = {.params = "repeat_branch=1,repeat_history=1,times=1"};
	const size_t first = n && bytes[0] < n - 1 ? bytes[0] : n ? n - 1 : 0;
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_src *src;
	struct hf_dec *dec;
	struct hf_enc *enc;
	struct hf_ntt t;

	if (n == 0)
		return 0;
	if (!run.code_size) {
		hf_run_make(&run, 0x10000, 64, HF_RUN_ALL, 500, 3);
		trace = hf_ntt_encode(&run.events, 64, 0, "repeat_branch=1,repeat_history=1");
	}
	hf_ntt_init(&t, "implicit_return=1");
	hf_ntt_add_code(&t, run.base, run.code, run.code_size);
	MUST(hf_src_memory_new(trace.p, trace.n, &src) == 0);
	MUST(hf_stream_open(hf_codec_by_name("ntrace"), src, &t.setup, &stream, &diag) == 0);
	MUST(hf_dec_new(stream, src, 0, &dec) == 0);
	MUST(hf_enc_new(&hf_view_ntrace, stream, 0, &env, &enc) == 0);
	if (hf_dec_load(dec, bytes + 1, first, 0) != 0)
		MUST(dec->err == HF_ERR_STATE);
	if (hf_enc_load(enc, bytes + 1 + first, n - 1 - first) == 0 && dec->err == 0)
		feed(dec, enc);
	hf_enc_free(enc);
	hf_dec_free(dec);
	hf_stream_close(stream);
	hf_src_free(src);
	hf_ntt_fini(&t);
	return 0;
}
