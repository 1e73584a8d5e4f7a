/* SPDX-License-Identifier: Apache-2.0 */
#include "index/index.h"

#define BATCH 512

/* What of a decoder's error is the index's fault: a chunk that was indexed cannot be damaged, only changed. */
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

static int convert(const struct hf_maker *m, const struct hf_chunk *chunk, struct hf_sink *sink, struct hf_diag *diag)
{
	struct hf_event ev[BATCH];
	uint64_t left = chunk->events;
	int err;

	err = hf_dec_load(m->dec, chunk->entry, chunk->entry_size, chunk->discard);
	if (err)
		return decode_error(m->dec, err, chunk, diag);
	while (left && !sink->err) {
		size_t n;

		err = hf_dec_next(m->dec, ev, left < BATCH ? (size_t)left : BATCH, &n);
		if (err)
			return decode_error(m->dec, err, chunk, diag);
		hf_enc_put(m->enc, ev, n, sink);
		left -= n;
	}
	if (chunk->last)
		hf_enc_end(m->enc, sink);
	return sink->err ? hf_diag_set(diag, sink->err, HF_SPACE_STREAM, HF_NOWHERE, 0) : 0;
}

int hf_maker_init(struct hf_maker *m, const struct hf_stream *stream, struct hf_src *src, uint32_t hart,
		  const struct hf_view_key *key, const struct hf_enc_env *env)
{
	int err = hf_dec_new(stream, src, hart, &m->dec);

	m->enc = NULL;
	if (!err)
		err = hf_enc_new(key->ops, stream, hart, env, &m->enc);
	if (err)
		hf_maker_fini(m);
	return err;
}

void hf_maker_fini(struct hf_maker *m)
{
	hf_enc_free(m->enc);
	hf_dec_free(m->dec);
	*m = (struct hf_maker){0};
}

int hf_maker_make(struct hf_maker *m, const struct hf_chunk *chunk, const struct hf_enc_env *env,
		  const uint8_t *view_entry, size_t view_entry_size, struct hf_sink *sink, struct hf_diag *diag)
{
	int err = hf_enc_load(m->enc, view_entry, view_entry_size);

	m->enc->env = env;
	if (err)
		return hf_diag_set(diag, err, HF_SPACE_STREAM, chunk->stream_offset, 0);
	return convert(m, chunk, sink, diag);
}
