/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/rare.h"

#include "codecs/base/array.h"
#include "index/summary/inverse_read.h"
#include "index/summary/rare_collect.h"

#include <string.h>

/* Lists of one span that answer, and the hits of it, once they were asked for. */
struct span {
	uint64_t number;
	size_t list, lists;
	uint64_t before, total;
};

struct hf_rare {
	struct hf_summary *summary;
	struct hf_rare_question question;
	struct hf_inverse_found *lists;
	size_t list_count;
	struct span *spans;
	size_t span_count;
	uint64_t maybe;
	/* of the span that was looked at last */
	size_t at; /* span_count: none */
	struct hf_rare_hit *hits;
	size_t hit_count;
};

static bool is_maybe(const struct hf_rare *rare, const struct hf_inverse_key *key)
{
	return !rare->question.any_value && key->level >= HF_RARE_LEVEL_MAYBE;
}

static bool answers(const struct hf_rare *rare, const struct hf_inverse_key *key)
{
	const struct hf_rare_question *q = &rare->question;
	const unsigned detail = key->a & ((1u << HF_RARE_DETAIL_BITS) - 1);

	if (key->a >> HF_RARE_DETAIL_BITS != (uint64_t)q->kind)
		return false;
	if (detail != (q->any_detail ? (q->kind == HF_RARE_CONTEXT ? HF_RARE_CONTEXT_ALL : detail) : q->detail))
		return false;
	return q->any_value || is_maybe(rare, key) || key->b == q->value;
}

/* ---- finding ---- */

static int add_span(struct hf_rare *rare, const struct hf_inverse_found *found)
{
	const size_t n = rare->span_count;
	int err;

	if (n && rare->spans[n - 1].number == found->span)
		return 0;
	err = hf_array_room(&rare->spans, n, sizeof *rare->spans);
	if (err)
		return err;
	rare->spans[n] = (struct span){.number = found->span,
				       .list = rare->list_count,
				       .before = n ? rare->spans[n - 1].before + rare->spans[n - 1].total : 0};
	rare->span_count++;
	return 0;
}

static int take(void *ctx, const struct hf_inverse_found *found)
{
	struct hf_rare *rare = ctx;
	struct span *span;
	int err = 0;

	if (!answers(rare, &found->key))
		return 0;
	err = add_span(rare, found);
	if (!err)
		err = hf_array_room(&rare->lists, rare->list_count, sizeof *rare->lists);
	if (err)
		return err;
	rare->lists[rare->list_count++] = *found;
	span = &rare->spans[rare->span_count - 1];
	span->lists++;
	/* No more than the hart's events: sums stay far below what they can hold, also of a file that is none. */
	if (found->facts.total > HF_COUNT_MAX - span->before - span->total)
		return HF_ERR_STATE;
	span->total += found->facts.total;
	rare->maybe += is_maybe(rare, &found->key) ? found->facts.total : 0;
	return 0;
}

int hf_rare_find(struct hf_summary *summary, uint32_t hart, const struct hf_rare_question *question,
		 struct hf_rare **ret_rare)
{
	const uint64_t kind = (uint64_t)question->kind << HF_RARE_DETAIL_BITS;
	const struct hf_inverse_question keys = {.part = HF_INVERSE_RARE,
						 .first = kind,
						 .last = kind + (1u << HF_RARE_DETAIL_BITS) - 1,
						 .shift = hf_inverse_level};
	struct hf_rare *rare = calloc(1, sizeof *rare);
	int err;

	*ret_rare = NULL;
	if (!rare)
		return HF_ERR_NOMEM;
	rare->summary = summary;
	rare->question = *question;
	err = hf_inverse_find(summary, hart, &keys, take, rare);
	rare->at = rare->span_count;
	if (err)
		hf_rare_free(rare);
	else
		*ret_rare = rare;
	return err;
}

void hf_rare_free(struct hf_rare *rare)
{
	if (!rare)
		return;
	free(rare->lists);
	free(rare->spans);
	free(rare->hits);
	free(rare);
}

uint64_t hf_rare_count(const struct hf_rare *rare, uint64_t *ret_maybe)
{
	const struct span *last = rare->span_count ? &rare->spans[rare->span_count - 1] : NULL;

	if (ret_maybe)
		*ret_maybe = rare->maybe;
	return last ? last->before + last->total : 0;
}

/* ---- hits ---- */

