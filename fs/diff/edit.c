/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The greedy algorithm of E. W. Myers, An O(ND) Difference Algorithm and Its Variations (1986): of all ways with d edits it
 * keeps on each diagonal the one that is furthest.
 */
#include "fs/diff/edit.h"

/* There is no way to that diagonal within the windows. */
#define NO_WAY (-((ptrdiff_t)1 << 40))

struct edit {
	const struct hf_diff_item *a, *b;
	ptrdiff_t a_count, b_count;
	bool end;
	uint64_t (*wanted)(uint64_t passed);
	ptrdiff_t reach[2 * HF_DIFF_EDITS + 3]; /* of diagonal k, which is place in a less place in b: place in a */
};

/* Goes as far on the diagonal as both are equal; whether that is far enough. */
static bool follow(const struct edit *e, ptrdiff_t k, ptrdiff_t *x, uint64_t ret_at[2])
{
	const ptrdiff_t begin = *x;
	ptrdiff_t y = begin - k;

	while (*x < e->a_count && y < e->b_count && hf_diff_same_code(&e->a[*x], &e->b[y])) {
		++*x;
		y++;
	}
	ret_at[0] = (uint64_t)begin;
	ret_at[1] = (uint64_t)(begin - k);
	return (e->end && *x == e->a_count && y == e->b_count) ||
	       (uint64_t)(*x - begin) >= e->wanted(ret_at[0] + ret_at[1]);
}

/* All ways with d edits. */
static bool step(struct edit *e, ptrdiff_t d, uint64_t ret_at[2])
{
	ptrdiff_t *reach = e->reach + HF_DIFF_EDITS + 1;

	for (ptrdiff_t k = -d; k <= d; k += 2) {
		ptrdiff_t x = k == -d || (k != d && reach[k - 1] < reach[k + 1]) ? reach[k + 1] : reach[k - 1] + 1;

		if (x < 0 || x > e->a_count || x - k > e->b_count)
			x = NO_WAY;
		else if (follow(e, k, &x, ret_at))
			return true;
		reach[k] = x;
	}
	return false;
}

bool hf_diff_edit(const struct hf_diff_item *a, size_t a_count, const struct hf_diff_item *b, size_t b_count, bool end,
		  uint64_t (*wanted)(uint64_t passed), uint64_t ret_at[2])
{
	struct edit e = {.a = a,
			 .b = b,
			 .a_count = (ptrdiff_t)a_count,
			 .b_count = (ptrdiff_t)b_count,
			 .end = end,
			 .wanted = wanted};

	for (ptrdiff_t d = 0; d <= HF_DIFF_EDITS; d++)
		if (step(&e, d, ret_at))
			return true;
	return false;
}
