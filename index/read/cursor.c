/* SPDX-License-Identifier: Apache-2.0 */
#include "index/read/cursor.h"

#include "index/read/decode_index.h"

/* The error for one of a decoder: an indexed chunk was good, so damage means that the index is of another file. */
static int decode_error(const struct hf_cursor *c, int err, struct hf_diag *diag)
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

static int index_error(int err, struct hf_diag *diag)
{
	return hf_diag_set(diag, err == HF_ERR_NOMEM ? err : HF_ERR_MISMATCH, HF_SPACE_STREAM, HF_NOWHERE, 0);
}

/* The decoder enters the present chunk. */
static int load(struct hf_cursor *c, struct hf_diag *diag)
{
	int err = c->dec ? 0 : hf_dec_new(c->stream, c->src, c->hart, &c->dec);

	if (err) {
		c->dec = NULL;
		return hf_diag_set(diag, err, HF_SPACE_STREAM, c->chunk.stream_offset, 0);
	}
	c->left = c->chunk.events;
	err = hf_dec_load(c->dec, c->chunk.entry, c->chunk.entry_size, c->chunk.discard);
	return err ? decode_error(c, err, diag) : 0;
}

int hf_cursor_enter(struct hf_cursor *c, uint64_t number, struct hf_diag *diag)
{
	int err = hf_index_chunk(c->index, c->hart, number, &c->chunk);

	return err ? index_error(err, diag) : load(c, diag);
}

int hf_cursor_take(struct hf_cursor *c, struct hf_event *ev, uint64_t max, size_t *ret_n, struct hf_diag *diag)
{
	int err;

	if (max > c->left)
		max = c->left;
	*ret_n = 0;
	err = max ? hf_dec_next(c->dec, ev, (size_t)max, ret_n) : HF_ERR_MISMATCH;
	c->left -= *ret_n;
	return err ? decode_error(c, err, diag) : 0;
}

int hf_cursor_seek(struct hf_cursor *c, uint64_t ordinal, struct hf_event *ret_insn, struct hf_diag *diag)
{
	struct hf_event ev[HF_CURSOR_BATCH];
	int err = hf_index_chunk_of(c->index, c->hart, ordinal, &c->chunk);
	uint64_t pass;
	size_t n;

	if (err)
		return index_error(err, diag);
	pass = ordinal - c->chunk.ordinal;
	err = load(c, diag);
	/* As many events at a time as there are instructions to pass: never too many. */
	while (!err && pass) {
		err = hf_cursor_take(c, ev, pass < HF_CURSOR_BATCH ? pass : HF_CURSOR_BATCH, &n, diag);
		for (size_t i = 0; !err && i < n; i++)
			pass -= ev[i].kind == HF_EVENT_INSN;
	}
	do
		err = err ? err : hf_cursor_take(c, ret_insn, 1, &n, diag);
	while (!err && ret_insn->kind != HF_EVENT_INSN);
	return err;
}

int hf_cursor_advance(struct hf_cursor *c, struct hf_diag *diag)
{
	int err;

	if (c->chunk.last)
		return HF_NOTE_END;
	err = hf_index_chunk(c->index, c->hart, c->chunk.number + 1, &c->chunk);
	if (err)
		return index_error(err, diag);
	if (hf_dec_is_marked(c->chunk.entry, c->chunk.entry_size))
		return load(c, diag);
	c->left = c->chunk.events;
	return 0;
}

void hf_cursor_fini(struct hf_cursor *c)
{
	hf_dec_free(c->dec);
	c->dec = NULL;
}
