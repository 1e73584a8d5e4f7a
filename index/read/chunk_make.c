/* SPDX-License-Identifier: Apache-2.0 */
#include "index/read/chunk_make.h"

#include "codecs/base/memo.h"
#include "index/base/digest.h"
#include "index/base/hash.h"
#include "index/read/decode_index.h"

#include <stdlib.h>

#define BATCH 512
/* Of a part so many events are written at once; not all of their bytes may be wanted. */
#define PART_BATCH 64

/* The error for one of a decoder: an indexed chunk was good, so damage means that the index is of another file. */
static int decode_error(const struct hf_dec *dec, int err, const struct hf_chunk *chunk, struct hf_diag *diag)
{
	if (err < 0 && hf_err_class(err) == HF_CLASS_io) {
		if (diag)
			*diag = dec->diag;
		return err;
	}
	if (err == HF_ERR_NOMEM || err == HF_ERR_CHANGED || err == HF_ERR_CANCELLED)
		return hf_diag_set(diag, err, HF_SPACE_STREAM, chunk->stream_offset, 0);
	return hf_diag_set(diag, HF_ERR_MISMATCH, HF_SPACE_STREAM, chunk->stream_offset, chunk->number);
}

/* Takes events of a chunk: 0, or why no more are wanted. */
typedef int (*take_fn)(void *ctx, const struct hf_event *ev, size_t n);

/* The decoder must be at the beginning of the chunk. */
static int convert(const struct hf_maker *m, const struct hf_chunk *chunk, take_fn take, void *ctx,
		   struct hf_digester *digester, struct hf_diag *diag)
{
	struct hf_event ev[BATCH];
	uint64_t left = chunk->events;
	int err;

	while (left) {
		size_t n;

		err = hf_dec_next(m->dec, ev, left < BATCH ? (size_t)left : BATCH, &n);
		if (err)
			return decode_error(m->dec, err, chunk, diag);
		err = take(ctx, ev, n);
		if (err)
			return hf_diag_set(diag, err, HF_SPACE_STREAM, HF_NOWHERE, 0);
		if (digester)
			hf_digester_put(digester, ev, n);
		left -= n;
	}
	return 0;
}

static int enter(const struct hf_maker *m, const struct hf_chunk *chunk, struct hf_diag *diag)
{
	int err = hf_dec_load(m->dec, chunk->entry, chunk->entry_size, chunk->discard);

	return err ? decode_error(m->dec, err, chunk, diag) : 0;
}

/* All of a chunk, with digest and end state. */
static int convert_all(const struct hf_maker *m, const struct hf_chunk *chunk, take_fn take, void *ctx,
		       struct hf_chunk_made *made, struct hf_diag *diag)
{
	struct hf_digester digester;
	int err = enter(m, chunk, diag);

	if (err || !made)
		return err ? err : convert(m, chunk, take, ctx, NULL, diag);
	hf_digester_begin(&digester);
	err = convert(m, chunk, take, ctx, &digester, diag);
	if (err)
		return err;
	made->digest = hf_digester_end(&digester);
	made->exit_size = (uint32_t)hf_enc_save(m->enc, made->exit);
	return 0;
}

int hf_maker_init(struct hf_maker *m, const struct hf_stream *stream, struct hf_src *src, uint32_t hart,
		  const struct hf_view_key *key, const struct hf_enc_env *env)
{
	int err = hf_dec_new(stream, src, hart, &m->dec);

	m->enc = NULL;
	m->memo = NULL;
	if (!err)
		err = hf_enc_new(key->ops, stream, hart, env, &m->enc);
	if (err)
		hf_maker_fini(m);
	return err;
}

void hf_maker_fini(struct hf_maker *m)
{
	free(m->memo);
	hf_enc_free(m->enc);
	hf_dec_free(m->dec);
	*m = (struct hf_maker){0};
}

struct whole {
	struct hf_enc *enc;
	struct hf_sink *sink;
};

static int take_whole(void *ctx, const struct hf_event *ev, size_t n)
{
	const struct whole *whole = ctx;

	hf_enc_put(whole->enc, ev, n, whole->sink);
	return whole->sink->err;
}

