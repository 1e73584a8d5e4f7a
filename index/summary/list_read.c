/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/list.h"

#include "codecs/base/bytes.h"

/* ---- bits ---- */

/* The bits from there on, the first one at the top: at least 57, and 0 past the end. */
static uint64_t look_at_bits(const struct hf_list *list)
{
	const uint8_t *p = list->at + list->bit / 8;
	uint64_t bits = 0;

	if (list->end - p >= 8)
		return __builtin_bswap64(hf_get64(p)) << list->bit % 8;
	for (unsigned i = 0; p < list->end; i += 8)
		bits |= (uint64_t)*p++ << (56 - i);
	return bits << list->bit % 8;
}

/* At most 64 bits. */
static uint64_t get_bits(struct hf_list *list, unsigned count)
{
	uint64_t value = 0;

	while (count) {
		const unsigned n = count < 32 ? count : 32;

		value = value << n | look_at_bits(list) >> (64 - n);
		list->bit += n;
		count -= n;
	}
	return value;
}

static bool is_past_end(const struct hf_list *list)
{
	return list->bit > 8 * (size_t)(list->end - list->at);
}

/* One of more bits than look_at_bits has. */
static int get_long_code(struct hf_list *list, unsigned order, uint64_t *ret_value)
{
	unsigned zeros = 0;

	while (zeros + order < 63 && !is_past_end(list) && !get_bits(list, 1))
		zeros++;
	/* The one that ended them, and the bits behind it. */
	if (zeros + order >= 63 || is_past_end(list))
		return HF_ERR_STATE;
	*ret_value = (UINT64_C(1) << (zeros + order) | get_bits(list, zeros + order)) - (UINT64_C(1) << order);
	return is_past_end(list) ? HF_ERR_STATE : 0;
}

static int get_code(struct hf_list *list, unsigned order, uint64_t *ret_value)
{
	const uint64_t bits = look_at_bits(list);
	const unsigned zeros = bits ? (unsigned)__builtin_clzll(bits) : 64, width = 2 * zeros + 1 + order;

	if (width > 57)
		return get_long_code(list, order, ret_value);
	*ret_value = (bits >> (64 - width)) - (UINT64_C(1) << order);
	list->bit += width;
	return is_past_end(list) ? HF_ERR_STATE : 0;
}

/* ---- blocks ---- */

struct skip {
	uint64_t chunks, count, size;
};

/* How many have an entry: all but the last. */
static uint64_t skips_of(uint64_t postings)
{
	return postings ? (postings - 1) / HF_LIST_BLOCK : 0;
}

static const uint8_t *get_skip(const uint8_t *p, const uint8_t *end, struct skip *ret_skip)
{
	if ((p = hf_get_varint(p, end, &ret_skip->chunks)) && (p = hf_get_varint(p, end, &ret_skip->count)))
		p = hf_get_varint(p, end, &ret_skip->size);
	return p;
}

int hf_list_open(struct hf_list *list, const uint8_t *bytes, size_t size, const struct hf_list_facts *facts)
{
	const uint64_t skips = skips_of(facts->postings);
	const uint8_t *p = bytes + 1, *end = bytes + size;
	struct skip skip;

	if (!size || !facts->postings || facts->end < facts->first || facts->postings > facts->end - facts->first ||
	    facts->total < facts->postings || skips > size)
		return HF_ERR_STATE;
	*list = (struct hf_list){
		.facts = *facts, .gap_order = bytes[0] & 15, .count_order = bytes[0] >> 4, .skip = p, .end = end};
	for (uint64_t i = 0; i < skips; i++)
		if (!(p = get_skip(p, end, &skip)))
			return HF_ERR_STATE;
	list->skips_end = list->at = p;
	list->left = facts->postings;
	list->chunk = facts->first;
	return 0;
}

int hf_list_open_single(struct hf_list *list, uint64_t chunk, const struct hf_list_facts *facts)
{
	static const uint8_t none[1];

	if (facts->postings != 1 || chunk < facts->first || chunk >= facts->end || !facts->total ||
	    facts->total > INT64_MAX)
		return HF_ERR_STATE;
	*list = (struct hf_list){.facts = *facts,
				 .skip = none,
				 .end = none,
				 .skips_end = none,
				 .at = none,
				 .left = 1,
				 .chunk = chunk,
				 .single = true};
	return 0;
}

