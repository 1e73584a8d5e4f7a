/* SPDX-License-Identifier: Apache-2.0 */
/* Where two harts part: by what the index says of stretches of them, and at last instruction by instruction. */
#include "fs/diff/pair.h"

/* So many instructions are compared one by one: at first, for the next difference is often near; and where the stretch in
 * which it must be is no longer. */
#define LOOK UINT64_C(32768)

static uint64_t look_of(const struct hf_diff_pair *pair)
{
	return pair->diff->look ? pair->diff->look : LOOK;
}

struct search {
	struct hf_diff_pair *pair;
	const uint64_t *at;
	struct hf_prefix_digest before[2]; /* the instructions at at */
	uint64_t most;		    /* instructions there are to compare */
};

static void tell(const struct search *s, uint64_t insns)
{
	const struct hf_diff *diff = s->pair->diff;
	const uint64_t all = s->at[0] + s->most - diff->hart[0].from;

	if (diff->progress && all)
		diff->progress(diff->ctx, (double)(s->at[0] + insns - diff->hart[0].from) / (double)all);
}

/* From first to before end, counted from at. *ret_insns: the first that differs, or end. */
static int compare_each(struct search *s, uint64_t first, uint64_t end, uint64_t *ret_insns)
{
	struct hf_diff_pair *pair = s->pair;
	const uint64_t at[2] = {s->at[0] + first, s->at[1] + first};
	uint64_t i = 0;
	int err = hf_diff_pair_move(pair, at);

	while (!err && first + i < end) {
		const uint64_t more = i + 1024 < end - first ? i + 1024 : end - first;

		err = hf_diff_pair_fill(pair, more);
		if (!err && (pair->side[0].count < more || pair->side[1].count < more))
			err = HF_ERR_MISMATCH;
		while (!err && i < more && hf_diff_same(pair, &pair->side[0].item[i], &pair->side[1].item[i]))
			i++;
		if (i < more)
			break;
	}
	*ret_insns = first + i;
	return err;
}

/* Whether the first insns instructions are equal. */
static int compare_all(struct search *s, uint64_t insns, bool *ret_same)
{
	struct hf_diff_pair *pair = s->pair;
	struct hf_prefix_digest sum[2];
	int err = 0;

	for (unsigned i = 0; i < 2 && !err; i++) {
		struct hf_prefix_digest end;

		pair->which = i;
		err = hf_diff_side_before(&pair->side[i], s->at[i] + insns, &end);
		sum[i] = hf_prefix_digest_between(&s->before[i], s->at[i], &end, insns);
	}
	*ret_same = !err && sum[0].flow == sum[1].flow &&
		    (!pair->diff->accesses || (sum[0].access == sum[1].access)) &&
		    (!pair->values || sum[0].value == sum[1].value);
	pair->digests++;
	return err;
}

/* A place between two, where a chunk of the first hart begins if there is one: that costs least. */
static uint64_t place_between(const struct search *s, uint64_t low, uint64_t high)
{
	const struct hf_diff_side *side = &s->pair->side[0];
	const uint64_t middle = low + (high - low) / 2;
	struct hf_chunk chunk;

	if (hf_index_chunk_of(side->open->index, side->hart, s->at[0] + middle, &chunk) || chunk.ordinal < s->at[0] ||
	    chunk.ordinal - s->at[0] <= low)
		return middle;
	return chunk.ordinal - s->at[0];
}

/* Stretches that become longer and longer, until one differs: it is not longer than all before. The first *low
 * instructions are equal, and among the first *high is one that differs if that is not more than there are. */
static int gallop(struct search *s, uint64_t *low, uint64_t *high)
{
	bool same = true;
	int err = 0;

	for (*high = *low; !err && same && *high < s->most;) {
		*low = *high;
		*high = *low < s->most / 4 ? place_between(s, 2 * *low, 4 * *low) : s->most;
		tell(s, *low);
		err = compare_all(s, *high, &same);
	}
	if (!err && same)
		*low = s->most;
	return err;
}

static int narrow(struct search *s, uint64_t *low, uint64_t *high)
{
	int err = 0;

	while (!err && *high - *low > look_of(s->pair)) {
		const uint64_t middle = place_between(s, *low, *high);
		bool same;

		err = compare_all(s, middle, &same);
		*(same ? low : high) = middle;
	}
	return err;
}

static int compare_far(struct search *s, uint64_t *ret_insns)
{
	uint64_t low = *ret_insns, high = low;
	int err = 0;

	for (unsigned i = 0; i < 2 && !err; i++) {
		s->pair->which = i;
		err = hf_diff_side_before(&s->pair->side[i], s->at[i], &s->before[i]);
	}
	if (!err)
		err = gallop(s, &low, &high);
	*ret_insns = low;
	if (err || low == s->most)
		return err;
	err = narrow(s, &low, &high);
	if (!err)
		err = compare_each(s, low, high, ret_insns);
	/* It must be there. */
	return !err && *ret_insns == high ? HF_ERR_MISMATCH : err;
}

int hf_diff_search(struct hf_diff_pair *pair, const uint64_t at[2], uint64_t *ret_insns)
{
	const uint64_t rest[2] = {pair->side[0].insns - at[0], pair->side[1].insns - at[1]};
	struct search s = {.pair = pair, .at = at, .most = rest[0] < rest[1] ? rest[0] : rest[1]};
	const uint64_t near = s.most < look_of(pair) ? s.most : look_of(pair);
	int err;

	tell(&s, 0);
	err = compare_each(&s, 0, near, ret_insns);
	return !err && *ret_insns == near && near < s.most ? compare_far(&s, ret_insns) : err;
}
