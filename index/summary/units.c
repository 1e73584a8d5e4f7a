/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/units.h"

#include "codecs/base/bytes.h"

#include <stdlib.h>

/* Each coarser level has so many bits more. */
enum { STEP = 3, LAST_STEP = 60 };

int hf_units_add(struct hf_units *u, const struct hf_range *ranges, size_t n)
{
	if (u->room - u->n < n) {
		const size_t room = 2 * u->room + n;
		struct hf_range *bigger = realloc(u->range, room * sizeof *bigger);

		if (!bigger)
			return HF_ERR_NOMEM;
		u->range = bigger;
		u->room = room;
	}
	u->together = !u->n;
	if (n)
		memcpy(u->range + u->n, ranges, n * sizeof *ranges);
	u->n += n;
	return 0;
}

void hf_units_free(struct hf_units *u)
{
	free(u->range);
	*u = (struct hf_units){0};
}

void hf_units_keep(struct hf_units *u, struct hf_keep *k)
{
	uint64_t n = u->n;

	HF_KEEP(k, u->level, HF_UNITS_ALL);
	HF_KEEP(k, u->unknown, 1);
	HF_KEEP(k, n, UINT32_MAX);
	for (uint64_t i = 0; i < n && !k->err; i++) {
		struct hf_range range = k->load ? (struct hf_range){0} : u->range[i];

		HF_KEEP(k, range.first, UINT64_MAX);
		HF_KEEP(k, range.last, UINT64_MAX);
		hf_keep_check(k, range.first <= range.last);
		if (k->load && !k->err)
			hf_keep_fail(k, hf_units_add(u, &range, 1));
	}
	u->together = false;
}

/* ---- coarser ---- */

