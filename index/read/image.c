/* SPDX-License-Identifier: Apache-2.0 */
#include "index/read/image.h"

#include "index/table/index_tables.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Code compresses to a half or a third. Higher levels save a tenth more and take several times as long. */
#define LEVEL 3
/* ---- storing: the image's bytes go through zstd into rows ---- */

struct packer {
	struct hf_sink sink; /* comes first */
	uint8_t in[4 * HF_SINK_ROOM];
	ZSTD_CCtx *zstd;
	struct hf_store *store;
	uint64_t id;		     /* of the next piece */
	ZSTD_outBuffer out;	     /* its data */
	struct hf_image_piece piece; /* comes last */
};

static int store_piece(struct packer *packer)
{
	packer->piece.n = (uint32_t)packer->out.pos;
	packer->out.pos = 0;
	return hf_store_put(packer->store, &hf_table_image, packer->id++, &packer->piece);
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

/* The bytes that the image saves. The rows have this number, for their reader needs so much memory. */
static uint64_t measure(const struct hf_image *image)
{
	uint8_t buf[2 * HF_SINK_ROOM];
	struct hf_sink sink;

	hf_sink_init_count(&sink, buf, sizeof buf);
	hf_image_save(image, &sink);
	return hf_sink_total(&sink);
}

int hf_index_image_drop(struct hf_store *store, uint64_t slot)
{
	return hf_store_cut(store, &hf_table_image, hf_row_id(slot, 0), hf_row_id(slot, HF_NUMBER_MAX));
}

int hf_index_image_put(struct hf_store *store, ZSTD_CCtx *zstd, uint64_t slot, uint64_t events,
		       const struct hf_image *image)
{
	struct packer *packer = malloc(sizeof *packer);
	int err = packer ? hf_index_image_drop(store, slot) : HF_ERR_NOMEM;

	if (!err) {
		/* Not piece: for a small capture nearly all of it is never touched. */
		memset(packer, 0, offsetof(struct packer, piece));
		packer->store = store;
		packer->zstd = zstd;
		packer->id = hf_row_id(slot, 0);
		packer->piece.events = events;
		packer->piece.size = measure(image);
		packer->out = (ZSTD_outBuffer){.dst = packer->piece.data, .size = HF_IMAGE_PIECE};
		packer->sink = (struct hf_sink){.start = packer->in,
						.p = packer->in,
						.end = packer->in + sizeof packer->in,
						.flush = flush_pack};
		err = put(packer, image);
	}
	free(packer);
	return err;
}

int hf_index_image_cut(struct hf_store *store, uint64_t slot)
{
	return hf_store_cut(store, &hf_table_image, hf_row_id(slot, 0), HF_COUNT_MAX);
}

/* ---- loading ---- */

struct unpacker {
	struct hf_store *store;
	uint64_t slot, number; /* of the next piece */
	uint64_t events, size; /* as the first one says */
	ZSTD_DCtx *zstd;
	ZSTD_outBuffer out;	     /* size bytes, from the first piece on */
	bool ended;		     /* the compressed data are at their end */
	struct hf_image_piece piece; /* comes last */
};

static int read_piece(struct unpacker *u)
{
	int err = hf_store_find(u->store, &hf_table_image, HF_SEEK_AT, hf_row_id(u->slot, u->number), NULL, &u->piece);

	if (err)
		return err;
	if (u->ended)
		return HF_ERR_STATE;
	if (u->number++)
		return u->piece.events == u->events && u->piece.size == u->size ? 0 : HF_ERR_STATE;
	u->events = u->piece.events;
	u->size = u->piece.size;
	/* One byte more than needed, or zstd would stop before the end of its frame. */
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
	int err;

	while (!(err = read_piece(u)) && !(err = unpack_piece(u)))
		;
	if (err != HF_NOTE_END)
		return err;
	if (!u->number)
		return HF_NOTE_END;
	return u->ended && u->out.pos == u->size ? 0 : HF_ERR_STATE;
}

int hf_index_image_get(struct hf_store *store, uint64_t slot, uint64_t *ret_events, struct hf_image **ret_image)
{
	struct unpacker *u = malloc(sizeof *u);
	int err = HF_ERR_NOMEM;

	*ret_image = NULL;
	*ret_events = 0;
	if (u) {
		memset(u, 0, offsetof(struct unpacker, piece));
		u->zstd = ZSTD_createDCtx();
		err = u->zstd ? 0 : HF_ERR_NOMEM;
	}
	if (!err) {
		u->store = store;
		u->slot = slot;
		err = unpack_all(u);
	}
	if (!err)
		err = hf_image_load(u->out.dst, (size_t)u->size, ret_image);
	if (u) {
		*ret_events = u->events;
		ZSTD_freeDCtx(u->zstd);
		free(u->out.dst);
	}
	free(u);
	return err;
}
