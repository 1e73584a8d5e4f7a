/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/walk.h"

/* Events of the chunk at hand, or of the next one that has any; HF_NOTE_END. */
static int take(struct hf_walk *w, size_t max, size_t *ret_n)
{
	int err = 0;

	while (!err && !w->cursor->left)
		err = hf_cursor_advance(w->cursor, NULL);
	return err ? err : hf_cursor_take(w->cursor, w->ev, max, ret_n, NULL);
}

/* Passes over what belongs to the chunk before; the first instruction of the chunk is put, with its context. */
static int put_first(struct hf_walk *w, uint64_t ordinal)
{
	struct hf_event begin[HF_BEGIN_EVENTS];
	size_t n;
	int err;

	do
		err = take(w, 1, &n);
	while (!err && w->ev[0].kind != HF_EVENT_INSN);
	if (err)
		return err;
	n = w->context ? hf_dec_begin(w->cursor->dec, &w->ev[0], ordinal, begin) : 0;
	for (size_t i = 0; i < n; i++)
		if (begin[i].kind == HF_EVENT_CONTEXT)
			w->context(w->ctx, &begin[i]);
	return w->put(w->ctx, &w->ev[0]);
}

/* Up to the first instruction with that ordinal, or the end of the hart. */
static int put_rest(struct hf_walk *w, uint64_t ordinal, uint64_t end)
{
	size_t n;
	int err = 0;

	while (!err && !(err = take(w, HF_CURSOR_BATCH, &n)))
		for (size_t i = 0; i < n && !err; i++) {
			const bool insn = w->ev[i].kind == HF_EVENT_INSN;

			if (insn && ordinal == end)
				return 0;
			ordinal += insn;
			err = w->put(w->ctx, &w->ev[i]);
		}
	/* The index has promised so many. */
	return err == HF_NOTE_END ? (ordinal == end ? 0 : HF_ERR_MISMATCH) : err;
}

/* Chunk 0 and those before the first instruction tell what belongs to that. */
int hf_walk_chunk(struct hf_walk *walk, uint64_t number)
{
	int err = hf_cursor_enter(walk->cursor, number, NULL);
	const uint64_t ordinal = walk->cursor->chunk.ordinal, end = ordinal + walk->cursor->chunk.insns;

	if (err || ordinal == end)
		return err;
	if (walk->begin)
		walk->begin(walk->ctx, &walk->cursor->chunk);
	if (!ordinal && number)
		err = hf_cursor_enter(walk->cursor, 0, NULL);
	if (!err && ordinal)
		err = put_first(walk, ordinal);
	if (!err)
		err = put_rest(walk, ordinal + (ordinal ? 1 : 0), end);
	return err == HF_NOTE_END ? HF_ERR_MISMATCH : err;
}
