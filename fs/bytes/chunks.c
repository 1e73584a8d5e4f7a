/* SPDX-License-Identifier: Apache-2.0 */
/* A view in chunks, as its table has them. */
#include "codecs/isa/disasm.h"
#include "fs/bytes/bytes.h"
#include "fs/capture/makers.h"
#include "index/cut.h"

#include <stdlib.h>
#include <xxhash.h>

static void take_piece(const struct hf_view_chunk *chunk, struct hf_piece *ret_piece)
{
	*ret_piece = (struct hf_piece){.number = chunk->number, .offset = chunk->offset, .size = chunk->size};
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
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, bytes->hart);
	struct hf_view_chunk chunk;
	int err;

	if (!hart || number >= hart->info.chunks)
		return HF_NOTE_END;
	err = hf_view_table_chunk(open->table[bytes->view], bytes->hart, number, &chunk);
	if (!err)
		take_piece(&chunk, ret_piece);
	return err;
}

void hf_view_env(struct hf_worker *worker, const struct hf_open *open, size_t view)
{
	worker->env.symbols = open->companion.symbols;
	worker->env.params = hf_open_options(open, view);
}

static int prepare(struct hf_worker *worker, const struct hf_open *open, size_t view)
{
	/* There was no memory for it when the thread began: other bytes would come out without. */
	if (!worker->env.disasm && hf_disasm_new(&worker->env.disasm)) {
		worker->env.disasm = NULL;
		return HF_ERR_NOMEM;
	}
	hf_view_env(worker, open, view);
	return 0;
}

static int write_chunk(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_chunk *chunk,
		       const struct hf_view_chunk *view_chunk, struct hf_worker *worker, uint8_t *to)
{
	struct hf_lent_maker lent;
	struct hf_sink sink;
	int err;

	err = prepare(worker, open, bytes->view);
	if (err)
		return err;
	hf_sink_init_buffer(&sink, to, (size_t)view_chunk->size + HF_SINK_ROOM);
	err = hf_maker_take(open, bytes->hart, bytes->view, &worker->env, &lent);
	if (!err) {
		err = hf_maker_make(&lent.maker, chunk, &worker->env, view_chunk->entry, view_chunk->entry_size, &sink,
				    NULL);
		hf_maker_put(&lent, err);
	}
	if (err < 0)
		return hf_err_is_passing(err) ? err : HF_ERR_MISMATCH;
	if (sink.err || hf_sink_total(&sink) != view_chunk->size ||
	    XXH3_64bits(to, (size_t)view_chunk->size) != view_chunk->checksum)
		return HF_ERR_MISMATCH;
	return 0;
}

static int fill(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_worker *worker, uint8_t *to)
{
	struct {
		struct hf_view_chunk view;
		struct hf_chunk chunk;
	} *row = malloc(sizeof *row);
	int err = row ? hf_view_table_chunk(open->table[bytes->view], bytes->hart, piece->number, &row->view)
		      : HF_ERR_NOMEM;

	if (!err)
		err = hf_index_chunk(open->index, bytes->hart, piece->number, &row->chunk);
	if (!err)
		err = write_chunk(bytes, open, &row->chunk, &row->view, worker, to);
	free(row);
	return err;
}

/* The end of a line is made with the line behind it. */
static uint64_t where_made(const struct hf_bytes *bytes, uint64_t offset)
{
	return offset && hf_fs_view_ops(bytes->view)->flags & HF_ENC_LINES ? offset - 1 : offset;
}

static int find_ordinal(const struct hf_bytes *bytes, struct hf_open *open, uint32_t hart, uint64_t offset,
			struct hf_worker *worker, uint64_t *ret_ordinal)
{
	const struct hf_facts_hart *facts = hf_facts_hart(open->facts, hart);
	struct hf_view_chunk *row = malloc(sizeof *row);
	struct hf_lent_maker lent;
	struct hf_cut cut = {.maker = &lent.maker, .index = open->index};
	struct hf_cutter *cutter;
	int err = facts && row ? prepare(worker, open, bytes->view) : HF_ERR_NOMEM;

	offset = where_made(bytes, offset);
	if (!err)
		err = hf_view_table_chunk_of(open->table[bytes->view], hart, offset, row);
	if (!err)
		err = hf_maker_take(open, hart, bytes->view, &worker->env, &lent);
	if (!err) {
		cut.last = facts->info.insns - 1;
		err = hf_cutter_new(&cut, &worker->env, row->entry, row->entry_size, &row->number, &cutter, NULL);
		if (!err)
			err = hf_cutter_find(cutter, &worker->env, offset - row->offset, ret_ordinal, NULL);
		hf_cutter_free(cutter);
		hf_maker_put(&lent, err);
	}
	free(row);
	return err;
}

const struct hf_bytes_ops hf_bytes_chunks = {
	.piece_at = piece_at, .piece = piece_of, .fill = fill, .ordinal = find_ordinal, .table = true};
