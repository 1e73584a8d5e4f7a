/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/diff/anchors.h"

#include <stdlib.h>
#include <string.h>

/* What hashes are made with: odd numbers that nobody chose for their sake. */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define SPREAD UINT64_C(0xd6e8feb86659fd93)

/* The windows from which on only one sequence of SAMPLE is looked at. */
#define MANY ((size_t)1 << 14)
#define SAMPLE 8u

/* A sequence of the first window. */
struct entry {
	uint64_t hash; /* 0: there is none */
	uint32_t at[2];
	uint8_t count[2];
};

struct table {
	struct entry *entry;
	size_t mask;
	uint64_t sample;
};

static uint64_t spread(uint64_t n)
{
	n = (n ^ n >> 32) * SPREAD;
	return n ^ n >> 29;
}

static uint64_t hash_item(const struct hf_diff_item *item)
{
	return spread(item->pc ^ spread(item->code + FACTOR));
}

static uint64_t power(unsigned n)
{
	uint64_t p = 1;

	while (n--)
		p *= FACTOR;
	return p;
}

/* The place of a sequence, or where it belongs. */
static struct entry *place(const struct table *t, uint64_t hash)
{
	size_t i = (size_t)(hash >> 8) & t->mask;

	while (t->entry[i].hash && t->entry[i].hash != hash)
		i = (i + 1) & t->mask;
	return &t->entry[i];
}

static void note(struct table *t, unsigned side, uint32_t at, uint64_t rolled)
{
	const uint64_t hash = spread(rolled) | 1;
	struct entry *e;

	if ((hash >> 1) % t->sample)
		return;
	e = place(t, hash);
	/* What the first window has not is of no use. */
	if (!e->hash && side)
		return;
	e->hash = hash;
	/* They come from the last to the first. */
	e->at[side] = at;
	if (e->count[side] < UINT8_MAX)
		e->count[side]++;
}

/* All sequences of a window, from the last to the first: each hash follows from the one behind it. */
static void note_all(struct table *t, unsigned side, const struct hf_diff_item *item, size_t count, unsigned length)
{
	const uint64_t oldest = power(length);
	uint64_t rolled = 0;

	for (size_t i = count; i-- > 0;) {
		rolled = rolled * FACTOR + hash_item(&item[i]);
		if (i + length < count)
			rolled -= oldest * hash_item(&item[i + length]);
		if (i + length <= count)
			note(t, side, (uint32_t)i, rolled);
	}
}

static bool is_better(const struct hf_diff_anchor *a, const struct hf_diff_anchor *b)
{
	const uint64_t a_sum = (uint64_t)a->at[0] + a->at[1], b_sum = (uint64_t)b->at[0] + b->at[1];

	return a->pairs != b->pairs ? a->pairs < b->pairs : a_sum != b_sum ? a_sum < b_sum : a->at[0] < b->at[0];
}

static void keep(struct hf_diff_anchor *anchors, size_t *count, const struct hf_diff_anchor *anchor)
{
	size_t i = *count;

	if (i == HF_DIFF_ANCHORS && !is_better(anchor, &anchors[i - 1]))
		return;
	if (i == HF_DIFF_ANCHORS)
		i--;
	else
		++*count;
	for (; i && is_better(anchor, &anchors[i - 1]); i--)
		anchors[i] = anchors[i - 1];
	anchors[i] = *anchor;
}

static void collect(const struct table *t, struct hf_diff_anchor *anchors, size_t *count)
{
	for (size_t i = 0; i <= t->mask; i++) {
		const struct entry *e = &t->entry[i];
		const struct hf_diff_anchor anchor = {.at = {e->at[0], e->at[1]},
						      .pairs = (uint32_t)e->count[0] * e->count[1]};

		if (e->hash && e->count[1])
			keep(anchors, count, &anchor);
	}
}

int hf_diff_anchors(const struct hf_diff_item *a, size_t a_count, const struct hf_diff_item *b, size_t b_count,
		    unsigned length, struct hf_diff_anchor *ret_anchors, size_t *ret_count)
{
	struct table t = {.sample = a_count > MANY || b_count > MANY ? SAMPLE : 1};
	size_t size = 1024;

	*ret_count = 0;
	/* What is the same over and over may all be among those that are looked at. */
	while (size < 2 * a_count)
		size *= 2;
	t.entry = calloc(size, sizeof *t.entry);
	if (!t.entry)
		return HF_ERR_NOMEM;
	t.mask = size - 1;
	note_all(&t, 0, a, a_count, length);
	note_all(&t, 1, b, b_count, length);
	collect(&t, ret_anchors, ret_count);
	free(t.entry);
	return 0;
}
