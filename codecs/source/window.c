/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a block needs of its window. A window is 32 KiB, but the matches that reach back into it come from the first
 * 32 KiB of the block only and hit few of its bytes. Which, two decodings with marks in the place of the window tell:
 * each byte that was copied out of it, however often, then says from where.
 */
#include "codecs/source/unpack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Deflate, RFC 1951 2: no match reaches back further; behind so many bytes the block knows only itself. */
#define REACH HF_WINDOW_MAX

struct marks {
	uint8_t real[REACH], low[REACH], high[REACH]; /* the block's beginning: as it is, and out of the marks */
	uint8_t window[REACH];			      /* made of marks, then thin */
	bool used[REACH];
};

static_assert(HF_WINDOW_MAX <= 1 << 15, "a place has 8 low bits and 7 high ones, beside the flag");

/* The high bits of the place, and a flag: the top bit is not that of the byte that is really there. */
static void mark_high(const uint8_t *window, size_t size, uint8_t *marked)
{
	for (size_t i = 0; i < size; i++)
		marked[i] = (uint8_t)(i >> 8 | (~window[i] & 0x80));
}

static void mark_low(size_t size, uint8_t *marked)
{
	for (size_t i = 0; i < size; i++)
		marked[i] = (uint8_t)i;
}

/* Literals come out of all windows alike, with the top bit that they have. */
static void find_used(struct marks *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((m->high[i] ^ m->real[i]) & 0x80)
			m->used[m->low[i] | (m->high[i] & 0x7f) << 8] = true;
}

/* Only the used bytes, zeros between them. Returns how many before the first one are not needed at all. */
static size_t make_thin(struct marks *m, const uint8_t *window, size_t size)
{
	size_t first = 0;

	for (size_t i = 0; i < size; i++)
		m->window[i] = m->used[i] ? window[i] : 0;
	while (first < size && !m->used[first])
		first++;
	return first;
}

int hf_unpack_thin_window(const struct hf_box *box, struct hf_src *base, struct hf_point *point, uint8_t *window)
{
	const size_t n = point->out_size < REACH ? (size_t)point->out_size : REACH;
	struct hf_point thin = *point;
	struct marks *m = calloc(1, sizeof *m);
	size_t first;
	int err;

	if (!m)
		return HF_ERR_NOMEM;
	err = hf_unpack_read_block(box, base, point, window, 0, m->real, n, NULL);
	mark_low(point->window_size, m->window);
	if (!err)
		err = hf_unpack_read_block(box, base, point, m->window, 0, m->low, n, NULL);
	mark_high(window, point->window_size, m->window);
	if (!err)
		err = hf_unpack_read_block(box, base, point, m->window, 0, m->high, n, NULL);
	if (err)
		goto out;
	find_used(m, n);
	first = make_thin(m, window, point->window_size);
	thin.window_size -= (uint32_t)first;
	/* The proof: what the block begins with comes out of it as out of the whole one. */
	err = hf_unpack_read_block(box, base, &thin, m->window + first, 0, m->low, n, NULL);
	if (!err && memcmp(m->low, m->real, n) != 0)
		err = HF_ERR_MISMATCH;
	if (!err) {
		memcpy(window, m->window + first, thin.window_size);
		*point = thin;
	}
out:
	free(m);
	return err;
}