static int compare(const void *a, const void *b)
{
	const struct hf_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Makes units `by` bits larger; ranges that then touch become one. 64: all memory. */
static void put_together(struct hf_units *u, unsigned by)
{
	size_t n = 0;

	for (size_t i = 0; i < u->n; i++) {
		const uint64_t first = by < 64 ? u->range[i].first >> by : 0, last = by < 64 ? u->range[i].last >> by : 0;
		struct hf_range *before = n ? &u->range[n - 1] : NULL;

		if (before && (first <= before->last || first - before->last == 1))
			before->last = last > before->last ? last : before->last;
		else
			u->range[n++] = (struct hf_range){.first = first, .last = last};
	}
	u->n = n;
	u->together = true;
}

static void order(struct hf_units *u)
{
	if (u->together)
		return;
	if (u->n)
		qsort(u->range, u->n, sizeof *u->range, compare);
	put_together(u, 0);
}

void hf_units_coarsen(struct hf_units *u, unsigned level)
{
	order(u);
	if (level > u->level)
		put_together(u, level == HF_UNITS_ALL ? 64 : level - u->level);
	u->level = level > u->level ? level : u->level;
}

static unsigned coarser(unsigned level)
{
	return level + STEP > LAST_STEP ? HF_UNITS_ALL : level + STEP;
}

static size_t size_of(const struct hf_units *u)
{
	uint64_t last = UINT64_MAX;
	size_t size = 0;

	for (size_t i = 0; i < u->n; i++) {
		const uint64_t more = u->range[i].last - u->range[i].first;

		size += hf_varint_size(u->range[i].first - last) + (more > 2 ? 1 + hf_varint_size(more - 3) : more);
		last = u->range[i].last;
	}
	return size;
}

/* Below this level there are certainly more than most bytes: a distance d is at least d >> s at a level that is s
 * higher, and if that is 2 or more, the ranges are still two. */
static unsigned least_level(const struct hf_units *u, size_t most)
{
	uint32_t bits[65] = {0};
	unsigned by = 0;

	for (size_t i = 1; i < u->n; i++)
		bits[64 - __builtin_clzll(u->range[i].first - u->range[i - 1].last)]++;
	for (; u->level + by < LAST_STEP; by += STEP) {
		size_t size = 0;

		for (unsigned k = by + 2; k <= 64; k++)
			size += bits[k] * (size_t)((k - by + 6) / 7);
		if (size <= most)
			break;
	}
	return u->level + by;
}

void hf_units_fit(struct hf_units *const sets[2], size_t most)
{
	size_t size[2];

	for (unsigned i = 0; i < 2; i++) {
		order(sets[i]);
		hf_units_coarsen(sets[i], least_level(sets[i], most));
		size[i] = size_of(sets[i]);
	}
	while (size[0] > most || size[1] > most || size[0] + size[1] > most) {
		const unsigned larger = size[1] > size[0];
		struct hf_units *u = sets[larger]->level < HF_UNITS_ALL ? sets[larger] : sets[!larger];

		if (u->level == HF_UNITS_ALL)
			return;
		hf_units_coarsen(u, coarser(u->level));
		size[u == sets[1]] = size_of(u);
	}
}

/* ---- bytes ---- */

void hf_units_code(const struct hf_units *u, struct hf_raw *raw)
{
	const size_t size = size_of(u);
	uint64_t last = UINT64_MAX;
	uint8_t *p;

	hf_raw_number(raw, (uint64_t)size << 1 | u->unknown);
	if (!size || !(p = hf_raw_room(raw, size + 1)))
		return;
	*p++ = (uint8_t)u->level;
	for (size_t i = 0; i < u->n; i++) {
		uint64_t more = u->range[i].last - u->range[i].first;

		p = hf_put_varint(p, u->range[i].first - last);
		if (more > 2) {
			*p++ = 0;
			p = hf_put_varint(p, more - 3);
			more = 0;
		}
		while (more--)
			*p++ = 1;
		last = u->range[i].last;
	}
	raw->n += size + 1;
}

int hf_units_open(struct hf_units_reader *r, const uint8_t **p, const uint8_t *end)
{
	uint64_t size;

	*r = (struct hf_units_reader){0};
	if (!(*p = hf_get_varint(*p, end, &size)))
		return HF_ERR_STATE;
	r->unknown = size & 1;
	size >>= 1;
	if (!size)
		return 0;
	if (size >= (size_t)(end - *p) || **p < STEP || **p > HF_UNITS_ALL)
		return HF_ERR_STATE;
	r->level = *(*p)++;
	r->at = *p;
	r->end = *p += size;
	return 0;
}

/* The next range, in units. */
static inline int next_units(struct hf_units_reader *r, uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t step, more = 0, most;

	if (r->at == r->end)
		return HF_NOTE_END;
	if (!(r->at = hf_get_varint(r->at, r->end, &step)) || !step)
		return HF_ERR_STATE;
	*ret_first = r->next + step - 1;
	if (r->at < r->end && !*r->at) {
		if (!(r->at = hf_get_varint(r->at + 1, r->end, &more)))
			return HF_ERR_STATE;
		more += 3;
	} else {
		for (; r->at < r->end && *r->at == 1; r->at++)
			more++;
	}
	*ret_last = *ret_first + more;
	most = r->level < HF_UNITS_ALL ? UINT64_MAX >> r->level : 0;
	if (*ret_first < r->next || *ret_last < *ret_first || *ret_last > most)
		return HF_ERR_STATE;
	r->next = *ret_last + 1;
	return 0;
}

int hf_units_next(struct hf_units_reader *r, struct hf_range *ret_range)
{
	int err = next_units(r, &ret_range->first, &ret_range->last);

	if (err)
		return err;
	if (r->level == HF_UNITS_ALL) {
		*ret_range = (struct hf_range){.last = UINT64_MAX};
	} else {
		ret_range->first <<= r->level;
		ret_range->last = (ret_range->last << r->level) + ((UINT64_C(1) << r->level) - 1);
	}
	return 0;
}

int hf_units_touch(struct hf_units_reader *r, uint64_t first, uint64_t last)
{
	const uint64_t low = r->level < 64 ? first >> r->level : 0, high = r->level < 64 ? last >> r->level : 0;
	uint64_t from, to;
	int err;

	while (!(err = next_units(r, &from, &to)))
		if (to >= low)
			return from <= high;
	return err == HF_NOTE_END ? 0 : err;
}
