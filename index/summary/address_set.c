/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/address_set.h"

#include "codecs/base/err.h"
#include "index/summary/order.h"

#include <stdlib.h>
#include <string.h>

/* Block 0 has no units: last points to it as long as there is no other. */
enum { BLOCKS = 8192, SLOTS = 4 * BLOCKS, LONGS = 256 };
#define NO_BLOCK UINT64_MAX /* units have at most 61 bits */

int hf_address_set_init(struct hf_address_set *t)
{
	t->blocks = malloc((BLOCKS + 1) * sizeof *t->blocks);
	t->slots = calloc(SLOTS, sizeof *t->slots);
	t->spare = malloc(BLOCKS * sizeof *t->blocks);
	t->longs = malloc(LONGS * sizeof *t->longs);
	if (!t->blocks || !t->slots || !t->longs)
		return HF_ERR_NOMEM;
	t->blocks[0] = (struct hf_address_set_block){.number = NO_BLOCK};
	t->last = t->blocks;
	return 0;
}

void hf_address_set_fini(struct hf_address_set *t)
{
	free(t->blocks);
	free(t->spare);
	free(t->slots);
	free(t->longs);
	free(t->ranges);
}

/* ---- adding ---- */

/* Finds or adds the block with that number. NULL: there is no room. */
static struct hf_address_set_block *find(struct hf_address_set *t, uint64_t number)
{
	uint64_t hash = number * UINT64_C(0xa0761d6478bd642f);
	struct hf_address_set_block *block;
	uint32_t at = (uint32_t)(hash >> 32) % SLOTS;

	for (; t->slots[at]; at = (at + 1) % SLOTS)
		if (t->blocks[t->slots[at]].number == number)
			return &t->blocks[t->slots[at]];
	if (t->count == BLOCKS)
		return NULL;
	t->slots[at] = (uint16_t)++t->count;
	block = &t->blocks[t->count];
	*block = (struct hf_address_set_block){.number = number, .slot = at};
	return block;
}

bool hf_address_set_add_slowly(struct hf_address_set *t, uint64_t first, uint64_t last)
{
	if (last - first >= HF_ADDRESS_SET_LONG) {
		if (t->long_count == LONGS)
			return false;
		t->longs[t->long_count++] = (struct hf_range){.first = first, .last = last};
		return true;
	}
	for (uint64_t number = first / 64; number <= last / 64; number++) {
		const uint64_t low = number == first / 64 ? first % 64 : 0;
		const uint64_t high = number == last / 64 ? last % 64 : 63;
		struct hf_address_set_block *block = find(t, number);

		if (!block)
			return false;
		block->bits |= (UINT64_MAX >> (63 - (high - low))) << low;
		t->last = block;
	}
	return true;
}

/* ---- taking ---- */

static int compare_blocks(const void *a, const void *b)
{
	const struct hf_address_set_block *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Few blocks are sorted in place. */
static void sort_blocks(struct hf_address_set *t)
{
	if (t->count < 64)
		qsort(t->blocks + 1, t->count, sizeof *t->blocks, compare_blocks);
	else
		hf_order(t->blocks + 1, t->spare, t->count, sizeof *t->blocks);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct hf_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Adds a range behind n others, or to the last of them if they touch. Returns how many there are. */
static size_t add_range(struct hf_range *ranges, size_t n, uint64_t first, uint64_t last)
{
	if (n && first <= ranges[n - 1].last + 1) {
		if (last > ranges[n - 1].last)
			ranges[n - 1].last = last;
		return n;
	}
	ranges[n] = (struct hf_range){.first = first, .last = last};
	return n + 1;
}

static size_t add_bits(struct hf_range *ranges, size_t n, const struct hf_address_set_block *block)
{
	uint64_t bits = block->bits;

	while (bits) {
		const unsigned low = (unsigned)__builtin_ctzll(bits);
		const uint64_t rest = ~(bits >> low);
		const unsigned length = rest ? (unsigned)__builtin_ctzll(rest) : 64;

		n = add_range(ranges, n, block->number * 64 + low, block->number * 64 + low + length - 1);
		bits &= length + low < 64 ? UINT64_MAX << (low + length) : 0;
	}
	return n;
}

static size_t add_longs(struct hf_address_set *t, size_t n)
{
	size_t merged = 0;

	memcpy(t->ranges + n, t->longs, t->long_count * sizeof *t->longs);
	n += t->long_count;
	qsort(t->ranges, n, sizeof *t->ranges, compare_ranges);
	for (size_t i = 0; i < n; i++)
		merged = add_range(t->ranges, merged, t->ranges[i].first, t->ranges[i].last);
	return merged;
}

/* Allocates room for as many ranges as there can be. */
static int make_room(struct hf_address_set *t)
{
	const uint32_t most = 32 * t->count + t->long_count;

	if (most <= t->room)
		return 0;
	free(t->ranges);
	t->room = most < 2 * t->room ? 2 * t->room : most;
	t->ranges = malloc(t->room * sizeof *t->ranges);
	if (t->ranges)
		return 0;
	t->room = 0;
	return HF_ERR_NOMEM;
}

int hf_address_set_take(struct hf_address_set *t, const struct hf_range **ret_ranges, size_t *ret_n)
{
	size_t n = 0;
	int err = make_room(t);

	if (err)
		return err;
	for (uint32_t i = 1; i <= t->count; i++)
		t->slots[t->blocks[i].slot] = 0;
	sort_blocks(t);
	for (uint32_t i = 1; i <= t->count; i++)
		n = add_bits(t->ranges, n, &t->blocks[i]);
	if (t->long_count)
		n = add_longs(t, n);
	t->count = t->long_count = 0;
	t->last = t->blocks;
	*ret_ranges = t->ranges;
	*ret_n = n;
	return 0;
}

/* ---- to a file and back ---- */

static void keep_block(struct hf_address_set *t, uint32_t i, struct hf_keep *k)
{
	uint64_t number = k->load ? 0 : t->blocks[i].number, bits = k->load ? 0 : t->blocks[i].bits;
	struct hf_address_set_block *block;

	HF_KEEP(k, number, UINT64_MAX / 64);
	HF_KEEP(k, bits, UINT64_MAX);
	if (!k->load || k->err)
		return;
	block = find(t, number);
	hf_keep_check(k, block && t->count == i);
	if (block)
		block->bits = bits;
}

void hf_address_set_keep(struct hf_address_set *t, struct hf_keep *k)
{
	uint32_t count = t->count, longs = t->long_count;

	HF_KEEP(k, count, BLOCKS);
	for (uint32_t i = 1; i <= count && !k->err; i++)
		keep_block(t, i, k);
	HF_KEEP(k, longs, LONGS);
	for (uint32_t i = 0; i < longs && !k->err; i++) {
		HF_KEEP(k, t->longs[i].first, UINT64_MAX);
		HF_KEEP(k, t->longs[i].last, UINT64_MAX);
		hf_keep_check(k, t->longs[i].first <= t->longs[i].last);
	}
	t->long_count = k->err ? 0 : longs;
}
