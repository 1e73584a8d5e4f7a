/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where two harts that have parted meet again. Near by it is the shortest edit; further away, in larger and larger windows,
 * a sequence that is rare in both. Every candidate is looked at, instruction by instruction.
 */
#include "fs/diff/anchors.h"
#include "fs/diff/edit.h"
#include "fs/diff/pair.h"

/* The first window, and how much larger each is than the one before. */
#define NEAR UINT64_C(1024)
#define LARGER 8u

/* A place where they may meet. */
struct meeting {
	uint64_t at[2];	 /* from the beginning of the windows */
	uint64_t length; /* as far as that was looked at */
	bool end;	 /* they are equal up to the end of both */
};

/* How long they have to be equal after so many instructions that are not. */
static uint64_t wanted_after(uint64_t passed)
{
	return passed < HF_DIFF_MEET ? HF_DIFF_MEET : passed > HF_DIFF_SURE ? HF_DIFF_SURE : passed;
}

static bool convinces(const struct meeting *m)
{
	return m->end || m->length >= wanted_after(m->at[0] + m->at[1]);
}

static bool is_better(const struct meeting *a, const struct meeting *b)
{
	const uint64_t a_sum = a->at[0] + a->at[1], b_sum = b->at[0] + b->at[1];
	const bool a_sure = convinces(a), b_sure = convinces(b);

	if (a_sure != b_sure)
		return a_sure;
	return a_sure || a->length == b->length ? a_sum < b_sum : a->length > b->length;
}

/* The windows at hand. */
static bool ends_with_hart(const struct hf_diff_side *side)
{
	return side->base + side->count == side->insns;
}

/* Goes back from a place where both are equal to the first one. */
static void go_back(const struct hf_diff_pair *pair, struct meeting *m)
{
	const struct hf_diff_side *side = pair->side;

	while (m->at[0] && m->at[1] &&
	       hf_diff_same_code(&side[0].item[m->at[0] - 1], &side[1].item[m->at[1] - 1])) {
		m->at[0]--;
		m->at[1]--;
	}
}

/* The same, and then forth as far as it matters. */
static int measure(struct hf_diff_pair *pair, struct meeting *m)
{
	const struct hf_diff_side *side = pair->side;
	int err;

	go_back(pair, m);
	err = hf_diff_pair_fill(pair, (m->at[0] > m->at[1] ? m->at[0] : m->at[1]) + HF_DIFF_SURE);
	if (err)
		return err;
	for (m->length = 0; m->length < HF_DIFF_SURE; m->length++) {
		const uint64_t x = m->at[0] + m->length, y = m->at[1] + m->length;

		if (x >= side[0].count || y >= side[1].count) {
			m->end = x == side[0].count && y == side[1].count;
			break;
		}
		if (!hf_diff_same_code(&side[0].item[x], &side[1].item[y]))
			break;
	}
	return 0;
}

static size_t within(const struct hf_diff_side *side, uint64_t window)
{
	return side->count < window ? side->count : (size_t)window;
}

/* Looks at the anchors of the windows. *best is what was found before, and is replaced by something better. */
static int try_anchors(struct hf_diff_pair *pair, uint64_t window, struct meeting *best)
{
	struct hf_diff_anchor anchors[HF_DIFF_ANCHORS];
	const size_t a = within(&pair->side[0], window), b = within(&pair->side[1], window);
	size_t n;
	int err = hf_diff_anchors(pair->side[0].item, a, pair->side[1].item, b, HF_DIFF_MEET, anchors, &n);

	for (size_t i = 0; !err && i < n; i++) {
		struct meeting m = {.at = {anchors[i].at[0], anchors[i].at[1]}};

		/* One that goes back to the best one says nothing new. */
		if (best->length && m.at[0] - m.at[1] == best->at[0] - best->at[1] && m.at[0] >= best->at[0] &&
		    m.at[0] < best->at[0] + best->length)
			continue;
		err = measure(pair, &m);
		if (!err && m.length >= HF_DIFF_MEET && (!best->length || is_better(&m, best)))
			*best = m;
	}
	return err;
}

/* Few edits near by. */
static int try_edit(struct hf_diff_pair *pair, struct meeting *best)
{
	const struct hf_diff_side *side = pair->side;
	const size_t a = within(&side[0], NEAR), b = within(&side[1], NEAR);
	const bool end = ends_with_hart(&side[0]) && ends_with_hart(&side[1]) && a == side[0].count && b == side[1].count;
	struct meeting m = {0};
	int err;

	if (!hf_diff_edit(side[0].item, a, side[1].item, b, end, wanted_after, m.at))
		return 0;
	err = measure(pair, &m);
	*best = m;
	return err;
}

/* Both windows end with their harts: what is the same there. */
static void try_ends(const struct hf_diff_pair *pair, struct meeting *m)
{
	const struct hf_diff_side *side = pair->side;

	*m = (struct meeting){.at = {side[0].count, side[1].count}, .end = true};
	go_back(pair, m);
}

int hf_diff_realign(struct hf_diff_pair *pair, const uint64_t at[2], uint64_t ret_pass[2], enum hf_diff_kind *ret_kind)
{
	struct hf_diff_side *side = pair->side;
	struct meeting best = {0};
	bool all = false;
	int err = hf_diff_pair_move(pair, at);

	for (uint64_t window = NEAR; !err && !all && !convinces(&best); window *= LARGER) {
		if (window > HF_DIFF_AHEAD)
			window = HF_DIFF_AHEAD;
		if (pair->diff->progress && side[0].insns > pair->diff->hart[0].from)
			pair->diff->progress(pair->diff->ctx,
					     (double)(at[0] - pair->diff->hart[0].from) /
						     (double)(side[0].insns - pair->diff->hart[0].from));
		pair->looked += window > NEAR ? window : 0;
		err = hf_diff_pair_fill(pair, window);
		if (!err && window == NEAR)
			err = try_edit(pair, &best);
		if (!err && !convinces(&best))
			err = try_anchors(pair, window, &best);
		all = window == HF_DIFF_AHEAD || (within(&side[0], window + 1) <= window && ends_with_hart(&side[0]) &&
						  within(&side[1], window + 1) <= window && ends_with_hart(&side[1]));
	}
	if (!err && !best.length && ends_with_hart(&side[0]) && ends_with_hart(&side[1]))
		try_ends(pair, &best);
	*ret_kind = err || best.length || best.end ? HF_DIFF_FLOW : HF_DIFF_APART;
	for (unsigned i = 0; i < 2; i++)
		ret_pass[i] = *ret_kind == HF_DIFF_APART ? side[i].insns - at[i] : best.at[i];
	return err;
}
