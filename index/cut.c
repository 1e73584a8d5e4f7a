/* SPDX-License-Identifier: Apache-2.0 */
#include "index/cut.h"

#include <stdlib.h>

#define BATCH 512

struct hf_cutter {
	struct hf_cut cut;
	struct hf_dec *dec;
	struct hf_enc *enc;
	struct hf_enc_env env; /* what the encoder is made with */
	uint64_t ordinal;      /* of the next instruction */
	uint64_t left;         /* events of the chunk at hand */
	bool seeking;          /* the first instruction is still to be found */
	struct hf_chunk chunk; /* at hand */
	struct hf_event ev[BATCH];
};

/* What of a decoder's error is the index's fault: see hf_chunk_make. */
static int decode_error(struct hf_cutter *c, int err, struct hf_diag *diag)
{
	if (err < 0 && hf_err_class(err) == HF_CLASS_io) {
		if (diag)
			*diag = c->dec->diag;
		return err;
	}
	if (err == HF_ERR_NOMEM || err == HF_ERR_CHANGED || err == HF_ERR_CANCELLED)
		return hf_diag_set(diag, err, HF_SPACE_STREAM, c->chunk.stream_offset, 0);
	return hf_diag_set(diag, HF_ERR_MISMATCH, HF_SPACE_STREAM, c->chunk.stream_offset, c->chunk.number);
}

/* At most max events of the chunk at hand. */
static int take(struct hf_cutter *c, uint64_t max, size_t *ret_n, struct hf_diag *diag)
{
	int err;

	if (max > BATCH)
		max = BATCH;
	if (max > c->left)
		max = c->left;
	*ret_n = 0;
	err = max ? hf_dec_next(c->dec, c->ev, (size_t)max, ret_n) : HF_ERR_MISMATCH;
	c->left -= *ret_n;
	return err ? decode_error(c, err, diag) : 0;
}

/* Passes over what is before the first instruction, and begins with it. */
static int seek_first(struct hf_cutter *c, struct hf_sink *sink, struct hf_diag *diag)
{
	struct hf_event begin[HF_BEGIN_EVENTS];
	uint64_t pass = c->cut.first - c->chunk.ordinal;
	size_t n;
	int err;

	/* As many events as instructions at a time: that is never too many. */
	while (pass) {
		err = take(c, pass, &n, diag);
		if (err)
			return err;
		for (size_t i = 0; i < n; i++)
			pass -= c->ev[i].kind == HF_EVENT_INSN;
	}
	do {
		err = take(c, 1, &n, diag);
		if (err)
			return err;
	} while (c->ev[0].kind != HF_EVENT_INSN);
	n = hf_dec_begin(c->dec, &c->ev[0], c->cut.first, begin);
	hf_enc_put(c->enc, begin, n, sink);
	hf_enc_put(c->enc, c->ev, 1, sink);
	c->ordinal = c->cut.first + 1;
	c->seeking = false;
	return 0;
}

/* How many of the n events belong to the slice: what follows its last instruction does, up to the next one. */
static size_t count_ours(struct hf_cutter *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (c->ev[i].kind != HF_EVENT_INSN)
			continue;
		if (c->ordinal > c->cut.last)
			return i;
		c->ordinal++;
	}
	return n;
}

static int open_chunk(struct hf_cutter *c, uint64_t number, struct hf_diag *diag)
{
	int err = hf_index_chunk(c->cut.index, c->cut.hart, number, &c->chunk);

	if (err)
		return hf_diag_set(diag, err == HF_ERR_NOMEM ? err : HF_ERR_MISMATCH, HF_SPACE_STREAM, HF_NOWHERE, 0);
	c->left = c->chunk.events;
	return 0;
}

int hf_cutter_next(struct hf_cutter *c, const struct hf_enc_env *env, struct hf_sink *sink, struct hf_diag *diag)
{
	int err = 0;

	c->enc->env = env;
	if (c->seeking)
		err = seek_first(c, sink, diag);
	while (!err && c->left && !sink->err) {
		size_t n, ours;

		err = take(c, BATCH, &n, diag);
		if (err)
			break;
		ours = count_ours(c, n);
		hf_enc_put(c->enc, c->ev, ours, sink);
		if (ours < n) {
			hf_enc_end(c->enc, sink);
			err = HF_NOTE_END;
		}
	}
	if (!err && c->chunk.last) {
		hf_enc_end(c->enc, sink);
		err = HF_NOTE_END;
	}
	if (err >= 0 && sink->err)
		return hf_diag_set(diag, sink->err, HF_SPACE_STREAM, HF_NOWHERE, 0);
	return err ? err : open_chunk(c, c->chunk.number + 1, diag);
}

size_t hf_cutter_save(const struct hf_cutter *c, uint8_t *blob)
{
	return hf_enc_save(c->enc, blob);
}

/* The chunk to begin with. What is before the first instruction of a hart belongs to it. */
static int find_chunk(struct hf_cutter *c, bool start, uint64_t *number, struct hf_diag *diag)
{
	int err;

	c->seeking = start && c->cut.first;
	if (c->seeking) {
		err = hf_index_chunk_of(c->cut.index, c->cut.hart, c->cut.first, &c->chunk);
		if (err)
			return hf_diag_set(diag, err == HF_ERR_NOMEM ? err : HF_ERR_MISMATCH, HF_SPACE_STREAM,
					   HF_NOWHERE, 0);
		*number = c->chunk.number;
		c->left = c->chunk.events;
	} else {
		err = open_chunk(c, start ? 0 : *number, diag);
		*number = c->chunk.number;
	}
	c->ordinal = c->chunk.ordinal;
	return err;
}

int hf_cutter_new(const struct hf_cut *cut, const uint8_t *entry, size_t entry_size, uint64_t *ret_number,
		  struct hf_cutter **ret_cutter, struct hf_diag *diag)
{
	struct hf_cutter *c = calloc(1, sizeof *c);
	int err;

	*ret_cutter = NULL;
	if (!c)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_STREAM, HF_NOWHERE, 0);
	c->cut = *cut;
	c->env.params = cut->params;
	err = find_chunk(c, !entry, ret_number, diag);
	if (!err) {
		err = hf_dec_new(cut->stream, cut->src, cut->hart, &c->dec);
		if (!err)
			err = hf_enc_new(cut->ops, cut->stream, cut->hart, &c->env, &c->enc);
		if (!err && entry)
			err = hf_enc_load(c->enc, entry, entry_size);
		if (err)
			hf_diag_set(diag, err, HF_SPACE_STREAM, c->chunk.stream_offset, 0);
	}
	if (!err) {
		err = hf_dec_load(c->dec, c->chunk.entry, c->chunk.entry_size, c->chunk.discard);
		if (err)
			err = decode_error(c, err, diag);
	}
	if (err)
		hf_cutter_free(c);
	else
		*ret_cutter = c;
	return err;
}

void hf_cutter_free(struct hf_cutter *c)
{
	if (!c)
		return;
	hf_enc_free(c->enc);
	hf_dec_free(c->dec);
	free(c);
}
