/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/words.h"

#include "index/summary/group_read.h"

#include <stdlib.h>

struct asking {
	struct hf_group_reader reader;
	enum hf_words_what what;
	struct hf_words_place place;
	struct hf_chunk_set *set, *unknown;
	uint64_t filtered; /* whose filters were read last: group / HF_GROUP_FILTERS, plus 1 */
	uint64_t may;	   /* a bit for each of these groups that may have an answer */
};

static int open_asking(struct asking *a, struct hf_summary *summary, uint32_t hart)
{
	struct hf_group_keys keys = {0};
	int err = hf_group_reader_open(summary, hart, &a->reader);

	if (!err)
		err = hf_group_read_keys(&a->reader, &keys);
	if (!err && !(keys.known >> (a->what - HF_SECTION_WRITES) & 1))
		err = HF_ERR_UNSUPPORTED;
	hf_group_keys_free(&keys);
	return err;
}

/* ---- filters ---- */

/* Filters are of retired instructions only. */
static int read_filters(struct asking *a, uint64_t number)
{
	struct hf_group_reader *r = &a->reader;
	const uint64_t first = number * HF_GROUP_FILTERS, left = r->groups - first;
	int err = hf_group_read(r, number, HF_SECTION_FILTERS);

	a->filtered = number + 1;
	a->may = 0;
	for (uint64_t i = 0; i < 2 * (left < HF_GROUP_FILTERS ? left : HF_GROUP_FILTERS) && !err; i++) {
		struct hf_units_reader units;
		int touches;

		err = hf_units_open(&units, &r->at, r->end);
		if (err || i % 2 != (a->what == HF_WORDS_READS))
			continue;
		touches = hf_units_touch(&units, a->place.first, a->place.last);
		if (touches > 0 || units.unknown)
			a->may |= UINT64_C(1) << i / 2;
		err = touches < 0 ? touches : 0;
	}
	return err > 0 ? HF_ERR_STATE : err;
}

/* Whether the group may have an answer: 1, 0, or an error. */
static int may_answer(struct asking *a, uint64_t group)
{
	int err = 0;

	if (a->what > HF_WORDS_READS)
		return 1;
	if (a->filtered != group / HF_GROUP_FILTERS + 1)
		err = read_filters(a, group / HF_GROUP_FILTERS);
	return err ? err : (int)(a->may >> group % HF_GROUP_FILTERS & 1);
}

/* ---- which chunks ---- */

static int ask_chunk(struct asking *a, uint64_t chunk, struct hf_units_reader *units)
{
	struct hf_chunk_set *unknown = a->place.anywhere ? a->set : a->unknown;
	int touches;

	if (chunk < a->place.low || chunk >= a->place.high)
		return 0;
	if (units->unknown && unknown)
		hf_chunk_set_add(unknown, chunk, 1);
	touches = hf_units_touch(units, a->place.first, a->place.last);
	if (touches <= 0)
		return touches;
	hf_chunk_set_add(a->set, chunk, 1);
	if (units->level > a->set->level)
		a->set->level = units->level;
	return 0;
}

static int ask_group(struct asking *a, uint64_t group)
{
	struct hf_group_reader *r = &a->reader;
	int may = may_answer(a, group);
	int err = may > 0 ? hf_group_read(r, group, (enum hf_section)a->what) : may < 0 ? may : (int)HF_NOTE_END;

	for (uint64_t chunk = group * HF_GROUP_CHUNKS; !err && r->at < r->end; chunk++) {
		struct hf_units_reader units;

		err = hf_units_open(&units, &r->at, r->end);
		if (!err)
			err = ask_chunk(a, chunk, &units);
	}
	return err == HF_NOTE_END ? 0 : err;
}

static int ask_groups(struct asking *a, struct hf_summary *summary, uint32_t hart)
{
	uint64_t high = a->place.high;
	int err = open_asking(a, summary, hart);

	if (!err && high > a->reader.hart->chunks)
		high = a->reader.hart->chunks;
	for (uint64_t group = a->place.low / HF_GROUP_CHUNKS; !err && group * HF_GROUP_CHUNKS < high; group++)
		err = ask_group(a, group);
	hf_group_reader_close(&a->reader);
	return hf_published_noted(&summary->file, err);
}

int hf_words_find_in(struct hf_summary *summary, uint32_t hart, enum hf_words_what what,
		     const struct hf_words_place *place, struct hf_chunk_set *ret_set, struct hf_chunk_set *ret_unknown)
{
	const bool lines = what == HF_WORDS_READS || what == HF_WORDS_ATTEMPT_READS;
	const struct hf_summary_hart *h = hf_summary_find_hart(summary, hart);
	struct asking a = {.what = what, .place = *place, .set = ret_set, .unknown = ret_unknown};
	int err = h ? hf_chunk_set_init(ret_set, h->chunks) : HF_ERR_NOT_FOUND;

	if (!h)
		return err;
	ret_set->level = lines ? HF_WORDS_LINE : HF_WORDS_WORD;
	if (!err && ret_unknown)
		err = hf_chunk_set_init(ret_unknown, h->chunks);
	if (!err)
		err = ask_groups(&a, summary, hart);
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

static int tell_chunk(uint64_t chunk, struct hf_units_reader *units, hf_words_fn fn, void *ctx)
{
	struct hf_range range = {.last = UINT64_MAX};
	int err = units->unknown ? fn(ctx, chunk, &range, HF_WORDS_UNKNOWN) : 0;

	while (!err && !(err = hf_units_next(units, &range)))
		err = fn(ctx, chunk, &range, units->level);
	return err == HF_NOTE_END ? 0 : err;
}

static int tell_group(struct asking *a, uint64_t group, hf_words_fn fn, void *ctx)
{
	struct hf_group_reader *r = &a->reader;
	int err = hf_group_read(r, group, (enum hf_section)a->what);

	if (err == HF_NOTE_END)
		return 0;
	for (uint64_t chunk = group * HF_GROUP_CHUNKS; !err && r->at < r->end; chunk++) {
		struct hf_units_reader units;

		err = hf_units_open(&units, &r->at, r->end);
		if (!err && chunk >= a->place.low && chunk < a->place.high)
			err = tell_chunk(chunk, &units, fn, ctx);
	}
	return err;
}

int hf_words_each(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, uint64_t low, uint64_t high,
		  hf_words_fn fn, void *ctx)
{
	struct asking a = {.what = what, .place = {.low = low, .high = high}};
	int err = open_asking(&a, summary, hart);

	if (!err && high > a.reader.hart->chunks)
		a.place.high = a.reader.hart->chunks;
	for (uint64_t group = low / HF_GROUP_CHUNKS; !err && group * HF_GROUP_CHUNKS < a.place.high; group++)
		err = tell_group(&a, group, fn, ctx);
	hf_group_reader_close(&a.reader);
	return hf_published_noted(&summary->file, err);
}
