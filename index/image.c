/* SPDX-License-Identifier: Apache-2.0 */
#include "index/image.h"

#include "index/row.h"

#include <stdlib.h>

/* Code compresses to a half or a third; better levels gain a tenth and cost several times as much. */
#define LEVEL 3
/* A row of a megabyte is SQLite's limit in these files. */
#define PIECE ((size_t)256 << 10)
/* No image saves as more: HF_IMAGE_PAGES_MAX pages, at worst with a number or two for every few bytes. */
#define SAVED_MAX ((uint64_t)HF_IMAGE_PAGES_MAX * HF_IMAGE_PAGE * 4)

/* A row of the table. */
struct piece {
	uint64_t events, size;
	uint32_t n;
	uint8_t data[PIECE];
};

static const struct hf_column columns[] = {
	HF_COLUMN_COUNT(piece, events),
	HF_COLUMN(NUMBER, piece, size, SAVED_MAX),
	HF_COLUMN_BYTES(piece, data, n),
};
static const struct hf_table table = HF_TABLE("image", columns);

/* ---- storing: what the image saves goes through zstd, and from there into rows ---- */

struct packer {
	struct hf_sink sink; /* comes first */
	uint8_t in[4 * HF_SINK_ROOM];
	ZSTD_CCtx *zstd;
	sqlite3_stmt *add;
	uint64_t id; /* of the next piece */
	struct piece piece;
	ZSTD_outBuffer out; /* its data */
};

static int store_piece(struct packer *packer)
{
	packer->piece.n = (uint32_t)packer->out.pos;
	packer->out.pos = 0;
	return hf_row_put(packer->add, &table, packer->id++, &packer->piece);
}

static int pack(struct packer *packer, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {.src = packer->sink.start, .size = (size_t)(packer->sink.p - packer->sink.start)};
	size_t left = 1;
	int err = 0;

	while (!err && (in.pos < in.size || (end == ZSTD_e_end && left))) {
		left = ZSTD_compressStream2(packer->zstd, &packer->out, &in, end);
		if (ZSTD_isError(left))
			return HF_ERR_NOMEM;
		if (packer->out.pos == packer->out.size)
			err = store_piece(packer);
	}
	packer->sink.flushed += in.size;
	packer->sink.p = packer->sink.start;
	return err;
}

static int flush_pack(struct hf_sink *sink)
{
	return pack((struct packer *)sink, ZSTD_e_continue);
}

static int put(struct packer *packer, const struct hf_image *image)
{
	int err;

	if (ZSTD_isError(ZSTD_CCtx_reset(packer->zstd, ZSTD_reset_session_and_parameters)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, LEVEL)))
		return HF_ERR_NOMEM;
	hf_image_save(image, &packer->sink);
	err = packer->sink.err;
	if (!err)
		err = pack(packer, ZSTD_e_end);
	return !err && packer->out.pos ? store_piece(packer) : err;
}

/* How many bytes the image saves as: the rows say so, for whoever reads them needs the room. */
static uint64_t measure(const struct hf_image *image)
{
	uint8_t buf[2 * HF_SINK_ROOM];
	struct hf_sink sink;

	hf_sink_init_count(&sink, buf, sizeof buf);
	hf_image_save(image, &sink);
	return hf_sink_total(&sink);
}

int hf_index_image_drop(sqlite3 *db, uint64_t slot)
{
	const uint64_t range[2] = {hf_row_id(slot, 0), hf_row_id(slot + 1, 0)};

	return hf_db_run_with(db, "DELETE FROM image WHERE id >= ? AND id < ?", 2, range);
}

