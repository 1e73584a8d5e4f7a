/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/bytes/channels.h"

#include "codecs/text/text.h"
#include "codecs/views.h"
#include "fs/base/views.h"
#include "fs/bytes/kinds.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/facts/opened.h"

#include <stdlib.h>
#include <string.h>

size_t hf_views_channels(void)
{
	size_t i = 0;

	while (i < HF_ENC_COUNT && !(hf_views[i]->flags & HF_ENC_CHANNELS))
		i++;
	return i < HF_ENC_COUNT ? i : HF_VIEW_COUNT;
}

/* ---- a row of the view ---- */

/* What all channels had before that row. */
static int load_entry(const struct hf_open *open, uint32_t hart, const struct hf_view_chunk *row, struct hf_enc **ret_enc)
{
	int err = hf_enc_new(hf_views[hf_views_channels()], open->stream, hart, NULL, ret_enc);

	if (!err && row->entry_size)
		err = hf_enc_load(*ret_enc, row->entry, row->entry_size);
	if (err)
		hf_enc_free(*ret_enc);
	return err;
}

/* Its number: the cache knows it by another one. */
static uint32_t channel_of(const struct hf_bytes *bytes)
{
	const struct hf_channels *channels = bytes->own;
	size_t i = 0;

	while (i + 1 < channels->count && channels->channel[i].owner != bytes->owner)
		i++;
	return channels->channel[i].number;
}

static int size_before(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, uint64_t *ret_size)
{
	struct hf_view_chunk *row = malloc(sizeof *row);
	const struct hf_text_channel *channel;
	const uint32_t wanted = channel_of(bytes);
	struct hf_enc *enc;
	size_t n;
	int err = row ? hf_view_table_chunk(open->table[hf_views_channels()], bytes->hart, number, row) : HF_ERR_NOMEM;

	*ret_size = 0;
	if (!err)
		err = load_entry(open, bytes->hart, row, &enc);
	free(row);
	if (err)
		return err;
	channel = hf_text_channels(enc, &n);
	for (size_t i = 0; i < n; i++)
		if (channel[i].number == wanted)
			*ret_size = channel[i].size;
	hf_enc_free(enc);
	return 0;
}

/* The bytes of a row of the view, malloc'ed. */
static int make_row(struct hf_capture *capture, struct hf_open *open, uint32_t hart, uint64_t number,
		    struct hf_worker *worker, uint8_t **ret_bytes, size_t *ret_size)
{
	struct hf_bytes whole;
	int err = hf_bytes_of_view(capture, open->facts, hart, hf_views_channels(), &whole);

	return err ? err : hf_bytes_make_piece(&whole, open, number, worker, ret_bytes, ret_size);
}

/* ---- all channels ---- */

