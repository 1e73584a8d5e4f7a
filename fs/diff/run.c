/* SPDX-License-Identifier: Apache-2.0 */
/* Two harts of two captures, from difference to difference. */
#include "fs/bytes/answer.h"
#include "fs/diff/run.h"
#include "codecs/image/common.h"
#include "fs/capture/all.h"
#include "fs/capture/open_pool.h"
#include "fs/capture/repair.h"
#include "fs/diff/pair.h"

#include <stdio.h>

struct differ {
	const struct hf_diff *diff;
	struct hf_diff_pair pair;
	struct hf_diff_told *told;
	bool looked, common; /* whether they have code in common: once it was looked for that */
	char *why;
	size_t size;
};

/* ---- one difference after the other ---- */

/* The same instructions with other accesses: so many, one after the other. */
static int count_accesses(struct hf_diff_pair *pair, const uint64_t at[2], uint64_t *ret_count)
{
	uint64_t n = 0;
	int err = hf_diff_pair_move(pair, at);

	for (;;) {
		const struct hf_diff_item *a, *b;

		if (!err)
			err = hf_diff_pair_fill(pair, n + 1);
		if (err || n >= pair->side[0].count || n >= pair->side[1].count)
			break;
		a = &pair->side[0].item[n];
		b = &pair->side[1].item[n];
		if (!hf_diff_same_code(a, b) || hf_diff_same(pair, a, b))
			break;
		/* What follows is another difference: the windows stay small. */
		if (++n == HF_DIFF_AHEAD)
			break;
	}
	*ret_count = n;
	return err;
}

/* Whether they can meet at all, as far as the index has their code. */
static int look_at_code(struct differ *d)
{
	struct hf_image *image[2] = {NULL};
	char why[256];
	int err = 0;

	for (unsigned i = 0; i < 2 && !err; i++) {
		d->pair.which = i;
		err = hf_index_image(d->pair.side[i].open->index, d->pair.side[i].hart, &image[i]);
	}
	d->looked = true;
	d->common = err || hf_image_refuses(image[0], why, sizeof why) || hf_image_refuses(image[1], why, sizeof why) ||
		    hf_image_have_common(image[0], image[1]);
	for (unsigned i = 0; i < 2; i++)
		if (image[i])
			hf_image_free(image[i]);
	return err;
}

/* Where they meet again, if they can. */
static int realign(struct differ *d, const uint64_t at[2], struct hf_diff_part *part)
{
	int err = d->looked ? 0 : look_at_code(d);

	if (err || d->common)
		return err ? err : hf_diff_realign(&d->pair, at, part->count, &part->kind);
	part->kind = HF_DIFF_APART;
	part->no_code = true;
	for (unsigned i = 0; i < 2; i++)
		part->count[i] = d->pair.side[i].insns - at[i];
	return 0;
}

/* What differs from there on. */
static int measure_part(struct differ *d, const uint64_t at[2], struct hf_diff_part *ret_part)
{
	uint64_t count;
	int err = count_accesses(&d->pair, at, &count);

	*ret_part = (struct hf_diff_part){
		.kind = HF_DIFF_ACCESS, .ordinal = {at[0], at[1]}, .count = {count, count}};
	if (!err && !count)
		err = realign(d, at, ret_part);
	return err;
}

/* What is equal from there on, up to the next difference. *ret_last: there is none. */
static int pass_equal(struct differ *d, uint64_t at[2], uint64_t *ret_same, bool *ret_last)
{
	const struct hf_diff_side *side = d->pair.side;
	int err = hf_diff_search(&d->pair, at, ret_same);

	at[0] += *ret_same;
	at[1] += *ret_same;
	*ret_last = at[0] == side[0].insns && at[1] == side[1].insns;
	return err;
}

static int compare(struct differ *d)
{
	const struct hf_diff *diff = d->diff;
	uint64_t at[2] = {diff->hart[0].from, diff->hart[1].from};
	struct hf_diff_part part;
	bool more = true;
	int err = pass_equal(d, at, &part.same, &part.last);

	while (!err && more && !part.last && !d->told->stopped) {
		err = measure_part(d, at, &part);
		if (err)
			break;
		at[0] += part.count[0];
		at[1] += part.count[1];
		err = pass_equal(d, at, &part.same, &part.last);
		if (err)
			break;
		d->told->parts++;
		if (diff->part)
			more = diff->part(diff->ctx, &part);
		more = more && d->told->parts < diff->limit;
		d->told->stopped =
			more && !part.last && (d->told->parts >= HF_DIFF_PARTS || d->pair.looked >= HF_DIFF_LOOKED);
		d->told->at[0] = at[0];
		d->told->at[1] = at[1];
	}
	return err;
}

