/* SPDX-License-Identifier: Apache-2.0 */
/* Which programs get the list of a directory anew. */
#include "mountd/list_hints.c"

#include "tests/lib/check.h"

enum { LS = 10, FIND = 11, OTHER = 10 + 64 };

static void look_up(struct hf_list_hints *all, uint32_t asker, size_t count)
{
	while (count--)
		hf_list_hints_look_up(all, asker);
}

/* Who looks a quarter of the names up, and only as long as it does. */
static void test_looks_up(void)
{
	struct hf_list_hints all;
	unsigned anew = 0;

	hf_list_hints_init(&all);
	CHECK(!hf_list_hints_open(&all, LS, 8));
	look_up(&all, LS, 1);
	CHECK(!hf_list_hints_open(&all, LS, 8));
	look_up(&all, LS, 2);
	CHECK(hf_list_hints_open(&all, LS, 8));
	while (hf_list_hints_open(&all, LS, 8))
		anew++;
	CHECK(anew > 100);
	look_up(&all, LS, 8);
	CHECK(hf_list_hints_open(&all, LS, 8));
	hf_list_hints_fini(&all);
}

/* Names of files that it did not get from a list say nothing, nor do directories without a name. */
static void test_says_nothing(void)
{
	struct hf_list_hints all;

	hf_list_hints_init(&all);
	look_up(&all, LS, 1000);
	CHECK(!hf_list_hints_open(&all, LS, 0));
	CHECK(!hf_list_hints_open(&all, LS, 0));
	look_up(&all, LS, 1000);
	CHECK(!hf_list_hints_open(&all, LS, 4));
	hf_list_hints_fini(&all);
}

/* Each by itself, also where two have one place. */
static void test_several(void)
{
	struct hf_list_hints all;

	hf_list_hints_init(&all);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(hf_list_hints_open(&all, LS, 4), i > 0);
		CHECK(!hf_list_hints_open(&all, FIND, 4));
		look_up(&all, LS, 4);
	}
	CHECK(!hf_list_hints_open(&all, OTHER, 4));
	look_up(&all, OTHER, 4);
	CHECK(!hf_list_hints_open(&all, LS, 4));
	hf_list_hints_fini(&all);
}

int main(void)
{
	test_looks_up();
	test_says_nothing();
	test_several();
	return 0;
}
