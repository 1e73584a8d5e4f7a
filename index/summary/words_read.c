/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/words.h"

#include "index/summary/chunk_set_read.h"
#include "index/summary/summary.h"

#include <stdlib.h>

unsigned hf_words_shift(const struct hf_inverse_key *key)
{
	(void)key;
	return 0;
}

struct asking {
	struct hf_summary *summary;
	enum hf_inverse_part part;
	struct hf_words_place place;
	struct hf_list_reader *reader;
	struct hf_chunk_set *set, *unknown;
};

static bool touches(const struct asking *a, const struct hf_inverse_key *key, uint64_t units)
{
	if (key->level == HF_WORDS_ALL)
		return true;
	return key->a <= a->place.last >> key->level && units >= a->place.first >> key->level;
}

/* Whether the set has all chunks of the list's span that are asked for: no other list of it can add any. */
static bool is_full(const struct asking *a, const struct hf_list_facts *facts)
{
	const uint64_t low = facts->first > a->place.low ? facts->first : a->place.low;
	const uint64_t high = facts->end < a->place.high ? facts->end : a->place.high;

	for (uint64_t chunk = low; chunk < high; chunk++)
		if (!hf_chunk_set_has(a->set, chunk))
			return false;
	return true;
}

static int take_unknown(const struct asking *a, const struct hf_inverse_found *found)
{
	struct hf_chunk_set *set = a->place.anywhere ? a->set : a->unknown;

	return set ? hf_chunk_set_add_list(set, a->summary, a->reader, a->part, found, 0) : 0;
}

static int take(void *ctx, const struct hf_inverse_found *found)
{
	const struct hf_inverse_key *key = &found->key;
	struct asking *a = ctx;
	uint64_t last;
	int err;

	if (key->level == HF_WORDS_UNKNOWN)
		return take_unknown(a, found);
	if (__builtin_add_overflow(key->a, key->b, &last))
		return HF_ERR_STATE;
	if (!touches(a, key, last))
		return 0;
	if (key->level > a->set->level)
		a->set->level = key->level;
	err = hf_chunk_set_add_list(a->set, a->summary, a->reader, a->part, found, 0);
	return !err && !a->unknown && is_full(a, &found->facts) ? HF_NOTE_SPAN : err;
}

static int look(const struct asking *a, uint32_t hart, hf_inverse_fn fn, void *ctx)
{
	const struct hf_inverse_question question = {
		.part = a->part,
						     .first = a->place.first,
						     .last = a->place.last,
						     .shift = hf_words_shift,
						     .places = true,
						     .windowed = true,
						     .low = a->place.low,
						     .high = a->place.high};
	struct hf_inverse_head head;
	int err = hf_inverse_head(a->summary, hart, a->part, &head);

	if (!err && !head.known)
		err = HF_ERR_UNSUPPORTED;
	return err ? err : hf_inverse_find(a->summary, hart, &question, fn, ctx);
}

int hf_words_find_in(struct hf_summary *summary, uint32_t hart, enum hf_words_what what,
		     const struct hf_words_place *place, struct hf_chunk_set *ret_set, struct hf_chunk_set *ret_unknown)
{
	const bool lines = what == HF_WORDS_READS || what == HF_WORDS_ATTEMPT_READS;
	struct asking a = {.summary = summary,
			   .part = (enum hf_inverse_part)what,
			   .place = *place,
			   .set = ret_set,
			   .unknown = ret_unknown};
	int err = hf_chunk_set_begin(ret_set, summary, hart);

	ret_set->level = lines ? HF_WORDS_LINE : HF_WORDS_WORD;
	if (!err && ret_unknown)
		err = hf_chunk_set_begin(ret_unknown, summary, hart);
	if (!err)
		err = hf_list_reader_new(&a.reader);
	if (!err)
		err = look(&a, hart, take, &a);
	hf_list_reader_free(a.reader);
	if (err) {
		hf_chunk_set_free(ret_set);
		if (ret_unknown)
			hf_chunk_set_free(ret_unknown);
	}
	return err;
}

int hf_words_find(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, uint64_t first, uint64_t last,
		  struct hf_chunk_set *ret_set, struct hf_chunk_set *ret_unknown)
{
	const struct hf_words_place place = {.first = first, .last = last, .high = UINT64_MAX};

	return hf_words_find_in(summary, hart, what, &place, ret_set, ret_unknown);
}

/* ---- all of them ---- */

struct hf_words_look {
	struct asking asking;
	hf_words_fn fn;
	void *ctx;
	const struct hf_inverse_found *found;
};

static int range_of(const struct hf_inverse_found *found, struct hf_words_range *ret_range)
{
	const struct hf_inverse_key *key = &found->key;
	uint64_t last;

	if (__builtin_add_overflow(key->a, key->b, &last))
		return HF_ERR_STATE;
	*ret_range = (struct hf_words_range){
		.last = UINT64_MAX, .level = key->level, .chunks = &found->facts, .chunk = found->place};
	if (key->level >= HF_WORDS_UNKNOWN)
		return 0;
	if (last > UINT64_MAX >> key->level)
		return HF_ERR_STATE;
	ret_range->first = key->a << key->level;
	ret_range->last = (last << key->level) + ((UINT64_C(1) << key->level) - 1);
	return 0;
}

static int tell(void *ctx, const struct hf_inverse_found *found)
{
	struct hf_words_look *look = ctx;
	struct hf_words_range range;
	int err = range_of(found, &range);

	look->found = found;
	return err ? err : look->fn(look->ctx, &range, look);
}

int hf_words_list(struct hf_words_look *look, struct hf_list *ret_list)
{
	const struct asking *a = &look->asking;

	return hf_inverse_list_by(a->summary, a->reader, a->part, look->found, ret_list);
}

int hf_words_each(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, hf_words_fn fn, void *ctx)
{
	struct hf_words_look l = {.asking = {.summary = summary, .part = (enum hf_inverse_part)what,
					     .place = {.last = UINT64_MAX, .high = UINT64_MAX}},
				  .fn = fn,
				  .ctx = ctx};
	int err = hf_list_reader_new(&l.asking.reader);

	if (!err)
		err = look(&l.asking, hart, tell, &l);
	hf_list_reader_free(l.asking.reader);
	return err;
}