/* ---- what is to be compared ---- */

static int find_hart(struct differ *d, unsigned i)
{
	struct hf_diff_side *side = &d->pair.side[i];
	const struct hf_diff_hart *wanted = &d->diff->hart[i];
	const struct hf_index_hart *harts;
	const size_t n = hf_index_harts(side->open->index, &harts);

	if (!side->open->stream)
		return HF_ERR_UNSUPPORTED;
	for (size_t k = 0; k < n; k++) {
		if (harts[k].id != wanted->hart)
			continue;
		side->hart = wanted->hart;
		side->insns = d->told->insns[i] = harts[k].insns;
		side->accesses = d->diff->accesses;
		if (wanted->from <= side->insns)
			return 0;
		snprintf(d->why, d->size, "hart %u has %llu instructions, so none is number %llu", wanted->hart,
			 (unsigned long long)side->insns, (unsigned long long)wanted->from);
		return HF_ERR_NOT_FOUND;
	}
	snprintf(d->why, d->size, "there is no hart %u", wanted->hart);
	return HF_ERR_NOT_FOUND;
}

/* Whether both tell of accesses, and of their values. */
static int look_at_accesses(struct differ *d)
{
	struct hf_diff_pair *pair = &d->pair;
	uint64_t told = HF_TOLD_ACCESS | HF_TOLD_VALUE;

	for (unsigned i = 0; i < 2; i++) {
		struct hf_diff_side *side = &pair->side[i];
		struct hf_prefix_digest all = {0};
		int err = 0;

		pair->which = i;
		if (!(side->open->stream->info.flags & HF_STREAM_NO_ACCESSES))
			err = hf_diff_side_before(side, side->insns, &all);
		if (err)
			return err;
		told &= all.told;
		if (all.told & HF_TOLD_ACCESS)
			continue;
		snprintf(d->why, d->size, "the trace tells no memory access at all, so there is nothing to compare");
		return HF_ERR_UNSUPPORTED;
	}
	pair->values = d->told->values = told & HF_TOLD_VALUE;
	return 0;
}

static int compare_opened(struct differ *d)
{
	int err = 0;

	for (unsigned i = 0; i < 2 && !err; i++) {
		d->pair.which = i;
		err = find_hart(d, i);
	}
	if (!err && d->diff->accesses)
		err = look_at_accesses(d);
	if (!err)
		err = compare(d);
	d->told->digests = d->pair.digests;
	for (unsigned i = 0; i < 2; i++)
		d->told->decoded[i] = d->pair.side[i].decoded;
	return err;
}

/* ---- captures ---- */

static int open_side(struct differ *d, struct hf_captures *all, unsigned i)
{
	struct hf_capture *capture;
	int err = hf_capture_at(all, d->diff->hart[i].path, &capture);

	d->pair.which = i;
	return err ? err : hf_open_get(capture, capture->version, &d->pair.side[i].open);
}

/* A file that changed meanwhile is why anything may have come out. */
static int check(struct differ *d, int err)
{
	for (unsigned i = 0; i < 2; i++) {
		if (hf_answer_check(d->pair.side[i].open, err) == HF_ERR_CHANGED) {
			d->pair.which = i;
			return HF_ERR_CHANGED;
		}
	}
	return err;
}

int hf_diff_run(struct hf_captures *all[2], const struct hf_diff *diff, struct hf_diff_told *ret_told,
		unsigned *ret_which, char *why, size_t size)
{
	struct differ d = {.diff = diff, .told = ret_told, .why = why, .size = size};
	int err = 0;

	*ret_told = (struct hf_diff_told){0};
	*why = 0;
	d.pair.diff = diff;
	for (unsigned i = 0; i < 2 && !err; i++)
		err = open_side(&d, all[i], i);
	if (!err)
		err = check(&d, compare_opened(&d));
	*ret_which = d.pair.which;
	for (unsigned i = 0; i < 2; i++) {
		struct hf_open *open = d.pair.side[i].open;

		hf_diff_side_fini(&d.pair.side[i]);
		if (open && i == *ret_which && !*why)
			hf_open_blame(open, err);
		if (open)
			hf_open_put(open);
	}
	return err;
}
