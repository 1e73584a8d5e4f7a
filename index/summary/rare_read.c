/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/rare.h"

#include "codecs/base/array.h"
#include "index/summary/group_read.h"

/* The hits of one group, once they were asked for. */
struct hf_rare {
	struct hf_group_reader reader;
	struct hf_group_keys keys;
	uint8_t *answers;	   /* for each key: 1 if it is asked for, 2: maybe */
	uint64_t total, maybe;
	bool counted;
	uint64_t first, end;	   /* groups that may have hits */
	uint64_t *before;	   /* events before each of these, and behind the last; NULL: not counted yet */
	uint64_t *low, *high;	   /* of each: the least and the greatest ordinal of its hits */
	uint64_t at;		   /* the group that was read last; UINT64_MAX: none */
	struct hf_rare_hit *hits;
	size_t hit_count;
};

static bool is_answer(const struct hf_rare_question *q, const struct hf_key *key)
{
	const unsigned detail = key->a & ((1u << HF_RARE_DETAIL_BITS) - 1);

	if (key->a >> HF_RARE_DETAIL_BITS != (uint64_t)q->kind)
		return false;
	if (detail != (q->any_detail ? (q->kind == HF_RARE_CONTEXT ? HF_RARE_CONTEXT_ALL : detail) : q->detail))
		return false;
	return q->any_value || key->maybe || key->b == q->value;
}

static int ask_keys(struct hf_rare *rare, const struct hf_rare_question *question)
{
	const struct hf_keys *keys = &rare->keys.rare;

	rare->first = UINT64_MAX;
	rare->answers = calloc((size_t)keys->count + 1, 1);
	if (!rare->answers)
		return HF_ERR_NOMEM;
	for (uint32_t i = 0; i < keys->count; i++) {
		const struct hf_key *key = &keys->key[i];

		if (!is_answer(question, key))
			continue;
		if (key->last >= rare->reader.groups || key->total > HF_COUNT_MAX - rare->total)
			return HF_ERR_STATE;
		rare->answers[i] = key->maybe && !question->any_value ? 2 : 1;
		rare->total += key->total;
		rare->maybe += rare->answers[i] == 2 ? key->total : 0;
		rare->first = key->first < rare->first ? key->first : rare->first;
		rare->end = key->last + 1 > rare->end ? key->last + 1 : rare->end;
	}
	return 0;
}

int hf_rare_find(struct hf_summary *summary, uint32_t hart, const struct hf_rare_question *question,
		 struct hf_rare **ret_rare)
{
	struct hf_rare *rare = calloc(1, sizeof *rare);
	int err;

	*ret_rare = NULL;
	if (!rare)
		return HF_ERR_NOMEM;
	rare->at = UINT64_MAX;
	err = hf_group_reader_open(summary, hart, &rare->reader);
	if (!err)
		err = hf_group_read_keys(&rare->reader, &rare->keys);
	if (!err)
		err = ask_keys(rare, question);
	if (err)
		hf_rare_free(rare);
	else
		*ret_rare = rare;
	return hf_published_noted(&summary->file, err);
}

static void free_groups(struct hf_rare *rare)
{
	free(rare->before);
	free(rare->low);
	free(rare->high);
}

void hf_rare_free(struct hf_rare *rare)
{
	if (!rare)
		return;
	hf_group_keys_free(&rare->keys);
	hf_group_reader_close(&rare->reader);
	free(rare->answers);
	free_groups(rare);
	free(rare->hits);
	free(rare);
}

uint64_t hf_rare_count(const struct hf_rare *rare, uint64_t *ret_maybe)
{
	if (ret_maybe)
		*ret_maybe = rare->maybe;
	return rare->total;
}

/* ---- hits ---- */

static int add_hit(struct hf_rare *rare, uint64_t first, uint64_t last, uint64_t count, bool maybe)
{
	struct hf_rare_hit *before = rare->hit_count ? &rare->hits[rare->hit_count - 1] : NULL;
	int err;

	/* Events of the same ordinals are one hit. */
	if (before && before->first == first && before->last == last) {
		before->count += count;
		before->maybe |= maybe;
		return 0;
	}
	err = hf_array_room(&rare->hits, rare->hit_count, sizeof *rare->hits);
	if (!err)
		rare->hits[rare->hit_count++] =
			(struct hf_rare_hit){.first = first, .last = last, .count = count, .maybe = maybe};
	return err;
}

