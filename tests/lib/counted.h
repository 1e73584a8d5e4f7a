/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counted = written: where a sink only counts, a view is as long as its bytes are, and its encoder is in the same
 * state. Known = not known: an encoder that is told which stretches are known makes the same bytes, and counts as many.
 */
#ifndef HF_TEST_COUNTED_H
#define HF_TEST_COUNTED_H

#include "codecs/base/memo.h"
#include "codecs/codec.h"
#include "codecs/walk/known.h"

#include <stdlib.h>
#include <string.h>

struct counted {
	const struct hf_enc_ops *ops;
	const struct hf_stream *stream;
	uint32_t hart;
	struct hf_enc_env env; /* without a memo */
	const struct hf_event *ev;
	size_t n, step;	     /* so many events at a time */
	const uint8_t *blob; /* the state to begin in, if it is one */
	size_t blob_size;
};

/* One way through the events: what each step made, and the state behind it. */
struct counted_run {
	struct hf_enc_env env;
	struct hf_enc *enc;
	struct hf_sink sink;
	bool known; /* with stretches */
	uint8_t state[HF_STATE_MAX];
	size_t state_size;
};

enum { COUNTED_WRITES, COUNTED_WRITES_KNOWN, COUNTED_COUNTS, COUNTED_COUNTS_KNOWN, COUNTED_WAYS };

/* No more events go into stretches at a time. */
#define COUNTED_KNOWN 16384u

static inline bool counted_begin(const struct counted *c, struct counted_run *run, unsigned way)
{
	static uint8_t buf[2 * HF_SINK_ROOM];
	const bool counts = way >= COUNTED_COUNTS;

	run->env = c->env;
	run->env.memo = counts ? calloc(1, sizeof *run->env.memo) : NULL;
	run->known = way % 2;
	run->env.known = run->known ? calloc(1, sizeof *run->env.known) : NULL;
	if (counts)
		hf_sink_init_count(&run->sink, buf, sizeof buf);
	else if (hf_sink_init_memory(&run->sink, 1 << 16))
		return false;
	if ((counts && !run->env.memo) || (run->known && !run->env.known) || hf_enc_new(c->ops, c->stream, c->hart, &run->env, &run->enc))
		return false;
	if (!c->blob || !hf_enc_load(run->enc, c->blob, c->blob_size))
		return true;
	hf_enc_free(run->enc);
	return !hf_enc_new(c->ops, c->stream, c->hart, &run->env, &run->enc);
}

static inline void counted_put_known(struct counted_run *run, struct hf_stretch_finder *finder,
				     const struct hf_event *ev, size_t n)
{
	static struct hf_stretch stretch[COUNTED_KNOWN / 2];

	while (n) {
		const size_t some = n < COUNTED_KNOWN ? n : COUNTED_KNOWN;

		hf_enc_put_known(run->enc, ev, some, stretch, hf_stretch_find(finder, ev, some, stretch), &run->sink);
		ev += some;
		n -= some;
	}
}

static inline void counted_step(const struct counted *c, struct counted_run *run, struct hf_stretch_finder *finder,
				size_t at)
{
	const size_t n = c->step < c->n - at ? c->step : c->n - at;

	if (run->known)
		counted_put_known(run, finder, c->ev + at, n);
	else
		hf_enc_put(run->enc, c->ev + at, n, &run->sink);
	if (at + n == c->n)
		hf_enc_end(run->enc, &run->sink);
	run->state_size = hf_enc_save(run->enc, run->state);
}

static inline bool counted_same(const struct counted_run *a, const struct counted_run *b)
{
	const uint64_t size = hf_sink_total(&a->sink);

	return size == hf_sink_total(&b->sink) && a->state_size == b->state_size &&
	       !memcmp(a->state, b->state, a->state_size) &&
	       (a->sink.counts || b->sink.counts || !memcmp(a->sink.start, b->sink.start, (size_t)size));
}

static inline bool counted_is_written(const struct counted *c)
{
	static struct counted_run run[COUNTED_WAYS];
	struct hf_stretch_finder *finder;
	bool same = !hf_stretch_finder_new(false, &finder);

	for (unsigned i = 0; i < COUNTED_WAYS; i++)
		same = counted_begin(c, &run[i], i) && same;
	for (size_t at = 0; same && at < c->n; at += c->step) {
		for (unsigned i = 0; i < COUNTED_WAYS; i++)
			counted_step(c, &run[i], finder, at);
		for (unsigned i = 1; i < COUNTED_WAYS; i++)
			same = same && counted_same(&run[0], &run[i]);
		for (unsigned i = 0; i < COUNTED_WAYS; i++) {
			run[i].sink.p = run[i].sink.start; /* memory that is dropped after every step */
			run[i].sink.flushed = 0;
		}
	}
	for (unsigned i = 0; i < COUNTED_WAYS; i++) {
		if (!run[i].sink.counts)
			hf_sink_fini_memory(&run[i].sink);
		hf_enc_free(run[i].enc);
		free(run[i].env.memo);
		free(run[i].env.known);
	}
	hf_stretch_finder_free(finder);
	return same;
}

#endif
