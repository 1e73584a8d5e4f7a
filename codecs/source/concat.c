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
	struct hf_src **owned; /* [owned_count] */
	size_t owned_count;
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

static void free_all(struct hf_src *const *src, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hf_src_free(src[i]);
}

static void free_concat(struct hf_src *src)
{
	struct concat *c = (struct concat *)src;

	free_all(c->owned, c->owned_count);
	free(c->owned);
	free(c);
}

static const struct hf_src_ops ops = {.read_at = read_at, .free = free_concat};

static int add_rows(struct concat *c, const struct hf_concat_piece *pieces, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct hf_concat_piece *piece = &pieces[i];

		if (piece->src->size == HF_NOWHERE || piece->offset > piece->src->size ||
		    piece->size > piece->src->size - piece->offset || piece->size > INT64_MAX - c->src.size)
			return HF_ERR_CORRUPT;
		c->row[i] = (struct row){piece->src, piece->offset, c->src.size, piece->size};
		c->src.size += piece->size;
	}
	return 0;
}

int hf_src_pieces_new(struct hf_src *const *owned, size_t owned_count, const struct hf_concat_piece *pieces, size_t count,
		      struct hf_src **ret_src)
{
	struct concat *c = calloc(1, sizeof *c + count * sizeof *c->row);
	int err = HF_ERR_NOMEM;

	if (c)
		c->owned = malloc((owned_count + 1) * sizeof *owned);
	if (c && c->owned)
		err = add_rows(c, pieces, count);
	if (err) {
		free_all(owned, owned_count);
		if (c)
			free(c->owned);
		free(c);
		return err;
	}
	for (size_t i = 0; i < owned_count; i++)
		c->owned[i] = owned[i];
	c->owned_count = owned_count;
	c->src.ops = &ops;
	c->count = count;
	*ret_src = &c->src;
	return 0;
}

int hf_src_concat_new(const struct hf_concat_piece *pieces, size_t count, struct hf_src **ret_src)
{
	struct hf_src **owned = malloc((count + 1) * sizeof *owned);
	int err;

	if (!owned) {
		for (size_t i = 0; i < count; i++)
			hf_src_free(pieces[i].src);
		return HF_ERR_NOMEM;
	}
	for (size_t i = 0; i < count; i++)
		owned[i] = pieces[i].src;
	err = hf_src_pieces_new(owned, count, pieces, count, ret_src);
	free(owned);
	return err;
}
