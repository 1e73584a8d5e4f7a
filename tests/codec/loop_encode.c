/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every view of every sample is the same bytes however many events it gets at a time, and when another encoder takes over
 * at any event: a new one, or one that has been elsewhere before. One that is reset is as a new one. A state that is cut
 * short is not taken. Counted, they are as long as written, with and without disassembly.
 */
#include "codecs/isa/disasm.h"
#include "tests/codec/loops.h"
#include "tests/lib/counted.h"

#define SANITIZED_MOST 8000 /* events */

static struct hf_disasm *disasm;

struct run {
	const struct sample *s;
	const struct hf_enc_ops *ops;
	uint32_t hart;
	struct hf_events all;
};

static const struct hf_enc_env env = {.params = ""};

static struct hf_enc *fresh(const struct run *r)
{
	struct hf_enc *enc;

	CHECK_EQ(hf_enc_new(r->ops, r->s->stream, r->hart, &env, &enc), 0);
	return enc;
}

/* Some events from there on. */
static void lead_astray(const struct run *r, struct hf_enc *enc, size_t at)
{
	struct hf_sink sink;

	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	hf_enc_put(enc, r->all.ev + at, r->all.n - at < 40 ? r->all.n - at : 40, &sink);
	hf_sink_fini_memory(&sink);
}

/* Saves the encoder and goes on with another one. */
static struct hf_enc *hand_over(const struct run *r, struct hf_enc *enc, size_t at)
{
	uint8_t state[HF_STATE_MAX], again[HF_STATE_MAX + 1];
	struct hf_enc *other;
	size_t size;

	memset(state, 0, sizeof state);
	memset(again, 0xa5, sizeof again);
	size = hf_enc_save(enc, state);
	CHECK(size <= HF_STATE_MAX);
	CHECK_EQ(hf_enc_save(enc, again), size);
	CHECK(memcmp(state, again, size) == 0);
	CHECK_EQ(again[size], 0xa5);
	hf_enc_free(enc);
	for (size_t k = 0; at % 64 == 0 && k < size; k++) {
		other = fresh(r);
		CHECK_EQ(hf_enc_load(other, state, k), HF_ERR_STATE);
		hf_enc_free(other);
	}
	other = fresh(r);
	if (at % 2) /* one that was elsewhere */
		lead_astray(r, other, at / 2);
	CHECK_EQ(hf_enc_load(other, state, size), 0);
	return other;
}

/* step events at a time, and another encoder behind each if handed. */
static struct hf_sink encode(const struct run *r, size_t step, bool handed)
{
	struct hf_enc *enc = fresh(r);
	struct hf_sink sink;

	if (handed) {
		lead_astray(r, enc, r->all.n / 2);
		CHECK_EQ(hf_enc_reset(enc, &env), 0);
	}
	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	for (size_t i = 0; i < r->all.n;) {
		const size_t n = step < r->all.n - i ? step : r->all.n - i;

		hf_enc_put(enc, r->all.ev + i, n, &sink);
		i += n;
		if (handed)
			enc = hand_over(r, enc, i);
	}
	hf_enc_end(enc, &sink);
	hf_enc_free(enc);
	CHECK_EQ(sink.err, 0);
	return sink;
}

/* With stretches that are known as without, whatever the view's parameters are. */
static void check_params(const struct run *r)
{
	static const char *const all[] = {"etrace.profile=c111",      "etrace.profile=python", "etrace.sijump=0",
					  "etrace.data=1",	      "ntrace.mode=btm",       "ntrace.call_stack=0",
					  "ntrace.all_jumps=1", "ntrace.sequential_jump=0"};
	const size_t name = strlen(r->ops->name);
	struct hf_enc *enc;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct counted c = {.ops = r->ops,
					  .stream = r->s->stream,
					  .hart = r->hart,
					  .env = {.params = all[i]},
					  .ev = r->all.ev,
					  .n = r->all.n,
					  .step = 1000};

		if (strncmp(all[i], r->ops->name, name) != 0 || all[i][name] != '.')
			continue;
		/* Not every hart can be traced in every way. */
		if (hf_enc_new(c.ops, c.stream, c.hart, &c.env, &enc))
			continue;
		hf_enc_free(enc);
		sample_about("%s hart %u, %s", r->s->name, r->hart, all[i]);
		CHECK(counted_is_written(&c));
	}
}

static void check_counted(const struct run *r)
{
	const size_t steps[] = {1, 7, 1000, 16384};

	for (size_t i = 0; i < 2 * sizeof steps / sizeof *steps; i++) {
		const struct counted c = {.ops = r->ops,
					  .stream = r->s->stream,
					  .hart = r->hart,
					  .env = {.params = "", .disasm = i % 2 ? disasm : NULL},
					  .ev = r->all.ev,
					  .n = steps[i / 2] == 1 && r->all.n > 20000 ? 20000 : r->all.n,
					  .step = steps[i / 2]};

		/* The others do not disassemble. */
		if (c.env.disasm && strcmp(r->ops->name, "listing") != 0)
			continue;
		sample_about("%s hart %u, the view %s, %zu events counted at a time", r->s->name, r->hart, r->ops->name, c.step);
		CHECK(counted_is_written(&c));
	}
}

static void check_view(const struct run *r)
{
	const size_t few = sample_step(r->all.n, 700, 1000);
	const struct {
		size_t step;
		bool handed;
	} ways[] = {{1, false}, {7, false}, {few, true}, {few + 2, true}};
	struct hf_sink whole = encode(r, r->all.n + 1, false);

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct hf_sink sink = encode(r, ways[i].step, ways[i].handed);

		sample_about("%s hart %u, the view %s, %zu events at a time", r->s->name, r->hart, r->ops->name, ways[i].step);
		CHECK_EQ(sink.p - sink.start, whole.p - whole.start);
		CHECK(memcmp(sink.start, whole.start, (size_t)(whole.p - whole.start)) == 0);
		hf_sink_fini_memory(&sink);
	}
	hf_sink_fini_memory(&whole);
	check_counted(r);
	check_params(r);
}

static void check(struct sample *s)
{
	for (size_t h = 0; h < s->hart_count; h++) {
		struct run r = {.s = s, .hart = s->harts[h], .all = sample_all(s, s->harts[h], 64)};

		/* A sanitizer learns nothing from more of them. */
		if (HF_TEST_SANITIZED && r.all.n > SANITIZED_MOST)
			r.all.n = SANITIZED_MOST;
		if (r.hart == HF_HART_RECORDS) {
			r.ops = &hf_enc_records;
			check_view(&r);
		}
		for (size_t i = 0; hf_views[i] && r.hart != HF_HART_RECORDS; i++) {
			r.ops = hf_views[i];
			if (!hf_enc_refusal(r.ops, &s->stream->info))
				check_view(&r);
		}
		hf_events_free(&r.all);
	}
}

void loop_encode(struct samples *all)
{
	CHECK_EQ(hf_disasm_new(&disasm), 0);
	samples_each(all, check);
	hf_disasm_free(disasm);
}