/* The first block is the short one, so that those to come are whole. */
static bool at_block_start(const struct hf_list *list)
{
	return list->left == list->facts.postings || list->left % HF_LIST_BLOCK == 0;
}

/* At the start of a block that has an entry: that, and where the next block begins. */
static int look_ahead(const struct hf_list *list, struct skip *ret_skip, const uint8_t **ret_next)
{
	if (list->skip == list->skips_end)
		return HF_NOTE_END;
	*ret_next = get_skip(list->skip, list->skips_end, ret_skip);
	if (!*ret_next || ret_skip->size > (size_t)(list->end - list->at) ||
	    ret_skip->chunks > list->facts.end - list->chunk || ret_skip->count > list->facts.total - list->sum)
		return HF_ERR_STATE;
	return 0;
}

/* Ends the block at hand, with its bits. */
static int next_block(struct hf_list *list)
{
	list->at += (list->bit + 7) / 8;
	list->bit = 0;
	return list->at <= list->end ? 0 : HF_ERR_STATE;
}

static void pass_over(struct hf_list *list, const struct skip *skip, const uint8_t *next)
{
	list->skip = next;
	list->at += skip->size;
	list->left -= (list->left - 1) % HF_LIST_BLOCK + 1;
	list->chunk += skip->chunks;
	list->sum += skip->count;
}

/* ---- postings ---- */

static int get_single(struct hf_list *list, struct hf_posting *ret_posting)
{
	*ret_posting = (struct hf_posting){.chunk = list->chunk++, .count = list->facts.total};
	list->sum = list->facts.total;
	list->left = 0;
	return 0;
}

static int get_posting(struct hf_list *list, struct hf_posting *ret_posting)
{
	uint64_t gap, count = 0;
	int err = get_code(list, list->gap_order, &gap);

	/* As many as there are postings: each is one. */
	if (!err && list->facts.total != list->facts.postings)
		err = get_code(list, list->count_order, &count);
	if (err)
		return err;
	if (gap >= list->facts.end - list->chunk || count >= list->facts.total - list->sum)
		return HF_ERR_STATE;
	*ret_posting = (struct hf_posting){.chunk = list->chunk + gap, .count = count + 1};
	list->chunk = ret_posting->chunk + 1;
	list->sum += ret_posting->count;
	list->left--;
	return !list->left && list->sum != list->facts.total ? HF_ERR_STATE : 0;
}

int hf_list_next(struct hf_list *list, struct hf_posting *ret_posting)
{
	struct skip skip;
	const uint8_t *next;
	int err;

	if (!list->left)
		return HF_NOTE_END;
	if (list->single)
		return get_single(list, ret_posting);
	if (at_block_start(list)) {
		err = next_block(list);
		if (!err)
			err = look_ahead(list, &skip, &next);
		if (err < 0)
			return err;
		if (!err)
			list->skip = next;
	}
	return get_posting(list, ret_posting);
}

/* Passes over blocks while all of one is before chunk and before occurrence n. */
static int pass_blocks(struct hf_list *list, uint64_t chunk, uint64_t n)
{
	struct skip skip;
	const uint8_t *next;
	int err = 0;

	while (list->left && at_block_start(list)) {
		err = next_block(list);
		if (!err)
			err = look_ahead(list, &skip, &next);
		if (err || list->chunk + skip.chunks > chunk || list->sum + skip.count > n)
			break;
		pass_over(list, &skip, next);
	}
	return err < 0 ? err : 0;
}

int hf_list_seek(struct hf_list *list, uint64_t chunk, struct hf_posting *ret_posting)
{
	int err;

	do {
		err = pass_blocks(list, chunk, UINT64_MAX);
		if (!err)
			err = hf_list_next(list, ret_posting);
	} while (!err && ret_posting->chunk < chunk);
	return err;
}

int hf_list_nth(struct hf_list *list, uint64_t n, struct hf_posting *ret_posting, uint64_t *ret_before)
{
	int err;

	do {
		err = pass_blocks(list, UINT64_MAX, n);
		if (!err)
			err = hf_list_next(list, ret_posting);
	} while (!err && list->sum <= n);
	*ret_before = err ? 0 : list->sum - ret_posting->count;
	return err;
}
