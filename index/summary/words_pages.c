/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/words_pages.h"

#include "index/summary/inverse_read.h"
#include "index/summary/summary.h"

#include <stdlib.h>
#include <string.h>

/* A range of more pages stays one row. */
enum { SPLIT_MAX = 256 };

/* Bytes of the sets of chunks: if they would take more, fewer chunks are looked at in a round. */
#define SETS_MAX (UINT64_C(32) << 20)

/* Pages that there is room for at first. */
#define FIRST_ROOM 64u

struct counting {
	struct hf_summary *summary;
	struct hf_list_reader *reader;
	enum hf_inverse_part part;
	uint64_t first;	    /* of the chunks that are asked for */
	uint64_t low, high; /* chunks of this round */
	struct hf_words_pages *pages;
	size_t room;
	uint32_t last;	/* number of the page that was found last */
	uint32_t *slot; /* 1 + number of a page, 0: free; twice the room */
	uint64_t *sets; /* of each page: its chunks of this round */
	size_t set_words;
};

static int by_place(const void *a, const void *b)
{
	const struct hf_words_page *x = a, *y = b;

	if (x->unknown != y->unknown)
		return x->unknown - y->unknown;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->last < y->last ? -1 : x->last > y->last;
}

/* Bytes of a key, as far as they are known. */
static int range_of(const struct hf_inverse_key *key, struct hf_words_page *ret_range)
{
	uint64_t last_unit;

	*ret_range = (struct hf_words_page){.last = UINT64_MAX, .unknown = key->level == HF_WORDS_UNKNOWN};
	if (key->level >= HF_WORDS_UNKNOWN)
		return 0;
	if (__builtin_add_overflow(key->a, key->b, &last_unit) || last_unit > UINT64_MAX >> key->level)
		return HF_ERR_STATE;
	ret_range->first = key->a << key->level;
	ret_range->last = (last_unit << key->level) + ((UINT64_C(1) << key->level) - 1);
	return 0;
}

/* How many pages the range of a key is made of; 0: it stays as it is. */
static uint64_t count_pages(const struct hf_inverse_key *key, const struct hf_words_page *range)
{
	const uint64_t n = (range->last >> HF_WORDS_PAGE) - (range->first >> HF_WORDS_PAGE);

	return key->level > HF_WORDS_PAGE || n >= SPLIT_MAX ? 0 : n + 1;
}

static struct hf_words_page page_of(const struct hf_words_page *range, uint64_t i)
{
	const uint64_t first = ((range->first >> HF_WORDS_PAGE) + i) << HF_WORDS_PAGE;

	return (struct hf_words_page){.first = first, .last = first + ((UINT64_C(1) << HF_WORDS_PAGE) - 1)};
}

/* ---- pages ---- */

static size_t slot_of(const struct counting *c, const struct hf_words_page *page)
{
	const uint64_t hash = (page->first >> HF_WORDS_PAGE ^ page->last << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash >> 32) & (2 * c->room - 1);
}

/* The slot of a page, which is free if it is a new one. */
static uint32_t *find_slot(const struct counting *c, const struct hf_words_page *page)
{
	size_t at = slot_of(c, page);

	while (c->slot[at] && by_place(&c->pages->page[c->slot[at] - 1], page) != 0)
		at = (at + 1) & (2 * c->room - 1);
	return &c->slot[at];
}

/* Half as many chunks in this round. */
static void narrow(struct counting *c)
{
	const size_t words = (c->set_words + 1) / 2;

	for (size_t i = 0; i < c->pages->count; i++)
		memmove(&c->sets[i * words], &c->sets[i * c->set_words], words * sizeof *c->sets);
	c->set_words = words;
	if (c->high - c->low > 64 * words)
		c->high = c->low + 64 * words;
}

static int grow(struct counting *c)
{
	const size_t room = c->room ? 2 * c->room : FIRST_ROOM;
	struct hf_words_page *page;
	uint32_t *slot;
	uint64_t *sets;

	if (c->room >= HF_WORDS_PAGES_MAX)
		return HF_ERR_LIMIT;
	while (c->set_words > 1 && c->set_words > SETS_MAX / sizeof *c->sets / room)
		narrow(c);
	page = realloc(c->pages->page, room * sizeof *page);
	if (page)
		c->pages->page = page;
	sets = realloc(c->sets, room * c->set_words * sizeof *sets);
	if (sets)
		c->sets = sets;
	slot = calloc(2 * room, sizeof *slot);
	if (!page || !sets || !slot) {
		free(slot);
		return HF_ERR_NOMEM;
	}
	free(c->slot);
	c->slot = slot;
	c->room = room;
	for (size_t i = 0; i < c->pages->count; i++)
		*find_slot(c, &page[i]) = (uint32_t)i + 1;
	return 0;
}

/* HF_ERR_LIMIT: it is one page too many. */
static int find_page(struct counting *c, const struct hf_words_page *page, uint32_t *ret_number)
{
	struct hf_words_pages *pages = c->pages;
	uint32_t *slot;
	int err;

	/* Neighbours mostly lie in one page. */
	if (pages->count && !by_place(&pages->page[c->last], page)) {
		*ret_number = c->last;
		return 0;
	}
	slot = c->room ? find_slot(c, page) : NULL;
	if (!slot || (!*slot && pages->count == c->room)) {
		if ((err = grow(c)))
			return err;
		slot = find_slot(c, page);
	}
	if (!*slot) {
		pages->page[pages->count] = *page;
		memset(&c->sets[pages->count * c->set_words], 0, c->set_words * sizeof *c->sets);
		*slot = (uint32_t)++pages->count;
	}
	*ret_number = c->last = *slot - 1;
	return 0;
}

