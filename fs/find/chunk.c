/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/chunk.h"

#include <stdlib.h>

void hf_find_chunk_fini(struct hf_find_chunk *chunk)
{
	free(chunk->items.item);
	free(chunk->text);
	free(chunk->line);
	*chunk = (struct hf_find_chunk){0};
}

static void attach(struct hf_find_reader *r, struct hf_cursor *cursor)
{
	const struct hf_open *open = r->source->open;

	if (!cursor->stream)
		*cursor = (struct hf_cursor){
			.stream = open->stream, .src = open->source, .index = open->index, .hart = r->source->hart};
}

void hf_find_reader_fini(struct hf_find_reader *reader)
{
	hf_cursor_fini(&reader->cursor);
	hf_cursor_fini(&reader->before);
}

/* Whether the instruction was entered by a call: what is before it tells, which may be in another chunk. */
static enum hf_verdict before_called(void *ctx, uint64_t ordinal)
{
	struct hf_find_reader *r = ctx;
	struct hf_event ev;
	enum hf_verdict called = HF_NO;
	size_t n;

	if (!ordinal)
		return HF_NO;
	attach(r, &r->before);
	r->err = hf_cursor_seek(&r->before, ordinal - 1, &ev, NULL);
	r->decoded++;
	while (!r->err) {
		const enum hf_verdict v = hf_match_calls(&ev);

		called = v == HF_PERHAPS ? called : v;
		if (!r->before.left)
			r->err = hf_cursor_advance(&r->before, NULL);
		while (!r->err && !r->before.left)
			r->err = hf_cursor_advance(&r->before, NULL);
		if (!r->err)
			r->err = hf_cursor_take(&r->before, &ev, 1, &n, NULL);
		if (!r->err && ev.kind == HF_EVENT_INSN)
			return called;
	}
	return HF_NO;
}

/* Events of the chunk at hand, or of the next one that has any; HF_NOTE_END. */
static int take(struct hf_find_reader *r, size_t max, size_t *ret_n)
{
	int err = 0;

	while (!err && !r->cursor.left)
		err = hf_cursor_advance(&r->cursor, NULL);
	return err ? err : hf_cursor_take(&r->cursor, r->ev, max, ret_n, NULL);
}

/* Passes over what belongs to the chunk before; the first instruction of the chunk is put, with its context. */
static int put_first(struct hf_find_reader *r, struct hf_match *m)
{
	struct hf_event begin[HF_BEGIN_EVENTS];
	size_t n;
	int err;

	do
		err = take(r, 1, &n);
	while (!err && r->ev[0].kind != HF_EVENT_INSN);
	if (err)
		return err;
	n = hf_dec_begin(r->cursor.dec, &r->ev[0], m->ordinal, begin);
	for (size_t i = 0; i < n; i++)
		if (begin[i].kind == HF_EVENT_CONTEXT)
			hf_run_context_put(&m->context, &begin[i]);
	hf_match_put(m, &r->ev[0]);
	return 0;
}

/* Up to the first instruction with that ordinal, or the end of the hart. */
static int put_rest(struct hf_find_reader *r, struct hf_match *m, uint64_t end)
{
	size_t n;
	int err = 0;

	while (!err && !m->err && !(err = take(r, HF_CURSOR_BATCH, &n)))
		for (size_t i = 0; i < n; i++) {
			if (r->ev[i].kind == HF_EVENT_INSN && m->ordinal == end)
				return 0;
			hf_match_put(m, &r->ev[i]);
		}
	/* The index has promised so many. */
	return err == HF_NOTE_END ? (m->ordinal == end ? 0 : HF_ERR_MISMATCH) : err;
}

/* Chunk 0 and those before the first instruction tell what belongs to that. */
static int match_chunk(struct hf_find_reader *r, uint64_t number, struct hf_match *m)
{
	uint64_t end;
	int err = hf_cursor_enter(&r->cursor, number, NULL);

	if (err || !r->cursor.chunk.insns)
		return err;
	end = r->cursor.chunk.ordinal + r->cursor.chunk.insns;
	m->ordinal = r->cursor.chunk.ordinal;
	m->called = m->ordinal ? HF_PERHAPS : HF_NO;
	m->context_known = true;
	r->decoded++;
	if (!m->ordinal && number)
		err = hf_cursor_enter(&r->cursor, 0, NULL);
	if (!err && m->ordinal)
		err = put_first(r, m);
	return err ? err : put_rest(r, m, end);
}

int hf_find_chunk(struct hf_find_reader *reader, uint64_t number, struct hf_worker *worker,
		  struct hf_find_chunk *ret_chunk)
{
	struct hf_match match = {.terms = reader->source->terms,
				 .disasm = worker->env.disasm,
				 .items = &ret_chunk->items,
				 .before_called = before_called,
				 .ctx = reader};
	int err;

	*ret_chunk = (struct hf_find_chunk){0};
	reader->decoded = 0;
	reader->err = 0;
	attach(reader, &reader->cursor);
	err = match_chunk(reader, number, &match);
	if (!err)
		err = hf_match_end(&match);
	if (!err)
		err = reader->err;
	if (!err && ret_chunk->items.yes && reader->source->listing.ops)
		err = hf_find_lines(reader->source, number, worker, ret_chunk);
	ret_chunk->decoded = reader->decoded;
	if (!err)
		return 0;
	hf_find_chunk_fini(ret_chunk);
	return err == HF_NOTE_END ? HF_ERR_MISMATCH : err;
}
