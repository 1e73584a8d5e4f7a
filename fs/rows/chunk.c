/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks as they are decoded, kept and found again. */
#include "codecs/base/array.h"
#include "fs/bytes/answer.h"
#include "fs/facts/facts.h"
#include "fs/facts/opened.h"
#include "fs/find/walk.h"
#include "fs/rows/hart.h"
#include "fs/rows/rows.h"

#include <stdlib.h>

void hf_rows_chunk_free(struct hf_rows_chunk *chunk)
{
	free(chunk->event);
	free(chunk->head);
	free(chunk->first);
	free(chunk);
}

static void begin(void *ctx, const struct hf_chunk *from)
{
	struct hf_rows_chunk *chunk = ctx;

	chunk->ordinal = from->ordinal;
}

static int put_head(struct hf_rows_chunk *chunk, const struct hf_event *ev)
{
	struct hf_rows_head head = {.event = (uint32_t)chunk->events};
	int err = hf_array_reserve(&chunk->head, chunk->heads + 1, &chunk->head_room, sizeof head);

	if (!err)
		err = hf_array_reserve(&chunk->first, chunk->insns + 2, &chunk->first_room, sizeof *chunk->first);
	if (err)
		return err;
	if (ev->kind == HF_EVENT_INSN) {
		/* What is before the first instruction of a hart belongs to it. */
		chunk->first[chunk->insns] = chunk->insns ? (uint32_t)chunk->heads : 0;
		chunk->insns++;
	} else if (chunk->heads) {
		head.attempted = ev->kind == HF_EVENT_ATTEMPT || chunk->head[chunk->heads - 1].attempted;
	} else {
		head.attempted = ev->kind == HF_EVENT_ATTEMPT;
	}
	head.insn = chunk->insns ? (uint32_t)(chunk->insns - 1) & 0x7fffffff : 0;
	chunk->head[chunk->heads++] = head;
	return 0;
}

static int put(void *ctx, const struct hf_event *ev)
{
	struct hf_rows_chunk *chunk = ctx;
	int err = chunk->events < HF_ROWS_CHUNK_EVENTS ? 0 : HF_ERR_LIMIT;

	if (!err && ev->kind != HF_EVENT_DATA)
		err = put_head(chunk, ev);
	if (!err)
		err = hf_array_reserve(&chunk->event, chunk->events + 1, &chunk->event_room, sizeof *ev);
	if (!err)
		chunk->event[chunk->events++] = *ev;
	return err;
}

/* Of a hart without instructions, whose events belong to none. */
static int decode_alone(struct hf_cursor *cursor, struct hf_rows_chunk *chunk)
{
	struct hf_event ev[HF_CURSOR_BATCH];
	size_t n;
	int err = hf_cursor_enter(cursor, chunk->number, NULL);

	while (!err && cursor->left) {
		err = hf_cursor_take(cursor, ev, HF_CURSOR_BATCH, &n, NULL);
		for (size_t i = 0; !err && i < n; i++)
			err = put(chunk, &ev[i]);
	}
	return err;
}

int hf_rows_chunk_decode(const struct hf_open *open, struct hf_cursor *cursor, struct hf_rows_chunk *chunk)
{
	const struct hf_facts_hart *facts = hf_facts_hart(open->facts, cursor->hart);
	struct hf_walk *walk;
	int err;

	if (facts && !facts->info.insns)
		return hf_answer_check(open, decode_alone(cursor, chunk));
	walk = malloc(sizeof *walk);

	if (!walk)
		return HF_ERR_NOMEM;
	walk->cursor = cursor;
	walk->begin = begin;
	walk->context = NULL;
	walk->put = put;
	walk->ctx = chunk;
	err = hf_walk_chunk(walk, chunk->number);
	free(walk);
	if (!err && chunk->heads)
		chunk->first[chunk->insns] = (uint32_t)chunk->heads;
	return hf_answer_check(open, err);
}

struct hf_rows_chunk *hf_rows_chunk_new(const struct hf_rows_hart *hart, uint64_t number)
{
	struct hf_rows_chunk *chunk = malloc(sizeof *chunk);

	if (chunk)
		*chunk = (struct hf_rows_chunk){
			.hart = hart->number, .version = hart->open->version, .number = number};
	return chunk;
}

size_t hf_rows_chunk_size(const struct hf_rows_chunk *chunk)
{
	return chunk->event_room * sizeof *chunk->event + chunk->head_room * sizeof *chunk->head +
	       chunk->first_room * sizeof *chunk->first;
}

struct hf_rows_chunk *hf_rows_chunk_find(struct hf_rows_session *session, const struct hf_rows_hart *hart,
					 uint64_t number)
{
	for (struct hf_link *link = session->chunks.next; link != &session->chunks; link = link->next) {
		struct hf_rows_chunk *chunk = HF_OWNER(link, struct hf_rows_chunk, used);

		if (chunk->hart != hart->number || chunk->version != hart->open->version || chunk->number != number)
			continue;
		hf_link_remove(&chunk->used);
		hf_link_add(&session->chunks, &chunk->used);
		chunk->refs++;
		return chunk;
	}
	return NULL;
}

void hf_rows_chunk_keep(struct hf_rows_session *session, struct hf_rows_chunk *chunk)
{
	hf_rows_chunk_drop(session, HF_ROWS_CHUNKS_KEPT - 1);
	session->chunk_count++;
	hf_link_add(&session->chunks, &chunk->used);
	chunk->refs++;
}

int hf_rows_chunk_get(struct hf_rows_session *session, struct hf_rows_hart *hart, uint64_t number,
		      struct hf_rows_chunk **ret_chunk)
{
	struct hf_rows_chunk *chunk = hf_rows_chunk_new(hart, number);
	int err;

	if (!chunk)
		return HF_ERR_NOMEM;
	/* Memory of those that nobody reads is free for this one. */
	hf_rows_chunk_drop(session, HF_ROWS_CHUNKS_KEPT - 1);
	err = hf_rows_chunk_decode(hart->open, &hart->cursor, chunk);
	if (err) {
		hf_rows_chunk_free(chunk);
		return err;
	}
	hf_rows_chunk_keep(session, chunk);
	*ret_chunk = chunk;
	return 0;
}

void hf_rows_chunk_put(struct hf_rows_session *session, struct hf_rows_chunk *chunk)
{
	chunk->refs--;
	hf_rows_chunk_drop(session, HF_ROWS_CHUNKS_KEPT);
}

void hf_rows_chunk_drop(struct hf_rows_session *session, size_t keep)
{
	for (struct hf_link *link = session->chunks.prev, *newer; link != &session->chunks; link = newer) {
		struct hf_rows_chunk *chunk = HF_OWNER(link, struct hf_rows_chunk, used);

		newer = link->prev;
		if (chunk->refs || session->chunk_count <= keep)
			continue;
		hf_link_remove(link);
		session->chunk_count--;
		hf_rows_chunk_free(chunk);
	}
}
