/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/concat.h"

#include "codecs/base/search.h"

#include <stdlib.h>

struct row {
	struct hf_src *src;
	uint64_t from;  /* in src */
	uint64_t start; /* in the whole */
	uint64_t size;
};

struct concat {
	struct hf_src src;
	size_t count;
	struct row row[];
};

/* The last row that begins at or before offset. */
static size_t find(const struct concat *c, uint64_t offset)
{
	const size_t n = HF_COUNT_UP_TO(c->row, c->count, start, offset);

	return n ? n - 1 : 0;
}

static int read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	struct concat *c = (struct concat *)src;

	*ret_n = 0;
	if (offset >= src->size || !c->count)
		return 0;
	for (size_t i = find(c, offset); i < c->count && *ret_n < n; i++) {
		const struct row *row = &c->row[i];
		const uint64_t at = offset + *ret_n - row->start;
		size_t want = n - *ret_n, got = 0;
		int err;

		if (at >= row->size)
			continue;
		if (want > row->size - at)
			want = (size_t)(row->size - at);
		err = hf_src_read_at(row->src, row->from + at, (uint8_t *)buf + *ret_n, want, &got, diag);
		/* What came before the damage counts; the next read meets it again. */
		if (err)
			return *ret_n ? 0 : err;
		*ret_n += got;
		if (got < want)
			break;
	}
	return 0;
}

static void free_concat(struct hf_src *src)
{
	struct concat *c = (struct concat *)src;

	for (size_t i = 0; i < c->count; i++)
		hf_src_free(c->row[i].src);
	free(c);
}

static const struct hf_src_ops ops = {.read_at = read_at, .free = free_concat};

int hf_src_concat_new(const struct hf_concat_piece *pieces, size_t count, struct hf_src **ret_src)
{
	struct concat *c = calloc(1, sizeof *c + count * sizeof *c->row);
	int err = c ? 0 : HF_ERR_NOMEM;

	for (size_t i = 0; i < count && !err; i++) {
		const struct hf_concat_piece *piece = &pieces[i];

		if (piece->src->size == HF_NOWHERE || piece->offset > piece->src->size ||
		    piece->size > piece->src->size - piece->offset || piece->size > INT64_MAX - c->src.size) {
			err = HF_ERR_CORRUPT;
			break;
		}
		c->row[i] = (struct row){piece->src, piece->offset, c->src.size, piece->size};
		c->src.size += piece->size;
	}
	if (err) {
		for (size_t i = 0; i < count; i++)
			hf_src_free(pieces[i].src);
		free(c);
		return err;
	}
	c->src.ops = &ops;
	c->count = count;
	*ret_src = &c->src;
	return 0;
}
