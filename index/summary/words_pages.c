/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/words_pages.h"

#include "codecs/base/array.h"
#include "codecs/base/hash_map.h"

#include <stdlib.h>

/* A range of more pages stays one row. */
enum { SPLIT_MAX = 256 };

struct counting {
	struct hf_words_pages *pages;
	struct hf_hash_map map; /* of these */
	size_t room;
	uint64_t *chunk; /* of each page: the last chunk that touched it */
	uint32_t last;	 /* number of the page that was found last */
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

/* How many pages the range has; 0: it is too large to be split. */
static uint64_t count_pages(const struct hf_range *range, unsigned level)
{
	const uint64_t n = (range->last >> HF_WORDS_PAGE) - (range->first >> HF_WORDS_PAGE);

	return level > HF_WORDS_PAGE || n >= SPLIT_MAX ? 0 : n + 1;
}

static struct hf_words_page page_of(const struct hf_range *range, uint64_t i)
{
	const uint64_t first = ((range->first >> HF_WORDS_PAGE) + i) << HF_WORDS_PAGE;

	return (struct hf_words_page){.first = first, .last = first + ((UINT64_C(1) << HF_WORDS_PAGE) - 1)};
}

/* ---- pages ---- */

/* Finds or adds the page. HF_ERR_LIMIT: there are too many. */
static int find_page(struct counting *c, const struct hf_words_page *page, uint32_t *ret_number)
{
	const uint32_t hash = hf_hash_of(page->first >> HF_WORDS_PAGE, page->last);
	struct hf_words_pages *pages = c->pages;
	int err;

	/* Neighbouring ranges are mostly in one page. */
	*ret_number = c->last;
	if (pages->count && !by_place(&pages->page[c->last], page))
		return 0;
	HF_HASH_EACH(&c->map, hash, i)
		if (!by_place(&pages->page[i], page)) {
			*ret_number = c->last = i;
			return 0;
		}
	if (pages->count == HF_WORDS_PAGES_MAX)
		return HF_ERR_LIMIT;
	err = hf_array_reserve(&c->chunk, pages->count + 1, &c->room, sizeof *c->chunk);
	if (!err)
		err = hf_hash_map_add_row(&c->map, hash, &pages->page, sizeof *pages->page);
	if (err)
		return err;
	*ret_number = c->last = (uint32_t)pages->count;
	c->chunk[pages->count] = UINT64_MAX;
	pages->page[pages->count++] = *page;
	return 0;
}

/* ---- in how many chunks ---- */

static int add_page(struct counting *c, const struct hf_words_page *page, uint64_t chunk)
{
	uint32_t number;
	int err = find_page(c, page, &number);

	if (!err && c->chunk[number] != chunk) {
		c->chunk[number] = chunk;
		c->pages->page[number].chunks++;
	}
	return err;
}

static int add_range(void *ctx, uint64_t chunk, const struct hf_range *range, unsigned level)
{
	const uint64_t n = count_pages(range, level);
	const struct hf_words_page whole = {
		.first = range->first, .last = range->last, .unknown = level == HF_WORDS_UNKNOWN};
	struct counting *c = ctx;
	bool left_out = false;
	int err = 0;

	for (uint64_t i = 0; !err && i < (n ? n : 1); i++) {
		const struct hf_words_page page = n ? page_of(range, i) : whole;

		err = add_page(c, &page, chunk);
		left_out |= err == HF_ERR_LIMIT;
		err = err == HF_ERR_LIMIT ? 0 : err;
	}
	c->pages->left_out += left_out;
	return err;
}

int hf_words_pages_count(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, uint64_t first,
			 uint64_t end, struct hf_words_pages *ret_pages)
{
	struct counting c = {.pages = ret_pages};
	int err;

	*ret_pages = (struct hf_words_pages){0};
	err = hf_words_each(summary, hart, what, first, end, add_range, &c);
	hf_hash_map_free(&c.map);
	free(c.chunk);
	if (err)
		hf_words_pages_free(ret_pages);
	else if (ret_pages->count)
		qsort(ret_pages->page, ret_pages->count, sizeof *ret_pages->page, by_place);
	return err;
}

void hf_words_pages_free(struct hf_words_pages *pages)
{
	free(pages->page);
	*pages = (struct hf_words_pages){0};
}