/* ---- in how many chunks ---- */

/* Whether the page has all chunks of the span already: no list of it can add any. */
static bool is_full(const struct counting *c, size_t page, const struct hf_list_facts *span)
{
	const uint64_t *set = &c->sets[page * c->set_words];
	const uint64_t from = span->first > c->low ? span->first - c->low : 0;
	const uint64_t to = (span->end < c->high ? span->end : c->high) - c->low;

	for (uint64_t at = from; at < to; at = (at | 63) + 1) {
		uint64_t bits = UINT64_MAX << at % 64;

		if (to <= (at | 63))
			bits &= ~(UINT64_MAX << to % 64);
		if (bits & ~set[at / 64])
			return false;
	}
	return true;
}

static void add_postings(const struct counting *c, const uint32_t *page, size_t pages, const struct hf_posting *posting,
			 size_t n)
{
	for (size_t i = 0; i < pages; i++) {
		uint64_t *set = &c->sets[page[i] * c->set_words];

		for (size_t k = 0; k < n; k++) {
			const uint64_t chunk = posting[k].chunk;

			if (chunk >= c->low && chunk < c->high)
				set[(chunk - c->low) / 64] |= UINT64_C(1) << (chunk - c->low) % 64;
		}
	}
}

static int add_list(const struct counting *c, const struct hf_inverse_found *found, const uint32_t *page, size_t pages)
{
	struct hf_posting posting[HF_LIST_BLOCK];
	struct hf_list list;
	size_t n;
	int err;

	/* Many have no list. */
	if (found->facts.postings == 1) {
		posting[0].chunk = found->place;
		add_postings(c, page, pages, posting, 1);
		return 0;
	}
	err = hf_inverse_list_by(c->summary, c->reader, c->part, found, &list);
	while (!err && list.left) {
		err = hf_list_take(&list, posting, HF_LIST_BLOCK, &n);
		if (!err)
			add_postings(c, page, pages, posting, n);
	}
	return err;
}

/* Nothing is left out twice: a span may be in several rounds. */
static bool is_first_round(const struct counting *c, const struct hf_inverse_found *found)
{
	return c->low == c->first || found->facts.first >= c->low;
}

static int add_key(void *ctx, const struct hf_inverse_found *found)
{
	struct counting *c = ctx;
	struct hf_words_page range;
	uint32_t pages[SPLIT_MAX], number;
	uint64_t n, some = 0;
	bool left_out = false;
	int err = found->facts.first >= c->high ? HF_NOTE_SPAN : range_of(&found->key, &range);

	if (err)
		return err;
	n = count_pages(&found->key, &range);
	for (uint64_t i = 0; !err && i < (n ? n : 1); i++) {
		const struct hf_words_page page = n ? page_of(&range, i) : range;

		err = find_page(c, &page, &number);
		if (!err && !is_full(c, number, &found->facts))
			pages[some++] = number;
		if (err == HF_ERR_LIMIT) {
			left_out = true;
			err = 0;
		}
	}
	c->pages->left_out += left_out && is_first_round(c, found);
	return err || !some ? err : add_list(c, found, pages, some);
}

/* The chunks from low on, as many as there is room for. */
static int count_round(struct counting *c, uint32_t hart, uint64_t end)
{
	const struct hf_inverse_question question = {.part = c->part,
						     .last = UINT64_MAX,
						     .shift = hf_words_shift,
						     .places = true,
						     .windowed = true,
						     .low = c->low,
						     .high = end};
	int err;

	c->high = end - c->low > 64 * c->set_words ? c->low + 64 * c->set_words : end;
	if (c->pages->count)
		memset(c->sets, 0, c->pages->count * c->set_words * sizeof *c->sets);
	err = hf_inverse_find(c->summary, hart, &question, add_key, c);
	for (size_t i = 0; i < c->pages->count; i++)
		for (size_t k = 0; k < c->set_words; k++)
			c->pages->page[i].chunks += (uint64_t)__builtin_popcountll(c->sets[i * c->set_words + k]);
	return err;
}

/* Pages may be of chunks that were not asked for. */
static void keep_touched(struct hf_words_pages *pages)
{
	size_t kept = 0;

	for (size_t i = 0; i < pages->count; i++)
		if (pages->page[i].chunks)
			pages->page[kept++] = pages->page[i];
	pages->count = kept;
	if (kept)
		qsort(pages->page, kept, sizeof *pages->page, by_place);
}

static int count_all(struct counting *c, uint32_t hart, uint64_t end)
{
	int err = hf_list_reader_new(&c->reader);

	c->set_words = (end - c->first) / 64 + 1;
	for (c->low = c->first; !err && c->low < end; c->low = c->high)
		err = count_round(c, hart, end);
	hf_list_reader_free(c->reader);
	free(c->slot);
	free(c->sets);
	return err;
}

int hf_words_pages_count(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, uint64_t first,
			 uint64_t end, struct hf_words_pages *ret_pages)
{
	struct counting c = {
		.summary = summary, .part = (enum hf_inverse_part)what, .first = first, .pages = ret_pages};
	struct hf_inverse_head head;
	int err = hf_inverse_head(summary, hart, c.part, &head);

	*ret_pages = (struct hf_words_pages){0};
	if (!err && !head.known)
		err = HF_ERR_UNSUPPORTED;
	if (!err && first < end)
		err = count_all(&c, hart, end);
	if (err)
		hf_words_pages_free(ret_pages);
	else
		keep_touched(ret_pages);
	return err;
}

void hf_words_pages_free(struct hf_words_pages *pages)
{
	free(pages->page);
	*pages = (struct hf_words_pages){0};
}