static int by_number(const void *a, const void *b)
{
	const struct hf_channel *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Adds what the frames say to the channel of each. */
static int add_frames(struct hf_channels *channels, const uint8_t *p, size_t n)
{
	uint32_t number;
	const uint8_t *bytes;
	size_t size, got;

	for (; n; p += size, n -= size) {
		size_t i = 0;

		size = hf_text_frame(p, n, &number, &bytes, &got);
		if (!size)
			return HF_ERR_MISMATCH;
		while (i < channels->count && channels->channel[i].number != number)
			i++;
		if (i == HF_TEXT_CHANNELS)
			return HF_ERR_MISMATCH;
		if (i == channels->count)
			channels->channel[channels->count++] = (struct hf_channel){.number = number};
		channels->channel[i].size += got;
	}
	return 0;
}

/* The channels are those before the last row, and those in it. */
static int make(void *ctx, struct hf_open *open, struct hf_worker *worker)
{
	struct hf_channels *channels = ctx;
	const uint32_t hart = channels->made.hart;
	const size_t view = hf_views_channels();
	const uint64_t rows = open->table[view] ? hf_view_table_rows(open->table[view], hart) : 0;
	struct hf_view_chunk *row = malloc(sizeof *row);
	const struct hf_text_channel *known;
	struct hf_enc *enc = NULL;
	uint8_t *bytes = NULL;
	size_t n = 0, size;
	int err = !row ? HF_ERR_NOMEM : rows ? 0 : HF_ERR_NOT_FOUND;

	channels->channel = calloc(HF_TEXT_CHANNELS, sizeof *channels->channel);
	channels->made.bytes = sizeof *channels + HF_TEXT_CHANNELS * sizeof *channels->channel;
	if (!err && !channels->channel)
		err = HF_ERR_NOMEM;
	if (!err)
		err = hf_view_table_chunk(open->table[view], hart, rows - 1, row);
	if (!err)
		err = load_entry(open, hart, row, &enc);
	if (!err) {
		known = hf_text_channels(enc, &n);
		for (size_t i = 0; i < n; i++)
			channels->channel[channels->count++] =
				(struct hf_channel){.number = known[i].number, .size = known[i].size};
		hf_enc_free(enc);
		err = make_row(channels->made.capture, open, hart, rows - 1, worker, &bytes, &size);
	}
	if (!err)
		err = add_frames(channels, bytes, size);
	free(bytes);
	free(row);
	if (err)
		return err;
	qsort(channels->channel, channels->count, sizeof *channels->channel, by_number);
	for (size_t i = 0; i < channels->count; i++)
		channels->channel[i].owner = hf_cache_owner(channels->made.capture->common->cache);
	return 0;
}

static bool is_same(const struct hf_made *a, const struct hf_made *b)
{
	return a->hart == b->hart;
}

static void free_channels(struct hf_made *made)
{
	struct hf_channels *channels = (struct hf_channels *)made;

	for (size_t i = 0; i < channels->count; i++)
		if (channels->channel[i].owner)
			hf_cache_drop(made->capture->common->cache, channels->channel[i].owner);
	free(channels->channel);
}

const struct hf_made_kind hf_made_channels = {.size = sizeof(struct hf_channels),
					      .most = HF_CHANNELS_KEPT,
					      .most_bytes = HF_CHANNELS_BYTES,
					      .is_same = is_same,
					      .make = make,
					      .free = free_channels};

int hf_channels_get(struct hf_mades *mades, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		    struct hf_channels **ret_channels)
{
	struct hf_channels key = {.made = {.capture = capture, .version = facts->version, .hart = hart}};
	const struct hf_facts_hart *found = hf_facts_hart(facts, hart);
	const size_t view = hf_views_channels();

	if (!found || view == HF_VIEW_COUNT || found->view[view].size == HF_NOWHERE || !found->view[view].size)
		return HF_ERR_NOT_FOUND;
	return hf_made_get(mades, &key.made, (struct hf_made **)ret_channels);
}

/* ---- the bytes of one ---- */

static void ref_bytes(const struct hf_bytes *bytes)
{
	hf_made_ref(bytes->own);
}

static void unref_bytes(const struct hf_bytes *bytes)
{
	hf_made_put(bytes->own);
}

static int piece_of(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece)
{
	const uint64_t rows = hf_view_table_rows(open->table[hf_views_channels()], bytes->hart);
	uint64_t offset, end = bytes->size;
	int err;

	if (number >= rows)
		return HF_NOTE_END;
	err = size_before(bytes, open, number, &offset);
	if (!err && number + 1 < rows)
		err = size_before(bytes, open, number + 1, &end);
	if (!err && (offset > end || end > bytes->size))
		err = HF_ERR_MISMATCH;
	*ret_piece = (struct hf_piece){.number = number, .offset = offset, .size = end - offset};
	return err;
}

/* The last row that begins there or before, and has bytes of the channel. */
static int piece_at(const struct hf_bytes *bytes, struct hf_open *open, uint64_t offset, struct hf_piece *ret_piece)
{
	uint64_t low = 0, high = hf_view_table_rows(open->table[hf_views_channels()], bytes->hart);
	int err = 0;

	if (offset >= bytes->size)
		return HF_NOTE_END;
	while (high - low > 1 && !err) {
		const uint64_t mid = low + (high - low) / 2;
		uint64_t before;

		err = size_before(bytes, open, mid, &before);
		if (before <= offset)
			low = mid;
		else
			high = mid;
	}
	return err ? err : piece_of(bytes, open, low, ret_piece);
}

static int fill(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_worker *worker, uint8_t *to)
{
	const uint32_t wanted = channel_of(bytes);
	uint64_t left = piece->size;
	uint8_t *row = NULL, *p;
	size_t n = 0, size, got;
	int err = piece->size ? make_row(bytes->capture, open, bytes->hart, piece->number, worker, &row, &n) : 0;

	for (p = row; n && !err; p += size, n -= size) {
		const uint8_t *text;
		uint32_t number;

		size = hf_text_frame(p, n, &number, &text, &got);
		if (!size || (number == wanted && got > left)) {
			err = HF_ERR_MISMATCH;
		} else if (number == wanted) {
			memcpy(to, text, got);
			to += got;
			left -= got;
		}
	}
	free(row);
	return err ? err : left ? HF_ERR_MISMATCH : 0;
}

static const struct hf_bytes_ops bytes_ops = {
	.piece_at = piece_at,
	.piece = piece_of,
	.fill = fill,
	.ref = ref_bytes,
	.unref = unref_bytes,
	.table = true,
};

int hf_channels_bytes(struct hf_mades *mades, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		      uint32_t number, struct hf_bytes *ret_bytes)
{
	struct hf_channels *channels;
	int err = hf_channels_get(mades, capture, facts, hart, &channels);

	if (err)
		return err;
	for (size_t i = 0; i < channels->count; i++)
		if (channels->channel[i].number == number) {
			*ret_bytes = (struct hf_bytes){.ops = &bytes_ops,
						       .capture = capture,
						       .version = facts->version,
						       .owner = channels->channel[i].owner,
						       .size = channels->channel[i].size,
						       .hart = hart,
						       .view = hf_views_channels(),
						       .own = channels};
			return 0;
		}
	hf_made_put(&channels->made);
	return HF_ERR_NOT_FOUND;
}
