/* SPDX-License-Identifier: Apache-2.0 */
/* The decompressed stream of a capture, cut evenly. */
#include "codecs/source/errors.h"
#include "fs/bytes/bytes.h"
#include "fs/capture/block_source.h"
#include "fs/capture/facts.h"
#include "fs/capture/opened.h"
#include "index/read/cursor.h"

static int fill(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_worker *worker, uint8_t *to)
{
	int err = 0;

	(void)bytes;
	(void)worker;
	for (size_t have = 0, n; have < piece->size && !err; have += n) {
		err = hf_src_read_at(open->source, piece->offset + have, to + have, (size_t)piece->size - have, &n,
				     NULL);
		/* The index says that these bytes are there and good. */
		if (!err && !n)
			err = HF_ERR_MISMATCH;
	}
	/* A damaged chunk is what the index says too. */
	return hf_err_class(err) == HF_CLASS_corrupt && err != HF_ERR_ZSTF_CHUNK ? HF_ERR_MISMATCH : err;
}

/* A stream that is decoded from its beginning has blocks of the size of a piece. */
static int lend(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_cache_block **ret_block)
{
	(void)bytes;
	return hf_block_source_lend(open->source, piece->offset, piece->size, ret_block);
}

/* Decodes no more of the container than it must. */
static int read_once(const struct hf_bytes *bytes, struct hf_open *open, struct hf_worker *worker, uint64_t offset,
		     uint8_t *buf, size_t size)
{
	size_t n;

	(void)bytes;
	(void)worker;
	for (size_t have = 0; have < size; have += n) {
		int err = hf_block_source_read_once(open->source, offset + have, buf + have, size - have, &n, NULL);

		if (err || !n)
			return err ? err : HF_ERR_MISMATCH;
	}
	return 0;
}

/* The last chunk of the hart that begins at offset or before: its first event's record does. */
static int find_chunk(struct hf_cursor *cursor, uint64_t chunks, uint64_t offset)
{
	uint64_t low = 0, high = chunks;

	while (high - low > 1) {
		const uint64_t mid = low + (high - low) / 2;
		int err = hf_index_chunk(cursor->index, cursor->hart, mid, &cursor->chunk);

		if (err)
			return err;
		if (cursor->chunk.stream_offset <= offset)
			low = mid;
		else
			high = mid;
	}
	return hf_cursor_enter(cursor, low, NULL);
}

/* The decoder is asked event by event up to where it has read the stream. */
static int find_ordinal(const struct hf_bytes *bytes, struct hf_open *open, uint32_t hart, uint64_t offset,
			struct hf_worker *worker, uint64_t *ret_ordinal)
{
	const struct hf_facts_hart *facts = hf_facts_hart(open->facts, hart);
	struct hf_cursor cursor = {
		.stream = open->stream, .src = open->source, .index = open->index, .hart = hart};
	struct hf_event ev;
	uint64_t next;
	size_t n;
	int err = facts ? find_chunk(&cursor, facts->info.chunks, offset) : HF_ERR_MISMATCH;

	(void)bytes;
	(void)worker;
	next = cursor.chunk.ordinal;
	while (!err && cursor.left && hf_dec_offset(cursor.dec) <= offset) {
		err = hf_cursor_take(&cursor, &ev, 1, &n, NULL);
		next += !err && ev.kind == HF_EVENT_INSN;
	}
	hf_cursor_fini(&cursor);
	*ret_ordinal = next ? next - 1 : 0;
	return err;
}

const struct hf_bytes_ops hf_bytes_stream = {.piece_at = hf_bytes_even_at,
					     .piece = hf_bytes_even,
					     .fill = fill,
					     .lend = lend,
					     .read_once = read_once,
					     .ordinal = find_ordinal};
