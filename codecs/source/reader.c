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

static int fill(struct hf_reader *r)
{
	while (!r->ended && r->len < r->cap) {
		size_t got = 0;
		int err = hf_src_read_at(r->src, r->start + r->len, r->buf + r->len, r->cap - r->len, &got, &r->diag);

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

int hf_reader_seek(struct hf_reader *r, uint64_t offset)
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
	return fill(r);
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
	return fill(r);
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
			err = hf_reader_seek(r, offset);
		if (err)
			return err;
	}
}
