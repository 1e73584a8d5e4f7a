/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/reader.h"

#include <stdlib.h>
#include <string.h>

int hf_reader_init(struct hf_reader *r, struct hf_src *src, size_t cap)
{
	*r = (struct hf_reader){.src = src, .cap = cap, .buf = malloc(cap)};
	return r->buf ? 0 : HF_ERR_NOMEM;
}

void hf_reader_fini(struct hf_reader *r)
{
	free(r->buf);
	r->buf = NULL;
}

/* Reads until the window holds size bytes. */
static int fill(struct hf_reader *r, size_t size)
{
	while (!r->ended && r->len < size) {
		size_t got = 0;
		int err = hf_src_read_at(r->src, r->start + r->len, r->buf + r->len, size - r->len, &got, &r->diag);

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
	if (offset >= r->start && offset <= r->start + r->len) {
		size_t drop = (size_t)(offset - r->start);

		memmove(r->buf, r->buf + drop, r->len - drop);
		r->len -= drop;
	} else {
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
	bigger = realloc(r->buf, r->cap * 2);
	if (!bigger)
		return HF_ERR_NOMEM;
	r->buf = bigger;
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
		if (holds && offset == r->start && r->len == r->cap)
			err = hf_reader_grow(r, max);
		else
			err = move(r, offset, window(r, offset, n));
		if (err)
			return err;
	}
}
