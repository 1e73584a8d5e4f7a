/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions problems put in doubt: of their own hart, up to the problem and as far back as it says. */
#include "codecs/base/err.h"
#include "index/read/doubts.h"
#include "tests/lib/check.h"

static const struct {
	uint32_t hart;
	uint64_t ordinal, back;
} some[] = {
	{3, 50, 10},	    {3, 60, 0}, /* doubts nothing */
	{0, 7, UINT32_MAX},		/* all before it */
	{3, 90, 60},			/* the one at 50 is within */
	{3, 200, 1},	    {5, 0, 9},	/* before the first instruction */
};

/* With the first n of them. */
static void check(size_t n, uint32_t hart, uint64_t ordinal, uint64_t behind)
{
	struct hf_doubts doubts = {0};

	for (size_t i = 0; i < n; i++)
		CHECK_EQ(hf_doubts_add(&doubts, some[i].hart, some[i].ordinal, some[i].back), 0);
	hf_doubts_end(&doubts);
	CHECK_EQ(hf_doubts_find(&doubts, hart, ordinal), behind);
	hf_doubts_free(&doubts);
}

int main(void)
{
	const size_t n = sizeof some / sizeof some[0];

	check(0, 0, 0, HF_NOWHERE);
	check(n, 0, 0, 6);
	check(n, 0, 6, 6);
	check(n, 0, 7, HF_NOWHERE);
	check(1, 3, 39, HF_NOWHERE);
	check(1, 3, 40, 49);
	check(1, 3, 49, 49);
	check(n, 3, 29, HF_NOWHERE);
	check(n, 3, 30, 89);
	check(n, 3, 89, 89);
	check(n, 3, 90, HF_NOWHERE);
	check(n, 3, 198, HF_NOWHERE);
	check(n, 3, 199, 199);
	check(n, 4, 0, HF_NOWHERE);
	check(n, 5, 0, HF_NOWHERE);
	check(n, 6, 0, HF_NOWHERE);
	return 0;
}
