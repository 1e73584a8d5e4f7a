/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/words_pages.h"

#include "index/summary.h"
#include "index/summary/inverse_read.h"

#include <stdlib.h>
#include <string.h>

/* A range of more pages stays one row. */
enum { SPLIT_MAX = 256 };

/* Bytes of the sets of chunks that are made at a time, at least of one page. */
#define SETS_MAX (UINT64_C(32) << 20)

struct counting {
	struct hf_summary *summary;
	struct hf_list_reader *reader;
	enum hf_inverse_part part;
	uint64_t first, end; /* chunks */
	struct hf_words_pages *pages;
	size_t room;
	uint64_t *sets; /* of the chunks of pages [low, high) */
	size_t low, high, set_words;
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

/* ---- which pages there are ---- */

static void sort(struct hf_words_pages *pages)
{
	size_t kept = 0;

	if (pages->count)
		qsort(pages->page, pages->count, sizeof *pages->page, by_place);
	for (size_t i = 0; i < pages->count; i++)
		if (!kept || by_place(&pages->page[kept - 1], &pages->page[i]) != 0)
			pages->page[kept++] = pages->page[i];
	pages->count = kept;
}

static int make_room(struct counting *c)
{
	struct hf_words_pages *pages = c->pages;
	const size_t room = c->room ? 2 * c->room : 1024;
	struct hf_words_page *bigger;

	if (pages->count < c->room)
		return 0;
	/* The same ones come again and again. */
	sort(pages);
	if (pages->count <= c->room / 2 && c->room)
		return 0;
	if (c->room >= HF_WORDS_PAGES_MAX)
		return pages->count < c->room ? 0 : HF_ERR_LIMIT;
	bigger = realloc(pages->page, room * sizeof *bigger);
	if (!bigger)
		return HF_ERR_NOMEM;
	pages->page = bigger;
	c->room = room;
	return 0;
}

static int add_pages(void *ctx, const struct hf_inverse_found *found)
{
	struct counting *c = ctx;
	struct hf_words_page range;
	uint64_t n;
	int err = range_of(&found->key, &range);

	if (err)
		return err;
	n = count_pages(&found->key, &range);
	for (uint64_t i = 0; !err && i < (n ? n : 1); i++) {
		const struct hf_words_page page = n ? page_of(&range, i) : range;

		/* Neighbours mostly lie in one page. */
		if (c->pages->count && !by_place(&c->pages->page[c->pages->count - 1], &page))
			continue;
		err = make_room(c);
		if (!err)
			c->pages->page[c->pages->count++] = page;
	}
	if (err != HF_ERR_LIMIT)
		return err;
	c->pages->left_out++;
	return 0;
}

/* ---- in how many chunks ---- */

/* The set of a page, NULL if it is not one of those at hand. */
static uint64_t *set_of(const struct counting *c, const struct hf_words_page *page)
{
	const struct hf_words_page *found =
		bsearch(page, &c->pages->page[c->low], c->high - c->low, sizeof *page, by_place);

	return found ? &c->sets[(size_t)(found - &c->pages->page[c->low]) * c->set_words] : NULL;
}

static int add_chunks(void *ctx, const struct hf_inverse_found *found)
{
	struct counting *c = ctx;
	struct hf_posting posting;
	struct hf_words_page range;
	struct hf_list list;
	uint64_t *sets[SPLIT_MAX], n, some = 0;
	int err = range_of(&found->key, &range);

	if (err)
		return err;
	n = count_pages(&found->key, &range);
	for (uint64_t i = 0; i < (n ? n : 1); i++) {
		const struct hf_words_page page = n ? page_of(&range, i) : range;

		sets[some] = set_of(c, &page);
		some += sets[some] != NULL;
	}
	if (!some || found->facts.end <= c->first || found->facts.first >= c->end)
		return 0;
	err = hf_inverse_list_by(c->summary, c->reader, c->part, found, &list);
	while (!err && !(err = hf_list_next(&list, &posting)) && posting.chunk < c->end)
		for (uint64_t i = 0; i < some && posting.chunk >= c->first; i++)
			sets[i][(posting.chunk - c->first) / 64] |= UINT64_C(1) << (posting.chunk - c->first) % 64;
	return err == HF_NOTE_END ? 0 : err;
}

static int ask(struct counting *c, uint32_t hart, const struct hf_words_page *low, const struct hf_words_page *high,
	       hf_inverse_fn fn)
{
	const struct hf_inverse_question question = {.part = c->part,
						     .first = low ? low->first : 0,
						     .last = high ? high->last : UINT64_MAX,
						     .shift = hf_words_shift,
						     .places = true};

	return hf_inverse_find(c->summary, hart, &question, fn, c);
}

/* Those of the pages at hand; a page may lie in another one before it. */
static int count_some(struct counting *c, uint32_t hart)
{
	struct hf_words_page *page = c->pages->page;
	struct hf_words_page last = page[c->low];
	int err;

	for (size_t i = c->low; i < c->high; i++)
		if (page[i].last > last.last)
			last.last = page[i].last;
	memset(c->sets, 0, (c->high - c->low) * c->set_words * sizeof *c->sets);
	err = ask(c, hart, &page[c->low], &last, add_chunks);
	for (size_t i = c->low; i < c->high; i++)
		for (size_t k = 0; k < c->set_words; k++)
			page[i].chunks += (uint64_t)__builtin_popcountll(c->sets[(i - c->low) * c->set_words + k]);
	return err;
}

static int count_all(struct counting *c, uint32_t hart)
{
	const uint64_t bytes = (c->end - c->first + 63) / 64 * sizeof *c->sets;
	const size_t at_a_time = bytes > SETS_MAX ? 1 : SETS_MAX / bytes, most = c->pages->count;
	size_t kept = 0;
	int err = 0;

	c->set_words = bytes / sizeof *c->sets;
	c->sets = malloc((at_a_time < most ? at_a_time : most) * bytes);
	if (!c->sets)
		return HF_ERR_NOMEM;
	for (; !err && c->low < most; c->low = c->high) {
		c->high = most - c->low < at_a_time ? most : c->low + at_a_time;
		err = count_some(c, hart);
	}
	free(c->sets);
	for (size_t i = 0; i < most; i++)
		if (c->pages->page[i].chunks)
			c->pages->page[kept++] = c->pages->page[i];
	c->pages->count = kept;
	return err;
}

int hf_words_pages_count(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, uint64_t first,
			 uint64_t end, struct hf_words_pages *ret_pages)
{
	struct counting c = {
		.summary = summary, .part = (enum hf_inverse_part)what, .first = first, .end = end, .pages = ret_pages};
	struct hf_inverse_head head;
	int err = hf_inverse_head(summary, hart, c.part, &head);

	*ret_pages = (struct hf_words_pages){0};
	if (!err && !head.known)
		err = HF_ERR_UNSUPPORTED;
	if (!err)
		err = ask(&c, hart, NULL, NULL, add_pages);
	if (!err)
		sort(ret_pages);
	if (!err)
		err = hf_list_reader_new(&c.reader);
	if (!err && ret_pages->count && first < end)
		err = count_all(&c, hart);
	hf_list_reader_free(c.reader);
	if (err)
		hf_words_pages_free(ret_pages);
	return err;
}

void hf_words_pages_free(struct hf_words_pages *pages)
{
	free(pages->page);
	*pages = (struct hf_words_pages){0};
}
