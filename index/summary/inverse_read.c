/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/inverse_read.h"

#include "index/summary/inverse_page.h"
#include "index/summary/list_reader.h"
#include "index/summary/summary_internal.h"

#include <stdlib.h>
#include <zstd.h>

/* A look-up, with room for one page. */
struct search {
	struct hf_summary *summary;
	const struct hf_summary_hart *hart;
	const struct hf_inverse_question *question;
	hf_inverse_fn fn;
	void *ctx;
	uint64_t number; /* of the span */
	struct hf_inverse_span span;
	struct hf_inverse_page row;
	uint8_t bytes[HF_INVERSE_PAGE_FULL + 2 * HF_INVERSE_KEY_BYTES];
};

static uint64_t id_of(enum hf_inverse_part part, uint64_t number)
{
	return (uint64_t)part << HF_INVERSE_PART_SHIFT | number;
}

int hf_inverse_head(struct hf_summary *summary, uint32_t hart, enum hf_inverse_part part,
		    struct hf_inverse_head *ret_head)
{
	const struct hf_summary_hart *h = hf_summary_find_hart(summary, hart);

	if (!h)
		return HF_ERR_NOT_FOUND;
	return hf_published_noted(&summary->file,
				  hf_summary_fetch(summary, &hf_table_inverse, h->slot, part, ret_head));
}

static int give(const struct search *s, const struct hf_inverse_item *item)
{
	const unsigned shift = s->question->shift(&item->key);
	struct hf_inverse_found found = {.key = item->key,
					 .span = s->number,
					 .slot = s->hart->slot,
					 .list = item->list,
					 .list_size = item->list_size};

	if (shift > 63)
		return HF_ERR_STATE;
	found.facts = (struct hf_list_facts){.postings = item->postings,
					     .total = item->total,
					     .first = s->span.first >> shift,
					     .end = ((s->span.end - 1) >> shift) + 1};
	if (item->postings > found.facts.end - found.facts.first ||
	    (item->postings == 1 && item->place >= found.facts.end - found.facts.first))
		return HF_ERR_STATE;
	found.place = found.facts.first + item->place;
	return s->fn(s->ctx, &found);
}

static int search_page(struct search *s)
{
	struct hf_inverse_page_reader reader;
	struct hf_inverse_item item;
	int err;

	if (s->row.size > sizeof s->bytes ||
	    ZSTD_decompress(s->bytes, sizeof s->bytes, s->row.data, s->row.n) != s->row.size)
		return HF_ERR_STATE;
	err = hf_inverse_page_open(&reader, s->bytes, s->row.size, s->row.keys, s->row.list);
	while (!err && !(err = hf_inverse_page_next(&reader, &item)))
		err = give(s, &item);
	return err == HF_NOTE_END ? 0 : err;
}

static bool is_sound(const struct search *s)
{
	const uint64_t most = s->question->places ? s->hart->chunks : s->hart->insns ? s->hart->insns : 1;

	return s->span.first < s->span.end && s->span.end <= most;
}

static int search_span(struct search *s)
{
	int err = hf_summary_fetch(s->summary, &hf_table_inverse_span, s->hart->slot,
				   id_of(s->question->part, s->number), &s->span);

	if (!err && !is_sound(s))
		err = HF_ERR_STATE;
	if (!err && s->question->windowed && (s->span.end <= s->question->low || s->span.first >= s->question->high))
		return 0;
	for (uint64_t i = 0; !err && i < s->span.pages; i++) {
		err = hf_summary_fetch(s->summary, &hf_table_inverse_page, s->hart->slot,
				       id_of(s->question->part, s->span.page + i), &s->row);
		if (!err && s->row.first <= s->question->last && s->row.last >= s->question->first)
			err = search_page(s);
	}
	return err == HF_NOTE_SPAN ? 0 : err;
}

int hf_inverse_find(struct hf_summary *summary, uint32_t hart, const struct hf_inverse_question *question,
		    hf_inverse_fn fn, void *ctx)
{
	struct hf_inverse_head head;
	struct search *s;
	int err = hf_inverse_head(summary, hart, question->part, &head);

	if (err)
		return err;
	s = malloc(sizeof *s);
	if (!s)
		return HF_ERR_NOMEM;
	s->summary = summary;
	s->hart = hf_summary_find_hart(summary, hart);
	s->question = question;
	s->fn = fn;
	s->ctx = ctx;
	for (s->number = 0; !err && s->number < head.spans; s->number++)
		err = search_span(s);
	free(s);
	return hf_published_noted(&summary->file, err);
}

static struct hf_summary_lists place_of_list(enum hf_inverse_part part, const struct hf_inverse_found *found)
{
	return (struct hf_summary_lists){.table = &hf_table_inverse_list,
					 .slot = found->slot,
					 .number = id_of(part, 0),
					 .list = found->list,
					 .list_size = found->list_size,
					 .chunk = found->place};
}

int hf_inverse_list(struct hf_summary *summary, enum hf_inverse_part part, const struct hf_inverse_found *found,
		    struct hf_list *ret_list, uint8_t **ret_bytes)
{
	const struct hf_summary_lists where = place_of_list(part, found);

	return hf_summary_copy_list(summary, &where, &found->facts, ret_list, ret_bytes);
}

int hf_inverse_list_by(struct hf_summary *summary, struct hf_list_reader *reader, enum hf_inverse_part part,
		       const struct hf_inverse_found *found, struct hf_list *ret_list)
{
	const struct hf_summary_lists where = place_of_list(part, found);

	return hf_summary_read_list(summary, reader, &where, &found->facts, ret_list);
}
