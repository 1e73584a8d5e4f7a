/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/list.h"

#include "codecs/base/bytes.h"

/* ---- bits ---- */

/* Bits that are known after a look. */
enum { LOOKED = 57 };

/* Where codes are read. Only inline functions get its address, so it stays in registers. */
struct bits {
	const uint8_t *at, *readable;
	size_t bit;
};

/* The next bits, the first one at the top: at least LOOKED. Those past the end are of no use: whoever takes them looks
 * afterwards whether they were past it. */
static inline uint64_t look_at_bits(const uint8_t *at, const uint8_t *readable, size_t bit)
{
	const uint8_t *p = at + bit / 8;
	uint64_t bits = 0;

	if (readable - p >= 8)
		return __builtin_bswap64(hf_get64(p)) << bit % 8;
	for (unsigned i = 0; p < readable; i += 8)
		bits |= (uint64_t)*p++ << (56 - i);
	return bits << bit % 8;
}

/* At most 64 bits. */
static uint64_t get_bits(const uint8_t *at, const uint8_t *readable, size_t *bit, unsigned count)
{
	uint64_t value = 0;

	while (count) {
		const unsigned n = count < 32 ? count : 32;

		value = value << n | look_at_bits(at, readable, *bit) >> (64 - n);
		*bit += n;
		count -= n;
	}
	return value;
}

/* One of any width. Where it ends, 0: it is none. */
static size_t get_any_code(const uint8_t *at, const uint8_t *readable, size_t bit, unsigned order, uint64_t *ret_value)
{
	unsigned zeros = 0;

	while (zeros + order < 63 && !get_bits(at, readable, &bit, 1))
		zeros++;
	/* The one that ended them, and the bits behind it. */
	if (zeros + order >= 63)
		return 0;
	*ret_value = (UINT64_C(1) << (zeros + order) | get_bits(at, readable, &bit, zeros + order)) -
		     (UINT64_C(1) << order);
	return bit;
}

/* Of the code at the top. */
static inline unsigned width_of(uint64_t bits, unsigned order)
{
	return 2 * (unsigned)__builtin_clzll(bits | 1) + 1 + order;
}

static inline uint64_t value_of(uint64_t bits, unsigned width, unsigned order)
{
	return (bits >> (64 - width)) - (UINT64_C(1) << order);
}

static inline bool get_code(struct bits *b, unsigned order, uint64_t *ret_value)
{
	const uint64_t bits = look_at_bits(b->at, b->readable, b->bit);
	const unsigned width = width_of(bits, order);
	uint64_t value = 0;

	if (width <= LOOKED) {
		*ret_value = value_of(bits, width, order);
		b->bit += width;
		return true;
	}
	b->bit = get_any_code(b->at, b->readable, b->bit, order, &value);
	*ret_value = value;
	return b->bit != 0;
}

/* The next two at one look, which is quicker. */
static inline bool get_two_codes(struct bits *b, unsigned order, unsigned next_order, uint64_t *ret_value, uint64_t *ret_next)
{
	const uint64_t bits = look_at_bits(b->at, b->readable, b->bit);
	const unsigned width = width_of(bits, order);

	if (width <= LOOKED / 2) {
		const uint64_t rest = bits << width;
		const unsigned next = width_of(rest, next_order);

		if (next <= LOOKED / 2) {
			*ret_value = value_of(bits, width, order);
			*ret_next = value_of(rest, next, next_order);
			b->bit += width + next;
			return true;
		}
	}
	return get_code(b, order, ret_value) && get_code(b, next_order, ret_next);
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
	*list = (struct hf_list){.facts = *facts,
				 .gap_order = bytes[0] & 15,
				 .count_order = bytes[0] >> 4,
				 .skip = p,
				 .end = end,
				 .readable = end};
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
				 .readable = none,
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

/* The next n of the block at hand. counted: their counts are coded, otherwise each is 1. */
static int get_postings(struct hf_list *list, struct hf_posting *postings, size_t n, bool counted)
{
	const unsigned gap_order = list->gap_order, count_order = list->count_order;
	const uint64_t end = list->facts.end, total = list->facts.total;
	struct bits bits = {.at = list->at, .readable = list->readable, .bit = list->bit};
	uint64_t chunk = list->chunk, sum = list->sum;

	for (size_t i = 0; i < n; i++) {
		uint64_t gap, count = 0;

		if (counted ? !get_two_codes(&bits, gap_order, count_order, &gap, &count) : !get_code(&bits, gap_order, &gap))
			return HF_ERR_STATE;
		if (gap >= end - chunk || count >= total - sum)
			return HF_ERR_STATE;
		postings[i] = (struct hf_posting){.chunk = chunk + gap, .count = count + 1};
		chunk += gap + 1;
		sum += count + 1;
	}
	list->bit = bits.bit;
	list->chunk = chunk;
	list->sum = sum;
	list->left -= n;
	if (bits.bit > 8 * (size_t)(list->end - list->at) || (!list->left && sum != total))
		return HF_ERR_STATE;
	return 0;
}

static int enter_block(struct hf_list *list)
{
	struct skip skip;
	const uint8_t *next;
	int err = next_block(list);

	if (!err)
		err = look_ahead(list, &skip, &next);
	if (!err)
		list->skip = next;
	return err < 0 ? err : 0;
}

int hf_list_take(struct hf_list *list, struct hf_posting *postings, size_t max, size_t *ret_n)
{
	size_t n = 0;
	int err = list->left ? 0 : HF_NOTE_END;

	if (list->single && !err && max)
		err = get_single(list, &postings[n++]);
	while (!err && n < max && list->left) {
		const uint64_t block = (list->left - 1) % HF_LIST_BLOCK + 1;
		const size_t some = block < max - n ? (size_t)block : max - n;

		err = at_block_start(list) ? enter_block(list) : 0;
		if (!err)
			err = get_postings(list, &postings[n], some, list->facts.total != list->facts.postings);
		n += some;
	}
	*ret_n = err ? 0 : n;
	return err;
}

int hf_list_next(struct hf_list *list, struct hf_posting *ret_posting)
{
	size_t n;

	return hf_list_take(list, ret_posting, 1, &n);
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
