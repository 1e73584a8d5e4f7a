/* SPDX-License-Identifier: Apache-2.0 */
/* A view in chunks, as its table has them. */
#include "codecs/isa/disasm.h"
#include "fs/base/views.h"
#include "fs/bytes/bytes.h"
#include "fs/capture/decoder_pool.h"
#include "fs/facts/facts.h"
#include "fs/facts/opened.h"
#include "index/base/hash.h"
#include "index/read/slice_encoder.h"

#include <stdlib.h>
#include <string.h>

static void take_piece(const struct hf_view_chunk *chunk, struct hf_piece *ret_piece)
{
	*ret_piece = (struct hf_piece){.number = chunk->number,
				       .offset = chunk->offset,
				       .size = chunk->size,
				       .parts = hf_view_chunk_has_parts(chunk)};
}

static int piece_at(const struct hf_bytes *bytes, struct hf_open *open, uint64_t offset, struct hf_piece *ret_piece)
{
	struct hf_view_chunk chunk;
	int err = hf_view_table_chunk_of(open->table[bytes->view], bytes->hart, offset, &chunk);

	if (!err)
		take_piece(&chunk, ret_piece);
	return err;
}

static int piece_of(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece)
{
	struct hf_view_chunk chunk;
	int err;

	if (number >= hf_view_table_rows(open->table[bytes->view], bytes->hart))
		return HF_NOTE_END;
	err = hf_view_table_chunk(open->table[bytes->view], bytes->hart, number, &chunk);
	if (!err)
		take_piece(&chunk, ret_piece);
	return err;
}

void hf_view_env(struct hf_worker *worker, const struct hf_open *open, size_t view)
{
	worker->env.symbols = open->symbol_files.symbols;
	worker->env.params = hf_open_options(open, view);
}

static int prepare(struct hf_worker *worker, const struct hf_open *open, size_t view)
{
	hf_view_env(worker, open, view);
	/* There was no memory for it when the thread began: other bytes would come out without. */
	return hf_disasm_need(&worker->env.disasm);
}

/* A chunk, what is promised of it, and what comes out. */
struct making {
	struct hf_chunk chunk; /* of several the first one */
	struct hf_view_chunk view, next;
	struct hf_chunk behind; /* of a part */
	struct hf_chunk_made made;
};

/* Several chunks, the bytes of which are all in the checksum. */
static int write_joined(const struct hf_bytes *bytes, struct hf_open *open, struct making *m, struct hf_worker *worker,
			uint8_t *to)
{
	struct hf_lent_maker lent;
	int err = prepare(worker, open, bytes->view);

	if (!err)
		err = hf_decoder_pool_take(open, bytes->hart, bytes->view, &worker->env, &lent);
	if (err)
		return err;
	err = hf_maker_make_joined(&lent.maker, open->index, &m->chunk, &worker->env, &m->view, to, NULL);
	hf_decoder_pool_put(&lent, err);
	return !err || hf_err_is_passing(err) ? err : HF_ERR_MISMATCH;
}

static int write_chunk(const struct hf_bytes *bytes, struct hf_open *open, struct making *m, struct hf_worker *worker,
		       uint8_t *to)
{
	const bool whole = hf_view_chunk_is_whole(&m->view);
	struct hf_lent_maker lent;
	struct hf_sink sink;
	int err;

	if (m->view.chunks > 1)
		return write_joined(bytes, open, m, worker, to);
	err = prepare(worker, open, bytes->view);
	if (err)
		return err;
	hf_sink_init_buffer(&sink, to, (size_t)m->view.size + HF_SINK_ROOM);
	err = hf_decoder_pool_take(open, bytes->hart, bytes->view, &worker->env, &lent);
	if (!err) {
		err = hf_maker_make(&lent.maker, &m->chunk, &worker->env, m->view.entry, m->view.entry_size, &sink,
				    whole ? NULL : &m->made, NULL);
		hf_decoder_pool_put(&lent, err);
	}
	if (err < 0)
		return hf_err_is_passing(err) ? err : HF_ERR_MISMATCH;
	if (sink.err || hf_sink_total(&sink) != m->view.size || !hf_view_chunk_has(&m->view, to))
		return HF_ERR_MISMATCH;
	if (whole)
		return 0;
	/* What no checksum promises is at least the same whenever it is made. */
	if (!hf_chunk_made_fits(&m->made, &m->chunk, m->chunk.last ? NULL : &m->next) ||
	    !hf_view_table_serves(open->table[bytes->view], bytes->hart, m->view.number,
				  XXH3_64bits(to, (size_t)m->view.size)))
		return HF_ERR_MISMATCH;
	return 0;
}

/* So far behind a chunk a decoder looks, usually. */
#define LOOK_AHEAD 4096