int hf_index_image_put(sqlite3 *db, ZSTD_CCtx *zstd, uint64_t slot, uint64_t events, const struct hf_image *image)
{
	struct packer *packer = calloc(1, sizeof *packer);
	int err = packer ? hf_index_image_drop(db, slot) : HF_ERR_NOMEM;

	if (!err)
		err = hf_row_prepare(db, &table, false, &packer->add);
	if (!err) {
		packer->zstd = zstd;
		packer->id = hf_row_id(slot, 0);
		packer->piece.events = events;
		packer->piece.size = measure(image);
		packer->out = (ZSTD_outBuffer){.dst = packer->piece.data, .size = PIECE};
		packer->sink = (struct hf_sink){.start = packer->in,
						.p = packer->in,
						.end = packer->in + sizeof packer->in,
						.flush = flush_pack};
		err = put(packer, image);
		sqlite3_finalize(packer->add);
	}
	free(packer);
	return err;
}

int hf_index_image_cut(sqlite3 *db, uint64_t slot)
{
	const uint64_t id = hf_row_id(slot, 0);

	return hf_db_run_with(db, "DELETE FROM image WHERE id >= ?", 1, &id);
}

/* ---- loading ---- */

struct unpacker {
	sqlite3_stmt *rows;
	uint64_t slot, number; /* of the next piece */
	struct piece piece;
	uint64_t events, size; /* as the first one says */
	ZSTD_DCtx *zstd;
	ZSTD_outBuffer out; /* size bytes, from the first piece on */
	bool ended;	    /* the compressed data are at their end */
};

static int read_piece(struct unpacker *u)
{
	uint64_t id;
	int err = hf_row_read(u->rows, &table, &id, &u->piece);

	if (err)
		return err;
	if (u->ended || id != hf_row_id(u->slot, u->number))
		return HF_ERR_STATE;
	if (u->number++)
		return u->piece.events == u->events && u->piece.size == u->size ? 0 : HF_ERR_STATE;
	u->events = u->piece.events;
	u->size = u->piece.size;
	/* One byte more than there may be: zstd stops early otherwise. */
	u->out = (ZSTD_outBuffer){.dst = malloc((size_t)u->size + 1), .size = (size_t)u->size + 1};
	return u->out.dst ? 0 : HF_ERR_NOMEM;
}

static int unpack_piece(struct unpacker *u)
{
	ZSTD_inBuffer in = {.src = u->piece.data, .size = u->piece.n};

	while (in.pos < in.size) {
		size_t left = ZSTD_decompressStream(u->zstd, &u->out, &in);

		if (ZSTD_isError(left) || u->out.pos > u->size)
			return HF_ERR_STATE;
		u->ended = left == 0;
		if (u->ended && in.pos < in.size)
			return HF_ERR_STATE;
	}
	return 0;
}

static int unpack_all(struct unpacker *u)
{
	const uint64_t range[2] = {hf_row_id(u->slot, 0), hf_row_id(u->slot + 1, 0)};
	int err;

	hf_db_bind(u->rows, 2, range);
	while (!(err = hf_db_step(u->rows)) && !(err = read_piece(u)) && !(err = unpack_piece(u)))
		;
	if (err != HF_NOTE_END)
		return err;
	if (!u->number)
		return HF_NOTE_END;
	return u->ended && u->out.pos == u->size ? 0 : HF_ERR_STATE;
}

int hf_index_image_get(sqlite3 *db, uint64_t slot, uint64_t *ret_events, struct hf_image **ret_image)
{
	struct unpacker *u = calloc(1, sizeof *u);
	int err = u && (u->zstd = ZSTD_createDCtx()) ? 0 : HF_ERR_NOMEM;

	*ret_image = NULL;
	*ret_events = 0;
	if (!err) {
		u->slot = slot;
		err = hf_db_prepare(db, "SELECT * FROM image WHERE id >= ? AND id < ? ORDER BY id", &u->rows);
	}
	if (!err)
		err = unpack_all(u);
	if (!err)
		err = hf_image_load(u->out.dst, (size_t)u->size, ret_image);
	if (u) {
		*ret_events = u->events;
		sqlite3_finalize(u->rows);
		ZSTD_freeDCtx(u->zstd);
		free(u->out.dst);
	}
	free(u);
	return err;
}
