/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/list.h"

#include "codecs/base/bytes.h"

#include <stdlib.h>

/* Bytes that one posting takes at most: two codes of 128 bits, and an entry for its block. */
enum { POSTING_MOST = 64, ORDER_MOST = 15 };

static int make_room(struct hf_list_bytes *bytes, size_t more)
{
	size_t room = bytes->room ? bytes->room : 4096;
	uint8_t *bigger;

	if (bytes->room - bytes->n >= more)
		return 0;
	while (room - bytes->n < more)
		room *= 2;
	bigger = realloc(bytes->p, room);
	if (!bigger)
		return HF_ERR_NOMEM;
	bytes->p = bigger;
	bytes->room = room;
	return 0;
}

static void add_varint(struct hf_list_bytes *bytes, uint64_t value)
{
	bytes->n = (size_t)(hf_put_varint(bytes->p + bytes->n, value) - bytes->p);
}

/* The order of the code that suits numbers of that mean: most are below it. */
static unsigned order_for(uint64_t sum, uint64_t n)
{
	const uint64_t mean = n ? sum / n : 0;
	const unsigned order = mean > 1 ? 63u - (unsigned)__builtin_clzll(mean) : 0;

	return order > 1 ? (order - 1 < ORDER_MOST ? order - 1 : ORDER_MOST) : 0;
}

void hf_list_begin(struct hf_list_writer *w, const struct hf_list_facts *facts, uint64_t last)
{
	w->facts = *facts;
	w->out.n = w->blocks.n = w->skips.n = 0;
	w->gap_order = order_for(last - facts->first + 1 - facts->postings, facts->postings);
	w->count_order = order_for(facts->total - facts->postings, facts->postings);
	w->left = facts->postings;
	w->chunk = w->block_chunk = facts->first;
	w->count = w->block_at = 0;
	w->bits = w->bit_count = 0;
}

/* At most 32 bits. */
static void put_bits(struct hf_list_writer *w, uint64_t value, unsigned count)
{
	w->bits = w->bits << count | value;
	w->bit_count += count;
	while (w->bit_count >= 8) {
		w->bit_count -= 8;
		w->blocks.p[w->blocks.n++] = (uint8_t)(w->bits >> w->bit_count);
	}
}

static void put_long(struct hf_list_writer *w, uint64_t value, unsigned count)
{
	if (count > 32)
		put_bits(w, value >> 32, count - 32);
	put_bits(w, value & UINT32_MAX & ((UINT64_C(1) << (count < 32 ? count : 32)) - 1), count < 32 ? count : 32);
}

/* Exponential Golomb: as many zeros as the number has bits above the order, then these bits. */
static void put_code(struct hf_list_writer *w, uint64_t value, unsigned order)
{
	const uint64_t shifted = value + (UINT64_C(1) << order);
	const unsigned width = 64u - (unsigned)__builtin_clzll(shifted);

	put_long(w, 0, width - 1 - order);
	put_long(w, shifted, width);
}

static void end_block(struct hf_list_writer *w)
{
	if (w->bit_count)
		put_bits(w, 0, 8 - w->bit_count);
	if (w->left) {
		add_varint(&w->skips, w->chunk - w->block_chunk);
		add_varint(&w->skips, w->count);
		add_varint(&w->skips, w->blocks.n - w->block_at);
	}
	w->block_chunk = w->chunk;
	w->block_at = w->blocks.n;
	w->count = 0;
}

int hf_list_add(struct hf_list_writer *w, const struct hf_posting *posting)
{
	int err = make_room(&w->blocks, POSTING_MOST);

	if (!err)
		err = make_room(&w->skips, POSTING_MOST);
	if (err)
		return err;
	put_code(w, posting->chunk - w->chunk, w->gap_order);
	if (w->facts.total != w->facts.postings)
		put_code(w, posting->count - 1, w->count_order);
	w->chunk = posting->chunk + 1;
	w->count += posting->count;
	if (--w->left % HF_LIST_BLOCK == 0)
		end_block(w);
	return 0;
}

int hf_list_end(struct hf_list_writer *w)
{
	int err = make_room(&w->out, 1 + w->skips.n + w->blocks.n);

	if (err)
		return err;
	w->out.p[w->out.n++] = (uint8_t)(w->gap_order | w->count_order << 4);
	if (w->skips.n)
		memcpy(w->out.p + w->out.n, w->skips.p, w->skips.n);
	w->out.n += w->skips.n;
	if (w->blocks.n)
		memcpy(w->out.p + w->out.n, w->blocks.p, w->blocks.n);
	w->out.n += w->blocks.n;
	return 0;
}

void hf_list_writer_fini(struct hf_list_writer *w)
{
	free(w->out.p);
	free(w->blocks.p);
	free(w->skips.p);
}
