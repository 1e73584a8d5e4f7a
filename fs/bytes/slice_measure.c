/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring one view of a slice: how long it is, and where it can be entered. */
#include "codecs/base/array.h"
#include "fs/bytes/kinds.h"
#include "fs/bytes/slice_parts.h"
#include "fs/facts/facts.h"
#include "fs/facts/queue.h"

#include <stdio.h>
#include <stdlib.h>

/* Places at which a view can be entered; of a longer slice every second, fourth... chunk is one. */
enum { MARKS_MAX = 4096 };
/* A step of a long one. */
#define STEP_NS (INT64_C(20) * 1000000)

/* ---- lines: a part of the whole ---- */

void hf_slice_whole(const struct hf_slice *slice, const struct hf_facts *facts, size_t view, struct hf_bytes *ret_bytes)
{
	hf_bytes_of_view(slice->capture, facts, slice->hart, view, ret_bytes);
}

/* The offset in its chunk of the line of an instruction; HF_NOWHERE if it has none. */
static uint64_t find_line(const uint8_t *bytes, size_t size, bool at_start, uint64_t ordinal)
{
	char text[32];
	size_t n = (size_t)snprintf(text, sizeof text, "\n%llu ", (unsigned long long)ordinal);
	const uint8_t *found;

	if (at_start && size >= n - 1 && memcmp(bytes, text + 1, n - 1) == 0)
		return 0;
	found = memmem(bytes, size, text, n);
	return found ? (uint64_t)(found - bytes) + 1 : HF_NOWHERE;
}

/* The line of an instruction in the chunk that view_at is about. What is made for that goes into the cache. */
static int find_in_chunk(struct hf_measure *m, const struct hf_bytes *whole, uint64_t ordinal, struct hf_worker *worker,
			 uint64_t *ret_offset)
{
	struct hf_cache *cache = m->slice->capture->common->cache;
	const struct hf_cache_key key = {whole->owner, m->view_at.number};
	const bool start = m->view_at.offset == 0;
	struct hf_cache_block *block;
	uint8_t *bytes;
	size_t size;
	int err;
	enum hf_cache_answer answer = hf_cache_acquire(cache, key, NULL, &block, &err);

	if (answer == HF_CACHE_ERROR)
		return err;
	if (answer == HF_CACHE_HIT) {
		*ret_offset = find_line(block->bytes, block->size, start, ordinal);
		hf_cache_unpin(cache, block);
		return 0;
	}
	/* PENDING: to wait for it here could be to wait for ourselves. */
	err = hf_bytes_make(whole, m->view_at.number, worker, &bytes, &size);
	/* What was damaged is being made again. */
	if (err == HF_ERR_STATE)
		err = HF_ERR_CANCELLED;
	if (!err)
		*ret_offset = find_line(bytes, size, start, ordinal);
	if (answer == HF_CACHE_MAKE && err)
		hf_cache_fail(cache, block, err);
	else if (answer == HF_CACHE_MAKE)
		hf_cache_fill(cache, block, bytes, size);
	else if (!err)
		free(bytes);
	return err;
}

/* Where in the whole the line of an instruction begins: ordinal may be that behind the hart's last. */
static int find_offset(struct hf_measure *m, const struct hf_bytes *whole, uint64_t ordinal, struct hf_worker *worker,
		       uint64_t *ret_offset)
{
	const struct hf_facts_hart *hart = hf_facts_hart(m->open->facts, whole->hart);
	uint64_t offset = HF_NOWHERE;
	int err;

	/* What is before the first instruction or behind the last belongs to them. */
	*ret_offset = ordinal ? whole->size : 0;
	if (!ordinal || ordinal == hart->info.insns)
		return 0;
	/* It is being made again. */
	if (!m->open->table[whole->view]) {
		hf_capture_repair(whole->capture, whole->version);
		return HF_ERR_CANCELLED;
	}
	err = hf_index_chunk_of(m->open->index, whole->hart, ordinal, &m->at);
	if (!err)
		err = hf_view_table_chunk(m->open->table[whole->view], whole->hart, m->at.number, &m->view_at);
	if (err)
		return err == HF_ERR_NOT_FOUND ? HF_ERR_MISMATCH : err;
	err = find_in_chunk(m, whole, ordinal, worker, &offset);
	if (!err && offset == HF_NOWHERE)
		err = HF_ERR_MISMATCH;
	*ret_offset = m->view_at.offset + offset;
	return err;
}