int hf_maker_make(struct hf_maker *m, const struct hf_chunk *chunk, const struct hf_enc_env *env,
		  const uint8_t *view_entry, size_t view_entry_size, struct hf_sink *sink, struct hf_chunk_made *ret_made,
		  struct hf_diag *diag)
{
	struct whole whole = {m->enc, sink};
	int err = hf_enc_load(m->enc, view_entry, view_entry_size);

	m->enc->env = env;
	if (err)
		return hf_diag_set(diag, err, HF_SPACE_STREAM, chunk->stream_offset, 0);
	err = convert_all(m, chunk, take_whole, &whole, ret_made, diag);
	if (!err && chunk->last)
		hf_enc_end(m->enc, sink);
	if (!err && sink->err)
		err = hf_diag_set(diag, sink->err, HF_SPACE_STREAM, HF_NOWHERE, 0);
	return err;
}

/* ---- several chunks ---- */

struct joined {
	struct hf_sink sink;
	XXH3_state_t *state;
	uint64_t start, sum; /* of the present chunk; of those before it */
	size_t entry_size;
	uint8_t entry[HF_ENTRY_MAX]; /* of the present chunk */
};

/* At the end of each chunk. */
static void add_sum(struct joined *j)
{
	const uint64_t end = hf_sink_total(&j->sink);
	uint64_t sum = 0;

	/* A chunk without bytes has no checksum. */
	if (end > j->start) {
		XXH3_64bits_reset(j->state);
		XXH3_64bits_update(j->state, j->sink.start + j->start, (size_t)(end - j->start));
		XXH3_64bits_update(j->state, j->entry, j->entry_size);
		sum = XXH3_64bits_digest(j->state);
	}
	j->sum = hf_view_sum_join(j->sum, sum);
	j->start = end;
}

static int make_joined(struct hf_maker *m, struct hf_index *index, struct hf_chunk *chunk,
		       const struct hf_view_chunk *view, struct joined *j, struct hf_diag *diag)
{
	struct whole whole = {m->enc, &j->sink};
	int err = enter(m, chunk, diag);

	for (uint64_t i = 1; !err; i++) {
		err = convert(m, chunk, take_whole, &whole, NULL, diag);
		if (err)
			break;
		add_sum(j);
		if (i == view->chunks)
			break;
		j->entry_size = hf_enc_save(m->enc, j->entry);
		err = hf_index_chunk(index, m->dec->hart, chunk->number + 1, chunk);
		if (err)
			hf_diag_set(diag, err, HF_SPACE_STREAM, HF_NOWHERE, 0);
	}
	return err;
}

int hf_maker_make_joined(struct hf_maker *m, struct hf_index *index, struct hf_chunk *chunk,
			 const struct hf_enc_env *env, const struct hf_view_chunk *view, uint8_t *to,
			 struct hf_diag *diag)
{
	struct joined *j = calloc(1, sizeof *j);
	int err = j && (j->state = XXH3_createState()) ? hf_enc_load(m->enc, view->entry, view->entry_size)
						       : HF_ERR_NOMEM;

	m->enc->env = env;
	if (err) {
		hf_diag_set(diag, err, HF_SPACE_STREAM, chunk->stream_offset, 0);
	} else {
		hf_sink_init_buffer(&j->sink, to, (size_t)view->size + HF_SINK_ROOM);
		j->entry_size = view->entry_size;
		memcpy(j->entry, view->entry, view->entry_size);
		err = make_joined(m, index, chunk, view, j, diag);
	}
	if (!err && (j->sink.err || j->start != view->size || j->sum != view->checksum))
		err = hf_diag_set(diag, HF_ERR_MISMATCH, HF_SPACE_STREAM, chunk->stream_offset, chunk->number);
	if (j)
		XXH3_freeState(j->state);
	free(j);
	return err;
}

/* ---- a part ---- */

/* Keeps only the bytes of the part, of those that are written to the chunk. */
struct part_sink {
	struct hf_sink sink; /* first; flushed counts from the beginning of the chunk */
	const struct hf_chunk_part *part;
	uint8_t buf[2 * HF_SINK_ROOM];
};

struct part {
	struct hf_enc *enc;
	struct hf_sink count;
	struct part_sink out;
	uint8_t nowhere[2 * HF_SINK_ROOM];
	uint8_t state[HF_STATE_MAX];
};

