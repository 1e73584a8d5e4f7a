/* SPDX-License-Identifier: Apache-2.0 */
/* Counted = written: where a sink only counts, a view is as long as its bytes are, and its encoder is in the same
 * state. */
#ifndef HF_TEST_COUNTED_H
#define HF_TEST_COUNTED_H

#include "codecs/base/memo.h"
#include "codecs/codec.h"

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

/* One way through the events: the size of what each step made, and the state behind it. */
struct counted_run {
	struct hf_enc *enc;
	struct hf_sink sink;
	uint8_t state[HF_STATE_MAX];
	size_t state_size;
};

static inline bool counted_begin(const struct counted *c, const struct hf_enc_env *env, struct counted_run *run)
{
	if (hf_enc_new(c->ops, c->stream, c->hart, env, &run->enc))
		return false;
	if (!c->blob || !hf_enc_load(run->enc, c->blob, c->blob_size))
		return true;
	hf_enc_free(run->enc);
	return !hf_enc_new(c->ops, c->stream, c->hart, env, &run->enc);
}

static inline void counted_step(const struct counted *c, struct counted_run *run, size_t at)
{
	const size_t n = c->step < c->n - at ? c->step : c->n - at;

	hf_enc_put(run->enc, c->ev + at, n, &run->sink);
	if (at + n == c->n)
		hf_enc_end(run->enc, &run->sink);
	run->state_size = hf_enc_save(run->enc, run->state);
}

/* Memory that is dropped after every step. */
static inline uint64_t counted_take(struct hf_sink *sink)
{
	const uint64_t size = hf_sink_total(sink);

	sink->p = sink->start;
	sink->flushed = 0;
	return size;
}

static inline bool counted_is_written(const struct counted *c)
{
	static struct counted_run written, counted;
	static uint8_t buf[2 * HF_SINK_ROOM];
	struct hf_enc_env env = c->env;
	bool same = true;

	env.memo = calloc(1, sizeof *env.memo);
	if (!env.memo || !counted_begin(c, &c->env, &written) || !counted_begin(c, &env, &counted) ||
	    hf_sink_init_memory(&written.sink, 1 << 16))
		return false;
	hf_sink_init_count(&counted.sink, buf, sizeof buf);
	for (size_t at = 0; same && at < c->n; at += c->step) {
		counted_step(c, &written, at);
		counted_step(c, &counted, at);
		same = counted_take(&written.sink) == counted_take(&counted.sink) &&
		       written.state_size == counted.state_size &&
		       !memcmp(written.state, counted.state, counted.state_size);
	}
	hf_sink_fini_memory(&written.sink);
	hf_enc_free(written.enc);
	hf_enc_free(counted.enc);
	free(env.memo);
	return same;
}

#endif
