/* SPDX-License-Identifier: Apache-2.0 */
/* What chunks executed: the runs of groups, and how often. */
#include "index/summary/group_read.h"

#include "codecs/base/bytes.h"
#include "index/summary/summary.h"

#include <stdlib.h>

/* ---- postings ---- */

struct telling {
	struct hf_group_reader reader;
	uint64_t low, high;
	const uint8_t *wanted;
	hf_postings_fn fn;
	void *ctx;
	uint64_t *run; /* of the present group */
	uint64_t count, room;
};

/* Reads the runs of a group. 1: one of them is wanted. */
static int read_runs(struct telling *t, uint64_t group)
{
	struct hf_group_reader *r = &t->reader;
	uint64_t number = 0, step;
	int wanted = 0, err = hf_group_read(r, group, HF_SECTION_RUNS);

	if (err)
		return err == HF_NOTE_END ? 0 : err;
	err = hf_group_number(r, &t->count);
	if (err || t->count > (size_t)(r->end - r->at))
		return HF_ERR_STATE;
	if (t->count > t->room) {
		free(t->run);
		t->room = 2 * t->count;
		t->run = malloc(t->room * sizeof *t->run);
		if (!t->run)
			return t->room = 0, HF_ERR_NOMEM;
	}
	for (uint64_t i = 0; i < t->count; i++) {
		if (hf_group_number(r, &step) || step >= r->hart->runs - number)
			return HF_ERR_STATE;
		t->run[i] = number += step;
		wanted |= !t->wanted || t->wanted[number];
	}
	return wanted;
}

/* Skips n numbers, by their last bytes only. NULL: there are fewer. */
static const uint8_t *skip_numbers(const uint8_t *p, const uint8_t *end, unsigned n)
{
	for (; n >= 8 && end - p >= 8; p += 8)
		n -= (unsigned)__builtin_popcountll(~hf_get64(p) & UINT64_C(0x8080808080808080));
	for (; n && p < end; p++)
		n -= !(*p & 0x80);
	return n ? NULL : p;
}

static int tell_run(struct telling *t, uint64_t run, uint64_t first, uint64_t bits, const uint8_t **counts)
{
	struct hf_group_reader *r = &t->reader;
	struct hf_posting posting[HF_GROUP_CHUNKS];
	size_t n = 0;

	if (t->wanted && !t->wanted[run]) {
		*counts = skip_numbers(*counts, r->end, (unsigned)__builtin_popcountll(bits));
		return *counts ? 0 : HF_ERR_STATE;
	}
	for (; bits; bits &= bits - 1) {
		const uint64_t chunk = first + (unsigned)__builtin_ctzll(bits);

		*counts = hf_get_varint(*counts, r->end, &posting[n].count);
		if (!*counts || !posting[n].count || chunk >= r->hart->chunks)
			return HF_ERR_STATE;
		posting[n].chunk = chunk;
		n += chunk >= t->low && chunk < t->high;
	}
	return n ? t->fn(t->ctx, run, posting, n) : 0;
}

static int tell_group(struct telling *t, uint64_t group)
{
	struct hf_group_reader *r = &t->reader;
	const uint8_t *counts;
	int err = read_runs(t, group);

	if (err <= 0)
		return err;
	err = hf_group_read(r, group, HF_SECTION_COUNTS);
	if (err || (size_t)(r->end - r->at) / 8 < t->count)
		return err < 0 ? err : HF_ERR_STATE;
	counts = r->at + 8 * t->count;
	for (uint64_t i = 0; i < t->count && !err; i++)
		err = tell_run(t, t->run[i], group * HF_GROUP_CHUNKS, hf_get64(r->at + 8 * i), &counts);
	return err;
}

int hf_summary_postings(struct hf_summary *summary, uint32_t hart, uint64_t low, uint64_t high, const uint8_t *wanted,
			hf_postings_fn fn, void *ctx)
{
	struct telling t = {.low = low, .high = high, .wanted = wanted, .fn = fn, .ctx = ctx};
	int err = hf_group_reader_open(summary, hart, &t.reader);

	if (!err && t.high > t.reader.hart->chunks)
		t.high = t.reader.hart->chunks;
	for (uint64_t group = low / HF_GROUP_CHUNKS; !err && group * HF_GROUP_CHUNKS < t.high; group++)
		err = tell_group(&t, group);
	free(t.run);
	hf_group_reader_close(&t.reader);
	return hf_published_noted(&summary->file, err);
}

/* ---- the book ---- */

struct loading {
	struct hf_summary_book *book;
	struct hf_raw code;
};

/* code is an offset until all code is there, for its memory may move. */
static int take_run(void *ctx, const struct hf_summary_run *run)
{
	struct loading *l = ctx;
	struct hf_summary_run *to = &l->book->run[run->number];

	*to = *run;
	to->run.code = (const uint8_t *)l->code.n;
	hf_raw_bytes(&l->code, run->run.code, run->run.bytes);
	return l->code.err;
}

int hf_summary_book_load(struct hf_summary *summary, uint32_t hart, struct hf_summary_book *ret_book)
{
	struct loading l = {.book = ret_book};
	int err;

	*ret_book = (struct hf_summary_book){.count = hf_summary_run_count(summary, hart)};
	ret_book->run = calloc((size_t)ret_book->count + 1, sizeof *ret_book->run);
	err = ret_book->run ? hf_summary_runs(summary, hart, 0, UINT64_MAX, take_run, &l) : HF_ERR_NOMEM;
	ret_book->code = l.code.p;
	for (uint64_t i = 0; i < ret_book->count && !err; i++)
		ret_book->run[i].run.code = l.code.p + (size_t)ret_book->run[i].run.code;
	return err;
}

void hf_summary_book_free(struct hf_summary_book *book)
{
	free(book->run);
	free(book->code);
	*book = (struct hf_summary_book){0};
}