static int answer_of(const struct hf_rare *rare, uint64_t key)
{
	return key < rare->keys.rare.count ? rare->answers[key] : HF_ERR_STATE;
}

/* Exact events: their keys, then their ordinals. */
static int take_events(struct hf_rare *rare, uint64_t first, uint64_t insns, uint64_t n)
{
	struct hf_group_reader *r = &rare->reader;
	const uint8_t *const keys = r->at;
	uint64_t key, step, ordinal = first;
	int err = 0;

	for (uint64_t i = 0; i < n && !err; i++)
		err = hf_group_number(r, &key);
	for (const uint8_t *p = keys; n && !err; n--) {
		const uint8_t *steps;
		int answer;

		err = hf_group_number(r, &step);
		if (err || step > (insns ? insns - 1 : 0) - (ordinal - first))
			return HF_ERR_STATE;
		ordinal += step;
		steps = r->at;
		r->at = p;
		err = hf_group_number(r, &key);
		p = r->at;
		r->at = steps;
		answer = answer_of(rare, key);
		if (answer)
			err = answer < 0 ? answer : add_hit(rare, ordinal, ordinal, 1, answer == 2);
	}
	return err;
}

static int take_blocks(struct hf_rare *rare, uint64_t first, uint64_t insns, uint64_t n)
{
	uint64_t key, count;
	int err = 0;

	for (; n && !err; n--) {
		int answer;

		err = hf_group_number(&rare->reader, &key);
		if (!err)
			err = hf_group_number(&rare->reader, &count);
		if (err || count > HF_COUNT_MAX)
			return HF_ERR_STATE;
		answer = answer_of(rare, key);
		if (answer)
			err = answer < 0 ? answer
					 : add_hit(rare, first, first + (insns ? insns - 1 : 0), count, answer == 2);
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct hf_rare_hit *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->last > y->last) - (x->last < y->last);
}

static int read_chunks(struct hf_rare *rare, uint64_t group, uint64_t first)
{
	struct hf_group_reader *r = &rare->reader;
	uint64_t n[3];
	int err = 0;

	for (uint64_t chunk = group * HF_GROUP_CHUNKS; r->at < r->end && !err; chunk++) {
		const size_t from = rare->hit_count;

		for (unsigned i = 0; i < 3 && !err; i++)
			err = hf_group_number(r, &n[i]);
		if (err || chunk >= r->hart->chunks || n[0] > r->hart->insns - first)
			return HF_ERR_STATE;
		err = take_events(rare, first, n[0], n[1]);
		if (!err)
			err = take_blocks(rare, first, n[0], n[2]);
		if (rare->hit_count > from)
			qsort(rare->hits + from, rare->hit_count - from, sizeof *rare->hits, compare);
		first += n[0];
	}
	return err;
}

/* Reads the hits of a group. */
static int look_at(struct hf_rare *rare, uint64_t group)
{
	uint64_t first = 0, before = rare->before ? rare->before[group - rare->first] : 0;
	int err;

	if (rare->at == group)
		return 0;
	rare->at = UINT64_MAX;
	free(rare->hits);
	rare->hits = NULL;
	rare->hit_count = 0;
	err = hf_group_read(&rare->reader, group, HF_SECTION_RARE);
	if (err == HF_NOTE_END) {
		rare->at = group;
		return 0;
	}
	if (!err)
		err = hf_group_number(&rare->reader, &first);
	if (!err && first > rare->reader.hart->insns)
		err = HF_ERR_STATE;
	if (!err)
		err = read_chunks(rare, group, first);
	for (size_t i = 0; i < rare->hit_count && !err; i++) {
		rare->hits[i].before = before;
		before += rare->hits[i].count;
	}
	rare->at = err ? UINT64_MAX : group;
	return hf_published_noted(&rare->reader.summary->file, err);
}

