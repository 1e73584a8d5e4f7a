/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state that somebody has changed is refused, or decoding and encoding go on from some place: whatever comes out, no
 * defect of ours. Each byte of states all over a capture gets each bit turned, and a few values.
 */
#include "tests/codec/loops.h"

#define PLACES 12
#define EVENTS 300 /* behind an entry */

static const uint8_t values[] = {0x01, 0x80, 0xff, 0x55, 0x10};

static void decode_some(struct hf_dec *dec, const uint8_t *blob, size_t size, uint64_t discard)
{
	struct hf_event ev[64];
	size_t n;
	int err = hf_dec_load(dec, blob, size, discard);

	CHECK(!err || err == HF_ERR_STATE);
	for (size_t done = 0; !err && done < EVENTS; done += n) {
		err = hf_dec_next(dec, ev, 64, &n);
		for (size_t i = 0; !err && i < n; i++)
			CHECK(ev[i].kind > HF_EVENT_NONE && ev[i].kind < HF_EVENT_KINDS);
	}
	CHECK(err >= 0 || hf_err_class(err) != HF_CLASS_bug);
}

static void encode_some(const struct sample *s, const struct hf_enc_ops *ops, uint32_t hart, const uint8_t *blob,
			size_t size, const struct hf_events *all)
{
	static const struct hf_enc_env env = {.params = ""};
	struct hf_enc *enc;
	struct hf_sink sink;

	CHECK_EQ(hf_enc_new(ops, s->stream, hart, &env, &enc), 0);
	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	if (hf_enc_load(enc, blob, size) == 0) {
		hf_enc_put(enc, all->ev, all->n < EVENTS ? all->n : EVENTS, &sink);
		hf_enc_end(enc, &sink);
	}
	CHECK(!sink.err || hf_err_class(sink.err) != HF_CLASS_bug);
	hf_sink_fini_memory(&sink);
	hf_enc_free(enc);
}

/* Every mutation of a blob, one after the other; fn gets the blob as it is meanwhile. */
#define EACH_MUTATION(blob, size, at) \
	for (size_t turn_ = 0, at; at = turn_ / sizeof values, at < (size); turn_++) \
		for (uint8_t old_ = (blob)[at], once_ = ((blob)[at] ^= values[turn_ % sizeof values], 1); once_; \
		     once_ = 0, (blob)[at] = old_)

static void poison_views(const struct sample *s, uint32_t hart, const struct hf_events *all)
{
	for (size_t i = 0; hf_views[i]; i++) {
		static const struct hf_enc_env env = {.params = ""};
		uint8_t blob[HF_STATE_MAX];
		struct hf_enc *enc;
		struct hf_sink sink;
		size_t size;

		if (hf_enc_refusal(hf_views[i], &s->stream->info))
			continue;
		sample_about("%s hart %u, the view %s", s->name, hart, hf_views[i]->name);
		CHECK_EQ(hf_enc_new(hf_views[i], s->stream, hart, &env, &enc), 0);
		CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
		hf_enc_put(enc, all->ev, all->n / 2, &sink);
		size = hf_enc_save(enc, blob);
		hf_enc_free(enc);
		hf_sink_fini_memory(&sink);
		EACH_MUTATION(blob, size, at)
			encode_some(s, hf_views[i], hart, blob, size, all);
	}
}

static void poison_decoder(const struct sample *s, uint32_t hart, size_t events)
{
	const size_t step = events / PLACES + 1;
	uint8_t blob[HF_STATE_MAX];
	struct hf_dec *dec, *other;
	uint64_t discard;

	CHECK_EQ(hf_dec_new(s->stream, s->src, hart, &dec), 0);
	CHECK_EQ(hf_dec_new(s->stream, s->src, hart, &other), 0);
	for (size_t i = 0; i < events; i++) {
		struct hf_event ev;
		size_t n;

		CHECK_EQ(hf_dec_next(dec, &ev, 1, &n), 0);
		if (i % step)
			continue;
		const size_t size = hf_dec_save(dec, blob, &discard);

		EACH_MUTATION(blob, size, at) {
			sample_about("%s hart %u, event %zu, byte %zu of %zu is %02x", s->name, hart, i, at, size, blob[at]);
			decode_some(other, blob, size, discard);
		}
		decode_some(other, blob, size, discard + 1 + i);
	}
	hf_dec_free(dec);
	hf_dec_free(other);
}

static void check(struct sample *s)
{
	for (size_t h = 0; h < s->hart_count; h++) {
		struct hf_events all = sample_all(s, s->harts[h], 64);

		poison_decoder(s, s->harts[h], all.n);
		if (s->harts[h] != HF_HART_RECORDS)
			poison_views(s, s->harts[h], &all);
		hf_events_free(&all);
	}
}

void loop_poison(struct samples *all)
{
	samples_each(all, check);
}