static int take_list(struct hf_rare *rare, const struct hf_inverse_found *found)
{
	const unsigned shift = found->key.level;
	struct hf_posting posting;
	struct hf_list list;
	uint8_t *bytes;
	int err = hf_inverse_list(rare->summary, HF_INVERSE_RARE, found, &list, &bytes);

	while (!err && !(err = hf_list_next(&list, &posting))) {
		const uint64_t first = posting.chunk << shift;

		err = hf_array_room(&rare->hits, rare->hit_count, sizeof *rare->hits);
		if (!err)
			rare->hits[rare->hit_count++] =
				(struct hf_rare_hit){.first = first,
						     .last = first + ((UINT64_C(1) << shift) - 1),
						     .count = posting.count,
						     .maybe = is_maybe(rare, &found->key)};
	}
	free(bytes);
	return err == HF_NOTE_END ? 0 : err;
}

static int compare(const void *a, const void *b)
{
	const struct hf_rare_hit *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->last > y->last) - (x->last < y->last);
}

/* Hits at one place are one. */
static void put_together(struct hf_rare *rare, uint64_t before)
{
	size_t n = 0;

	if (rare->hit_count)
		qsort(rare->hits, rare->hit_count, sizeof *rare->hits, compare);
	for (size_t i = 0; i < rare->hit_count; i++) {
		struct hf_rare_hit *last = n ? &rare->hits[n - 1] : NULL;

		if (last && !compare(last, &rare->hits[i])) {
			last->count += rare->hits[i].count;
			last->maybe |= rare->hits[i].maybe;
		} else {
			rare->hits[n++] = rare->hits[i];
		}
	}
	rare->hit_count = n;
	for (size_t i = 0; i < n; i++) {
		rare->hits[i].before = before;
		before += rare->hits[i].count;
	}
}

static int look_at(struct hf_rare *rare, size_t at)
{
	const struct span *span = &rare->spans[at];
	int err = 0;

	if (rare->at == at)
		return 0;
	rare->at = rare->span_count;
	free(rare->hits);
	rare->hits = NULL;
	rare->hit_count = 0;
	for (size_t i = 0; i < span->lists && !err; i++)
		err = take_list(rare, &rare->lists[span->list + i]);
	if (!err) {
		put_together(rare, span->before);
		rare->at = at;
	}
	return err;
}

/* ---- asking ---- */

int hf_rare_each(struct hf_rare *rare, hf_rare_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < rare->span_count && !err; i++) {
		err = look_at(rare, i);
		for (size_t j = 0; j < rare->hit_count && !err; j++)
			err = fn(ctx, &rare->hits[j]);
	}
	return err;
}

int hf_rare_nth(struct hf_rare *rare, uint64_t n, struct hf_rare_hit *ret_hit)
{
	for (size_t i = 0; i < rare->span_count; i++) {
		const struct span *span = &rare->spans[i];
		int err;

		if (n - span->before >= span->total)
			continue;
		err = look_at(rare, i);
		for (size_t j = 0; j < rare->hit_count && !err; j++) {
			*ret_hit = rare->hits[j];
			if (n - ret_hit->before < ret_hit->count)
				return 0;
		}
		return err ? err : HF_ERR_STATE;
	}
	return HF_NOTE_END;
}

/* Spans follow one another, but a block may lie in two of them. */

int hf_rare_next(struct hf_rare *rare, uint64_t ordinal, struct hf_rare_hit *ret_hit)
{
	for (size_t i = 0; i < rare->span_count; i++) {
		const struct hf_inverse_found *list = &rare->lists[rare->spans[i].list];
		uint64_t end = 0;
		int err;

		for (size_t j = 0; j < rare->spans[i].lists; j++)
			if (list[j].facts.end << list[j].key.level > end)
				end = list[j].facts.end << list[j].key.level;
		if (end <= ordinal)
			continue;
		err = look_at(rare, i);
		if (err)
			return err;
		for (size_t j = 0; j < rare->hit_count; j++) {
			*ret_hit = rare->hits[j];
			if (ret_hit->last >= ordinal)
				return 0;
		}
	}
	return HF_NOTE_END;
}

int hf_rare_previous(struct hf_rare *rare, uint64_t ordinal, struct hf_rare_hit *ret_hit)
{
	for (size_t i = rare->span_count; i--;) {
		const struct hf_inverse_found *list = &rare->lists[rare->spans[i].list];
		uint64_t first = UINT64_MAX;
		int err;

		for (size_t j = 0; j < rare->spans[i].lists; j++)
			if (list[j].facts.first << list[j].key.level < first)
				first = list[j].facts.first << list[j].key.level;
		if (first > ordinal)
			continue;
		err = look_at(rare, i);
		if (err)
			return err;
		for (size_t j = rare->hit_count; j--;) {
			*ret_hit = rare->hits[j];
			if (ret_hit->first <= ordinal)
				return 0;
		}
	}
	return HF_NOTE_END;
}
