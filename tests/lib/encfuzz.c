/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/encfuzz.h"
#include "tests/lib/counted.h"

#define EVENTS_MAX 96

struct run {
	const struct hf_enc_ops *ops;
	const struct hf_stream *stream;
	struct hf_enc_env env;
	const uint8_t *blob;
	size_t blob_size;
	const struct hf_event *ev;
	size_t n;
};

static struct hf_enc *make(const struct run *run)
{
	struct hf_enc *enc;

	MUST(hf_enc_new(run->ops, run->stream, 0, &run->env, &enc) == 0);
	return enc;
}

static struct hf_enc *again(const struct run *run, struct hf_enc *enc)
{
	uint8_t state[HF_STATE_MAX];
	const size_t used = hf_enc_save(enc, state);

	MUST(used <= HF_STATE_MAX);
	hf_enc_free(enc);
	enc = make(run);
	MUST(hf_enc_load(enc, state, used) == 0);
	return enc;
}

/* Every boundary of few events, one in eight of many: which ones, the events say. */
static bool is_handed_over(const struct run *run, size_t i)
{
	return run->n <= 8 || ((run->ev[i].word[0] ^ run->ev[i].kind) + i) % 8 == 0;
}

/* One event at a time from the blob on, with new encoders at boundaries if anew. */
static void encode(const struct run *run, bool anew, struct hf_sink *sink)
{
	struct hf_enc *enc = make(run);

	if (hf_enc_load(enc, run->blob, run->blob_size)) {
		hf_enc_free(enc);
		enc = make(run);
	}
	for (size_t i = 0; i < run->n; i++) {
		hf_enc_put(enc, &run->ev[i], 1, sink);
		if (anew && is_handed_over(run, i))
			enc = again(run, enc);
	}
	hf_enc_end(enc, sink);
	hf_enc_free(enc);
}

void enc_fuzz_run(const struct enc_fuzz *f, const uint8_t *bytes, size_t n)
{
	static struct hf_event ev[EVENTS_MAX];
	const struct hf_stream stream = {.info = f->info};
	struct run run = {.ops = f->ops, .stream = &stream, .ev = ev};
	struct hf_sink once, anew;
	size_t choices = 0, size;

	if (n < 2)
		return;
	while (f->params[choices])
		choices++;
	run.env.params = f->params[bytes[0] % choices];
	run.blob = bytes + 2;
	run.blob_size = bytes[1] < n - 2 ? bytes[1] : n - 2;
	for (const uint8_t *p = run.blob + run.blob_size; p + ENC_FUZZ_EVENT <= bytes + n && run.n < EVENTS_MAX;
	     p += ENC_FUZZ_EVENT)
		ev[run.n++] = f->event(p);
	MUST(hf_sink_init_memory(&once, 1 << 14) == 0 && hf_sink_init_memory(&anew, 1 << 14) == 0);
	encode(&run, false, &once);
	encode(&run, true, &anew);
	size = (size_t)(once.p - once.start);
	f->check(once.start, once.p);
	MUST(size <= f->most * (run.n + 1));
	MUST(size == (size_t)(anew.p - anew.start) && memcmp(once.start, anew.start, size) == 0);
	hf_sink_fini_memory(&once);
	hf_sink_fini_memory(&anew);
	MUST(counted_is_written(&(struct counted){.ops = run.ops, .stream = &stream, .env = run.env, .ev = ev, .n = run.n,
						  .step = 1 + bytes[0] % 8, .blob = run.blob, .blob_size = run.blob_size}));
}