int hf_measure_lines(struct hf_measure *m, struct hf_worker *worker)
{
	struct hf_bytes whole;
	uint64_t end = 0;
	int err;

	hf_slice_whole(m->slice, m->open->facts, m->view, &whole);
	err = find_offset(m, &whole, m->slice->first, worker, &m->part.base);
	if (!err)
		err = find_offset(m, &whole, m->slice->last + 1, worker, &end);
	if (!err && end < m->part.base)
		err = HF_ERR_MISMATCH;
	if (!err)
		m->part.size = end - m->part.base;
	return err;
}

/* ---- other views: encoded anew ---- */

/* Every second mark is enough. */
static void thin(struct hf_slice_part *part)
{
	size_t n = 0;

	for (size_t i = 0; i < part->marks; i++)
		if (i % 2)
			free(part->mark[i].entry);
		else
			part->mark[n++] = part->mark[i];
	part->marks = n;
	part->stride *= 2;
}

/* Notes where the encoder stands, at the start of a chunk. */
static int add_mark(struct hf_measure *m)
{
	struct hf_slice_part *part = &m->part;
	struct hf_slice_mark *mark;
	size_t size;

	if ((m->chunk - part->number) % part->stride)
		return 0;
	if (part->marks == MARKS_MAX) {
		thin(part);
		if ((m->chunk - part->number) % part->stride)
			return 0;
	}
	if (hf_array_room(&part->mark, part->marks, sizeof *mark))
		return HF_ERR_NOMEM;
	mark = &part->mark[part->marks];
	*mark = (struct hf_slice_mark){.offset = hf_sink_total(&m->sink)};
	if (m->chunk > part->number) {
		size = hf_slice_encoder_save(m->encoder, m->entry);
		mark->entry = malloc(size ? size : 1);
		if (!mark->entry)
			return HF_ERR_NOMEM;
		memcpy(mark->entry, m->entry, size);
		mark->entry_size = (uint16_t)size;
	}
	part->marks++;
	return 0;
}

static int begin_part(struct hf_measure *m, const struct hf_enc_env *env)
{
	int err = hf_slice_enter(m->slice, m->open, m->view, env, NULL, &m->part.number, &m->maker, &m->encoder);

	if (err)
		return err;
	m->part.stride = 1;
	m->chunk = m->part.number;
	hf_sink_init_count(&m->sink, m->buf, sizeof m->buf);
	return 0;
}

/* Until the part is measured, or (HF_NOTE_END) time is up. */
int hf_measure_encoded(struct hf_measure *m, struct hf_worker *worker)
{
	const int64_t until = hf_now_ns() + STEP_NS;
	int err;

	hf_view_env(worker, m->open, m->view);
	err = m->encoder ? 0 : begin_part(m, &worker->env);
	while (!err) {
		if (hf_stopping(m->slice->capture->common))
			return HF_ERR_CANCELLED;
		if (m->turn && hf_now_ns() > until)
			return HF_NOTE_END;
		err = add_mark(m);
		if (!err)
			err = hf_slice_encoder_next(m->encoder, &worker->env, &m->sink, NULL);
		m->chunk++;
		__atomic_store_n(&m->slice->done, m->chunk - m->part.number, __ATOMIC_RELAXED);
	}
	if (err != HF_NOTE_END)
		return err;
	m->part.size = hf_sink_total(&m->sink);
	return 0;
}
