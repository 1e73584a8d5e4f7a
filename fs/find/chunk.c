/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/chunk.h"
#include "fs/facts/opened.h"

#include <stdlib.h>

void hf_find_chunk_fini(struct hf_find_chunk *chunk)
{
	free(chunk->items.item);
	free(chunk->text);
	free(chunk->line);
	*chunk = (struct hf_find_chunk){0};
}

static struct hf_cursor *attach(struct hf_find_reader *r, struct hf_cursor *cursor)
{
	const struct hf_open *open = r->source->open;

	if (!r->limit.blocks) {
		hf_read_limit_init(&r->limit, open->source);
		r->limit.through = true;
	}
	if (!cursor->stream)
		*cursor = (struct hf_cursor){
			.stream = open->stream, .src = &r->limit.src, .index = open->index, .hart = r->source->hart};
	return cursor;
}

struct hf_cursor *hf_find_reader_cursor(struct hf_find_reader *reader)
{
	return attach(reader, &reader->cursor);
}

void hf_find_reader_fini(struct hf_find_reader *reader)
{
	hf_cursor_fini(&reader->cursor);
	hf_cursor_fini(&reader->before);
}

/* Whether a call leads to the instruction: what is before it tells, which may be in another chunk. */
static enum hf_verdict before_called(void *ctx, uint64_t ordinal, struct hf_stub *ret_stub)
{
	struct hf_find_reader *r = ctx;
	uint64_t at = ordinal > HF_STUB_INSNS ? ordinal - HF_STUB_INSNS : 0;
	struct hf_event ev;
	enum hf_verdict called = HF_NO;
	size_t n;

	*ret_stub = (struct hf_stub){.called = false};
	if (!ordinal)
		return HF_NO;
	attach(r, &r->before);
	r->err = hf_cursor_seek(&r->before, at, &ev, NULL);
	r->decoded++;
	while (!r->err) {
		const enum hf_verdict v = hf_match_calls(ret_stub, &ev);

		called = v == HF_PERHAPS ? called : v;
		if (!r->before.left)
			r->err = hf_cursor_advance(&r->before, NULL);
		while (!r->err && !r->before.left)
			r->err = hf_cursor_advance(&r->before, NULL);
		if (!r->err)
			r->err = hf_cursor_take(&r->before, &ev, 1, &n, NULL);
		if (!r->err && ev.kind == HF_EVENT_INSN && ++at == ordinal)
			return called;
	}
	return HF_NO;
}

struct matching {
	struct hf_match match;
	struct hf_find_reader *reader;
};

static void begin(void *ctx, const struct hf_chunk *chunk)
{
	struct matching *m = ctx;

	m->match.ordinal = m->match.first = chunk->ordinal;
	m->match.called = chunk->ordinal ? HF_PERHAPS : HF_NO;
	m->match.stub_open = chunk->ordinal;
	m->match.context_known = true;
	m->reader->decoded++;
}

static void set_context(void *ctx, const struct hf_event *ev)
{
	struct matching *m = ctx;

	hf_run_context_put(&m->match.context, ev);
}

static int put(void *ctx, const struct hf_event *ev)
{
	struct matching *m = ctx;

	hf_match_put(&m->match, ev);
	return m->match.err;
}

int hf_find_chunk(struct hf_find_reader *reader, uint64_t number, struct hf_worker *worker,
		  struct hf_find_chunk *ret_chunk)
{
	struct matching m = {.reader = reader,
			     .match = {.predicates = reader->source->predicates,
				       .disasm = worker->env.disasm,
				       .items = &ret_chunk->items,
				       .before_called = before_called,
				       .ctx = reader}};
	int err;

	*ret_chunk = (struct hf_find_chunk){0};
	reader->decoded = 0;
	reader->err = 0;
	reader->walk.cursor = hf_find_reader_cursor(reader);
	reader->walk.begin = begin;
	reader->walk.context = set_context;
	reader->walk.put = put;
	reader->walk.ctx = &m;
	err = hf_walk_chunk(&reader->walk, number);
	if (!err)
		err = hf_match_end(&m.match);
	if (!err)
		err = reader->err;
	if (!err && ret_chunk->items.yes && reader->source->listing.ops)
		err = hf_find_lines(reader->source, number, worker, ret_chunk);
	ret_chunk->decoded = reader->decoded;
	if (!err)
		return 0;
	hf_find_chunk_fini(ret_chunk);
	return err;
}
