/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/group_write.h"

#include "codecs/base/bytes.h"
#include "index/base/squeeze.h"

#include <stdlib.h>
#include <zstd.h>

#define LEVEL 3

struct hf_group_writer {
	hf_summary_row_fn put;
	void *ctx;
	struct hf_squeeze squeeze;
	struct hf_raw packed;
	struct hf_summary_section row;
};

/* ---- bytes ---- */

uint8_t *hf_raw_room(struct hf_raw *raw, size_t n)
{
	const size_t room = 2 * raw->room + n + 256;
	uint8_t *bigger;

	if (raw->p && raw->room - raw->n >= n)
		return raw->p + raw->n;
	bigger = realloc(raw->p, room);
	if (!bigger) {
		raw->err = HF_ERR_NOMEM;
		return NULL;
	}
	raw->p = bigger;
	raw->room = room;
	return raw->p + raw->n;
}

void hf_raw_number(struct hf_raw *raw, uint64_t number)
{
	uint8_t *p = hf_raw_room(raw, HF_VARINT_MAX);

	if (p)
		raw->n = (size_t)(hf_put_varint(p, number) - raw->p);
}

void hf_raw_bytes(struct hf_raw *raw, const void *bytes, size_t n)
{
	uint8_t *p = hf_raw_room(raw, n);

	if (p && n)
		memcpy(p, bytes, n);
	raw->n += p ? n : 0;
}

void hf_raw_keep(struct hf_raw *raw, struct hf_keep *k)
{
	uint64_t n = raw->n;

	HF_KEEP(k, n, UINT32_MAX);
	if (k->load && !k->err && !hf_raw_room(raw, n))
		hf_keep_fail(k, HF_ERR_NOMEM);
	if (k->err)
		return;
	hf_keep_bytes(k, raw->p, n);
	raw->n = n;
}

/* ---- sections ---- */

int hf_group_writer_new(hf_summary_row_fn put, void *ctx, struct hf_group_writer **ret_writer)
{
	struct hf_group_writer *w = calloc(1, sizeof *w);

	*ret_writer = w;
	if (!w)
		return HF_ERR_NOMEM;
	w->put = put;
	w->ctx = ctx;
	return 0;
}

void hf_group_writer_free(struct hf_group_writer *w)
{
	if (!w)
		return;
	hf_squeeze_fini(&w->squeeze);
	free(w->packed.p);
	free(w);
}

int hf_group_write(struct hf_group_writer *w, uint64_t group, enum hf_section section, struct hf_raw *raw)
{
	const size_t bound = ZSTD_compressBound(raw->n);
	uint64_t piece = 0;
	uint32_t size = 0;
	int err = raw->err;

	if (!raw->n && !err)
		return 0;
	w->packed.n = 0;
	if (!err && !hf_raw_room(&w->packed, bound))
		err = HF_ERR_NOMEM;
	if (!err)
		err = hf_squeeze(&w->squeeze, LEVEL, raw->p, raw->n, w->packed.p, w->packed.room, &size);
	if (!err && size > HF_SECTION_PIECES * HF_SECTION_PIECE)
		err = HF_ERR_LIMIT;
	w->row.size = (uint32_t)raw->n;
	for (size_t at = 0; at < size && !err; at += w->row.n) {
		w->row.n = (uint32_t)(size - at < HF_SECTION_PIECE ? size - at : HF_SECTION_PIECE);
		memcpy(w->row.data, w->packed.p + at, w->row.n);
		err = w->put(w->ctx, &hf_table_summary_section, hf_section_row(group, section, piece++), &w->row);
	}
	raw->n = 0;
	return err;
}