/* A part of one that has parts: what else the index promises of the chunk must come out with it. */
static int write_part(const struct hf_bytes *bytes, struct hf_open *open, struct making *m, struct hf_worker *worker,
		      const struct hf_chunk_part *part)
{
	struct hf_lent_maker lent;
	uint64_t size;
	int err = prepare(worker, open, bytes->view);

	if (!err)
		err = hf_index_chunk(open->index, bytes->hart, m->chunk.number + 1, &m->behind);
	if (!err)
		err = hf_decoder_pool_take(open, bytes->hart, bytes->view, &worker->env, &lent);
	if (err)
		return err;
	lent.limit->src.until = m->behind.stream_offset + LOOK_AHEAD;
	err = hf_maker_make_part(&lent.maker, &m->chunk, &worker->env, &m->view, part, &m->made, &size, NULL);
	hf_decoder_pool_put(&lent, err);
	if (err)
		return hf_err_is_passing(err) ? err : HF_ERR_MISMATCH;
	return size == m->view.size && hf_view_chunk_has(&m->view, part->to) &&
			       hf_chunk_made_fits(&m->made, &m->chunk, &m->next)
		       ? 0
		       : HF_ERR_MISMATCH;
}

/* What the index has of a chunk. */
static int find_promise(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct making *m)
{
	struct hf_view_table *table = open->table[bytes->view];
	int err = hf_view_table_chunk(table, bytes->hart, number, &m->view);

	if (!err)
		err = hf_index_chunk(open->index, bytes->hart, m->view.chunk, &m->chunk);
	if (!err && !m->chunk.last && !hf_view_chunk_is_whole(&m->view))
		err = hf_view_table_chunk(table, bytes->hart, number + 1, &m->next);
	return err;
}

/* The same of one that has none, or of which another index says so by now. */
static int cut_whole(const struct hf_bytes *bytes, struct hf_open *open, struct making *m, struct hf_worker *worker,
		     const struct hf_chunk_part *part)
{
	const bool fits = m->view.size < SIZE_MAX - HF_SINK_ROOM;
	uint8_t *whole = fits ? malloc((size_t)m->view.size + HF_SINK_ROOM) : NULL;
	int err = whole ? write_chunk(bytes, open, m, worker, whole) : HF_ERR_NOMEM;

	if (!err)
		memcpy(part->to, whole + part->offset, part->size);
	free(whole);
	return err;
}

static int read_once(const struct hf_bytes *bytes, struct hf_open *open, struct hf_worker *worker, uint64_t offset,
		     uint8_t *buf, size_t size)
{
	struct making *m = malloc(sizeof *m);
	struct hf_piece piece;
	int err = m ? piece_at(bytes, open, offset, &piece) : HF_ERR_NOMEM;

	while (!err && size) {
		struct hf_chunk_part part = {.offset = offset - piece.offset, .to = buf};

		if (offset < piece.offset || part.offset > piece.size) {
			err = HF_ERR_MISMATCH;
			break;
		}
		part.size = piece.size - part.offset < size ? (size_t)(piece.size - part.offset) : size;
		err = find_promise(bytes, open, piece.number, m);
		if (!err && part.size)
			err = m->chunk.last || !hf_view_chunk_has_parts(&m->view)
				      ? cut_whole(bytes, open, m, worker, &part)
				      : write_part(bytes, open, m, worker, &part);
		offset += part.size;
		buf += part.size;
		size -= part.size;
		if (!err && size)
			err = piece_of(bytes, open, piece.number + 1, &piece);
	}
	free(m);
	return err == HF_NOTE_END || err == HF_ERR_NOT_FOUND ? HF_ERR_MISMATCH : err;
}

static int fill(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_worker *worker, uint8_t *to)
{
	struct making *m = malloc(sizeof *m);
	int err = m ? find_promise(bytes, open, piece->number, m) : HF_ERR_NOMEM;

	if (!err)
		err = write_chunk(bytes, open, m, worker, to);
	free(m);
	return err;
}

static int find_ordinal(const struct hf_bytes *bytes, struct hf_open *open, uint32_t hart, uint64_t offset,
			struct hf_worker *worker, uint64_t *ret_ordinal)
{
	const struct hf_facts_hart *facts = hf_facts_hart(open->facts, hart);
	struct hf_view_chunk *row = malloc(sizeof *row);
	struct hf_lent_maker lent;
	struct hf_slice_encoder_ask ask = {.maker = &lent.maker, .index = open->index};
	struct hf_slice_encoder *encoder;
	int err = facts && row ? prepare(worker, open, bytes->view) : HF_ERR_NOMEM;

	if (!err)
		err = hf_view_table_chunk_of(open->table[bytes->view], hart, offset, row);
	if (!err)
		err = hf_decoder_pool_take(open, hart, bytes->view, &worker->env, &lent);
	if (!err) {
		ask.last = facts->info.insns - 1;
		err = hf_slice_encoder_new(&ask, &worker->env, row->entry, row->entry_size, &row->chunk, &encoder,
					   NULL);
		if (!err)
			err = hf_slice_encoder_find(encoder, &worker->env, offset - row->offset, ret_ordinal, NULL);
		hf_slice_encoder_free(encoder);
		hf_decoder_pool_put(&lent, err);
	}
	free(row);
	return err;
}

const struct hf_bytes_ops hf_bytes_chunks = {.piece_at = piece_at,
					     .piece = piece_of,
					     .fill = fill,
					     .read_once = read_once,
					     .ordinal = find_ordinal,
					     .table = true};
