/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/reader.h"

#include <stdlib.h>
#include <string.h>

int hf_reader_init(struct hf_reader *r, struct hf_src *src, size_t cap)
{
	*r = (struct hf_reader){.src = src, .cap = cap, .own = malloc(cap)};
	r->buf = r->own;
	return r->own ? 0 : HF_ERR_NOMEM;
}

void hf_reader_fini(struct hf_reader *r)
{
	free(r->own);
	r->own = NULL;
	r->buf = NULL;
}

/* What buf has from that place on, as far as there is room for it, is own. */
static void keep(struct hf_reader *r, size_t from)
{
	const size_t n = r->len - from < r->cap ? r->len - from : r->cap;

	memmove(r->own, r->buf + from, n);
	r->buf = r->own;
	r->len = n;
}

/* Of what the source lends: less than own has room for is not worth it, and may be no whole record. */
static bool borrow(struct hf_reader *r, uint64_t offset)
{
	const uint8_t *bytes;
	const size_t n = hf_src_lend(r->src, offset, &bytes);

	if (n < r->cap)
		return false;
	r->buf = bytes;
	r->start = offset;
	r->len = n;
	r->ended = false;
	r->err = 0;
	return true;
}

/* Reads until the window holds size bytes. */
static int fill(struct hf_reader *r, size_t size)
{
	while (!r->ended && r->len < size) {
		size_t got = 0;
		int err = hf_src_read_at(r->src, r->start + r->len, r->own + r->len, size - r->len, &got, &r->diag);

		r->len += got;
		if (err < 0 && hf_err_class(err) != HF_CLASS_corrupt)
			return err;
		if (err < 0 || got == 0) {
			r->ended = true;
			r->err = err;
		}
	}
	return 0;
}

static int move(struct hf_reader *r, uint64_t offset, size_t size)
{
	if (borrow(r, offset))
		return 0;
	if (offset >= r->start && offset <= r->start + r->len) {
		keep(r, (size_t)(offset - r->start));
	} else {
		r->buf = r->own;
		r->len = 0;
		r->ended = false;
		r->err = 0;
	}
	r->start = offset;
	return fill(r, size);
}

int hf_reader_seek(struct hf_reader *r, uint64_t offset)
{
	return move(r, offset, r->cap);
}

int hf_reader_grow(struct hf_reader *r, size_t max)
{
	uint8_t *bigger;

	if (r->cap >= max)
		return HF_ERR_LIMIT;
	keep(r, 0);
	bigger = realloc(r->own, r->cap * 2);
	if (!bigger)
		return HF_ERR_NOMEM;
	r->buf = r->own = bigger;
	r->cap *= 2;
	return fill(r, r->cap);
}

/* How much of a window to fill at offset, where n bytes are needed. */
static size_t window(const struct hf_reader *r, uint64_t offset, uint64_t n)
{
	const uint64_t until = r->src->until > offset ? r->src->until - offset : r->cap;
	const uint64_t size = until > n ? until : n;

	return size < r->cap ? (size_t)size : r->cap;
}

int hf_reader_fetch(struct hf_reader *r, uint64_t offset, uint64_t n, size_t max)
{
	for (;;) {
		const bool holds = offset >= r->start && offset <= r->start + r->len;
		int err;

		if (holds && n <= hf_reader_there(r, offset))
			return 0;
		if (holds && r->ended)
			return HF_NOTE_END;
		if (holds && offset == r->start && r->len >= r->cap)
			err = hf_reader_grow(r, max);
		else
			err = move(r, offset, window(r, offset, n));
		if (err)
			return err;
	}
}