/* Sums up the group that was read. */
static int count_group(struct hf_rare *rare, uint64_t i)
{
	uint64_t sum = rare->before[i];

	rare->low[i] = UINT64_MAX;
	for (size_t k = 0; k < rare->hit_count; k++) {
		const struct hf_rare_hit *hit = &rare->hits[k];

		if (__builtin_add_overflow(sum, hit->count, &sum))
			return HF_ERR_STATE;
		rare->low[i] = hit->first < rare->low[i] ? hit->first : rare->low[i];
		rare->high[i] = hit->last > rare->high[i] ? hit->last : rare->high[i];
	}
	rare->before[i + 1] = sum;
	return 0;
}

/* Sets before, low and high. */
static int count_groups(struct hf_rare *rare)
{
	const uint64_t n = rare->end > rare->first ? rare->end - rare->first : 0;
	int err = 0;

	if (rare->counted)
		return 0;
	free_groups(rare);
	rare->before = calloc((size_t)n + 1, sizeof *rare->before);
	rare->low = calloc((size_t)n + 1, sizeof *rare->low);
	rare->high = calloc((size_t)n + 1, sizeof *rare->high);
	if (!rare->before || !rare->low || !rare->high)
		return HF_ERR_NOMEM;
	for (uint64_t i = 0; i < n && !err; i++) {
		err = look_at(rare, rare->first + i);
		if (!err)
			err = count_group(rare, i);
	}
	if (!err && rare->before[n] != rare->total)
		err = HF_ERR_STATE;
	rare->counted = !err;
	return hf_published_noted(&rare->reader.summary->file, err);
}

/* ---- asking ---- */

int hf_rare_each(struct hf_rare *rare, hf_rare_fn fn, void *ctx)
{
	int err = count_groups(rare);

	for (uint64_t group = rare->first; group < rare->end && !err; group++) {
		err = look_at(rare, group);
		for (size_t i = 0; i < rare->hit_count && !err; i++)
			err = fn(ctx, &rare->hits[i]);
	}
	return err;
}

int hf_rare_nth(struct hf_rare *rare, uint64_t n, struct hf_rare_hit *ret_hit)
{
	int err = count_groups(rare);

	for (uint64_t i = 0; rare->first + i < rare->end && !err; i++) {
		if (n >= rare->before[i + 1])
			continue;
		err = look_at(rare, rare->first + i);
		for (size_t k = 0; k < rare->hit_count && !err; k++) {
			*ret_hit = rare->hits[k];
			if (n - ret_hit->before < ret_hit->count)
				return 0;
		}
		return err ? err : HF_ERR_STATE;
	}
	return err ? err : (int)HF_NOTE_END;
}

int hf_rare_next(struct hf_rare *rare, uint64_t ordinal, struct hf_rare_hit *ret_hit)
{
	int err = count_groups(rare);

	for (uint64_t i = 0; rare->first + i < rare->end && !err; i++) {
		if (rare->before[i] == rare->before[i + 1] || rare->high[i] < ordinal)
			continue;
		err = look_at(rare, rare->first + i);
		for (size_t k = 0; k < rare->hit_count && !err; k++) {
			*ret_hit = rare->hits[k];
			if (ret_hit->last >= ordinal)
				return 0;
		}
	}
	return err ? err : (int)HF_NOTE_END;
}

int hf_rare_previous(struct hf_rare *rare, uint64_t ordinal, struct hf_rare_hit *ret_hit)
{
	int err = count_groups(rare);

	for (uint64_t i = rare->end > rare->first ? rare->end - rare->first : 0; i-- && !err;) {
		if (rare->before[i] == rare->before[i + 1] || rare->low[i] > ordinal)
			continue;
		err = look_at(rare, rare->first + i);
		for (size_t k = rare->hit_count; k-- && !err;) {
			*ret_hit = rare->hits[k];
			if (ret_hit->first <= ordinal)
				return 0;
		}
	}
	return err ? err : (int)HF_NOTE_END;
}