static int flush_part(struct hf_sink *sink)
{
	const struct part_sink *out = (const struct part_sink *)sink;
	const struct hf_chunk_part *part = out->part;
	const uint64_t start = sink->flushed, end = hf_sink_total(sink), part_end = part->offset + part->size;
	const uint64_t from = start > part->offset ? start : part->offset, to = end < part_end ? end : part_end;

	if (from < to)
		memcpy(part->to + (from - part->offset), sink->start + (from - start), (size_t)(to - from));
	sink->flushed = end;
	sink->p = sink->start;
	return 0;
}

/* Writes events whose bytes are [start, end) of the chunk, from the encoder's state before them. */
static int write_part(struct part *p, size_t state_size, const struct hf_event *ev, size_t n, uint64_t start,
		      uint64_t end)
{
	struct hf_sink *sink = &p->out.sink;
	int err = hf_enc_load(p->enc, p->state, state_size);

	if (err)
		return err;
	*sink = (struct hf_sink){.start = p->out.buf,
				 .p = p->out.buf,
				 .end = p->out.buf + sizeof p->out.buf,
				 .flushed = start,
				 .flush = flush_part};
	hf_enc_put(p->enc, ev, n, sink);
	flush_part(sink);
	return sink->err ? sink->err : sink->flushed == end ? 0 : HF_ERR_MISMATCH;
}

static int take_part(void *ctx, const struct hf_event *ev, size_t n)
{
	struct part *p = ctx;
	const struct hf_chunk_part *part = p->out.part;
	int err = 0;

	while (n && !err) {
		const size_t batch = n < PART_BATCH ? n : PART_BATCH;
		const uint64_t start = hf_sink_total(&p->count);
		const bool passed = start >= part->offset + part->size;
		const size_t state_size = passed ? 0 : hf_enc_save(p->enc, p->state);
		uint64_t end;

		hf_enc_put(p->enc, ev, passed ? n : batch, &p->count);
		if (passed)
			return p->count.err;
		end = hf_sink_total(&p->count);
		err = end > part->offset ? write_part(p, state_size, ev, batch, start, end) : p->count.err;
		ev += batch;
		n -= batch;
	}
	return err;
}

int hf_maker_make_part(struct hf_maker *m, const struct hf_chunk *chunk, const struct hf_enc_env *env,
		       const struct hf_view_chunk *view, const struct hf_chunk_part *part,
		       struct hf_chunk_made *ret_made, uint64_t *ret_size, struct hf_diag *diag)
{
	struct part *p = malloc(sizeof *p);
	struct hf_enc_env counting = *env;
	int err;

	if (!m->memo)
		m->memo = calloc(1, sizeof *m->memo);
	err = p && m->memo ? hf_enc_load(m->enc, view->entry, view->entry_size) : HF_ERR_NOMEM;
	if (!err) {
		counting.memo = m->memo;
		m->enc->env = &counting;
		p->enc = m->enc;
		p->out.part = part;
		hf_sink_init_count(&p->count, p->nowhere, sizeof p->nowhere);
		err = convert_all(m, chunk, take_part, p, ret_made, diag);
		*ret_size = hf_sink_total(&p->count);
		m->enc->env = env;
	} else {
		hf_diag_set(diag, err, HF_SPACE_STREAM, chunk->stream_offset, 0);
	}
	free(p);
	return err;
}

bool hf_view_chunk_has(const struct hf_view_chunk *chunk, const uint8_t *bytes)
{
	XXH3_state_t *state = chunk->checked <= chunk->size ? XXH3_createState() : NULL;
	uint64_t sum = ~chunk->checksum;

	if (state && chunk->checked) {
		XXH3_64bits_reset(state);
		XXH3_64bits_update(state, bytes + (chunk->size - chunk->checked), (size_t)chunk->checked);
		XXH3_64bits_update(state, chunk->entry, chunk->entry_size);
		sum = XXH3_64bits_digest(state);
	} else if (state) {
		sum = 0;
	}
	XXH3_freeState(state);
	return sum == chunk->checksum;
}

bool hf_chunk_made_fits(const struct hf_chunk_made *made, const struct hf_chunk *chunk,
			const struct hf_view_chunk *next)
{
	return hf_digest_equal(&made->digest, &chunk->digest) &&
	       (!next || (made->exit_size == next->entry_size && !memcmp(made->exit, next->entry, next->entry_size)));
}
