/* SPDX-License-Identifier: Apache-2.0 */
#include "index/read/slice_encoder.h"

#include "index/read/cursor.h"

#include <stdlib.h>

struct hf_slice_encoder {
	struct hf_slice_encoder_ask ask;
	struct hf_cursor cursor; /* with the maker's decoder */
	struct hf_enc *enc;	 /* the maker's */
	uint64_t ordinal;	 /* of the next instruction */
	bool begins;		 /* ev[0], the first instruction, is still to be encoded */
	struct hf_event ev[HF_CURSOR_BATCH];
};

/* Encodes the first instruction, after what the encoder must know of those before it. */
static void put_first(struct hf_slice_encoder *c, struct hf_sink *sink)
{
	struct hf_event begin[HF_BEGIN_EVENTS];
	const size_t n = hf_dec_begin(c->cursor.dec, &c->ev[0], c->ask.first, begin);

	hf_enc_put(c->enc, begin, n, sink);
	hf_enc_put(c->enc, c->ev, 1, sink);
	c->begins = false;
}

/* How many of the n events belong to the slice. It ends before the instruction behind its last one. */
static size_t count_ours(struct hf_slice_encoder *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (c->ev[i].kind != HF_EVENT_INSN)
			continue;
		if (c->ordinal > c->ask.last)
			return i;
		c->ordinal++;
	}
	return n;
}

/* Encodes up to max events of the present chunk. HF_NOTE_END: not all of them belong to the slice. */
static int put_some(struct hf_slice_encoder *c, size_t max, struct hf_sink *sink, struct hf_diag *diag)
{
	size_t n, ours;
	int err = hf_cursor_take(&c->cursor, c->ev, max, &n, diag);

	if (err)
		return err;
	ours = count_ours(c, n);
	hf_enc_put(c->enc, c->ev, ours, sink);
	return ours < n ? HF_NOTE_END : 0;
}

int hf_slice_encoder_next(struct hf_slice_encoder *c, const struct hf_enc_env *env, struct hf_sink *sink,
			  struct hf_diag *diag)
{
	int err = 0;

	c->enc->env = env;
	if (c->begins)
		put_first(c, sink);
	while (!err && c->cursor.left && !sink->err)
		err = put_some(c, HF_CURSOR_BATCH, sink, diag);
	if (!err && c->cursor.chunk.last)
		err = HF_NOTE_END;
	if (err == HF_NOTE_END)
		hf_enc_end(c->enc, sink);
	if (err >= 0 && sink->err)
		return hf_diag_set(diag, sink->err, HF_SPACE_STREAM, HF_NOWHERE, 0);
	return err ? err : hf_cursor_advance(&c->cursor, diag);
}

/* The bytes up to where the line ends that is open: its end is made with the line behind it. */
static uint64_t count_lines(const struct hf_slice_encoder *c, const struct hf_sink *sink)
{
	return hf_sink_total(sink) + (c->enc->ops->owes ? c->enc->ops->owes(c->enc) : 0);
}

int hf_slice_encoder_find(struct hf_slice_encoder *c, const struct hf_enc_env *env, uint64_t offset,
			  uint64_t *ret_ordinal, struct hf_diag *diag)
{
	uint8_t buf[2 * HF_SINK_ROOM];
	struct hf_sink sink;
	int err = 0;

	c->enc->env = env;
	hf_sink_init_count(&sink, buf, sizeof buf);
	if (c->begins)
		put_first(c, &sink);
	while (!err && c->cursor.left && count_lines(c, &sink) <= offset)
		err = put_some(c, 1, &sink, diag);
	*ret_ordinal = c->ordinal > c->ask.first ? c->ordinal - 1 : c->ask.first;
	return err < 0 ? err : 0;
}

size_t hf_slice_encoder_save(const struct hf_slice_encoder *c, uint8_t *blob)
{
	return hf_enc_save(c->enc, blob);
}

/* Goes to the first event of the slice. Events before the first instruction of a hart belong to that. */
static int enter(struct hf_slice_encoder *c, bool start, uint64_t *number, struct hf_diag *diag)
{
	int err;

	c->begins = start && c->ask.first;
	if (c->begins)
		err = hf_cursor_seek(&c->cursor, c->ask.first, &c->ev[0], diag);
	else
		err = hf_cursor_enter(&c->cursor, start ? 0 : *number, diag);
	*number = c->cursor.chunk.number;
	c->ordinal = c->begins ? c->ask.first + 1 : c->cursor.chunk.ordinal;
	return err;
}

int hf_slice_encoder_new(const struct hf_slice_encoder_ask *ask, const struct hf_enc_env *env, const uint8_t *entry,
			 size_t entry_size, uint64_t *ret_number, struct hf_slice_encoder **ret_encoder,
			 struct hf_diag *diag)
{
	struct hf_slice_encoder *c = calloc(1, sizeof *c);
	int err;

	*ret_encoder = NULL;
	if (!c)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_STREAM, HF_NOWHERE, 0);
	c->ask = *ask;
	c->enc = ask->maker->enc;
	c->cursor = (struct hf_cursor){.index = ask->index, .dec = ask->maker->dec, .hart = ask->maker->dec->hart};
	err = enter(c, !entry, ret_number, diag);
	if (!err) {
		err = entry ? hf_enc_load(c->enc, entry, entry_size) : hf_enc_reset(c->enc, env);
		if (err)
			hf_diag_set(diag, err, HF_SPACE_STREAM, c->cursor.chunk.stream_offset, 0);
	}
	if (err)
		hf_slice_encoder_free(c);
	else
		*ret_encoder = c;
	return err;
}

void hf_slice_encoder_free(struct hf_slice_encoder *c)
{
	free(c);
}
