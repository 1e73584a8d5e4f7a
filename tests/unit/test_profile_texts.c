/* SPDX-License-Identifier: Apache-2.0 */
/* functions.txt and callgrind.out of a small tree of calls, by hand: a function that calls itself, and cycles. */
#include "fs/profile/texts.h"
#include "tests/lib/check.h"

#include <string.h>

/* f, at 0x1000, called g, at 0x1100, three times; g called itself twice, and the second one once more. */
static struct hf_call_node nodes[] = {
	{.kind = HF_CALL_BEYOND},
	{.kind = HF_CALL_ROOT, .function = 0x1000, .own = 4, .cycles = 10, .calls = 1},
	{.kind = HF_CALL_FUNCTION, .function = 0x1100, .own = 5, .cycles = 20, .calls = 3, .parent = 1},
	{.kind = HF_CALL_FUNCTION, .function = 0x1100, .own = 2, .cycles = 5, .calls = 2, .parent = 2},
	{.kind = HF_CALL_FUNCTION, .function = 0x1100, .own = 1, .cycles = 3, .calls = 1, .parent = 3},
};
static uint64_t below[] = {0, 8, 3, 1, 0};
static uint16_t depth[] = {0, 0, 1, 2, 3};
#define ROW(at, n)                                                                                  \
	{                                                                                           \
		.pc = (at), .opcode = 0x13, .size = 4, .isa = HF_ISA_RV64, .count = (n), .taken = 0 \
	}
static struct hf_count rows[] = {ROW(0x1000, 4), ROW(0x1100, 6), ROW(0x1104, 2)};

static char *text_of(int (*write)(const struct hf_profiled *of, struct hf_sink *sink), bool timed)
{
	const struct hf_counts counts = {.row = rows, .n = 3, .insns = 12};
	const struct hf_summary_tree tree = {.count = 5,
					     .nodes = nodes,
					     .below = below,
					     .depth = depth,
					     .facts = {.returns = 6, .unmatched = 1, .timed = timed}};
	const struct hf_profiled of = {.counts = &counts, .tree = &tree};
	struct hf_sink sink;
	char *text;

	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	CHECK_EQ(write(&of, &sink), 0);
	text = strndup((const char *)sink.start, (size_t)hf_sink_total(&sink));
	CHECK(text);
	hf_sink_fini_memory(&sink);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part)) {
		printf("no \"%s\" in:\n%s", part, text);
		CHECK(false);
	}
}

static void test_functions(void)
{
	char *text = text_of(hf_profile_functions, true);

	has(text, "# 6 returns, 1 without a matching call");
	has(text, "calls         cycles address");
	has(text, "             8  66.67              8  66.67            6             28 0000000000001100 -      0x1100\n");
	free(text);
	text = text_of(hf_profile_functions, false);
	CHECK(!strstr(text, "cycles"));
	has(text, "             8  66.67              8  66.67            6 0000000000001100 -      0x1100\n");
	free(text);
}

/* Own instructions add up by address; 3 of the 8 of g are those of calls within calls, which share them out. */
static void test_callgrind(void)
{
	char *text = text_of(hf_profile_callgrind, true);

	has(text, "events: Ir Cy\nsummary: 12 38\n");
	has(text, "totals: 12 38\n");
	has(text, "0x1000 0 10\n0x1000 4\ncfi=(1)\ncfn=(5) 0x1100\ncalls=3 0x1100\n0x1000 8 28\n");
	has(text, "fn=(5)\n0x1100 0 20\n0x1100 4\n0x1104 1\ncfi=(1)\ncfn=(6) 0x1100'2\ncalls=2 0x1100\n0x1100 3 8\n");
	has(text, "fn=(6)\n0x1100 0 8\n0x1100 2\n0x1104 1\ncfi=(1)\ncfn=(6)\ncalls=1 0x1100\n0x1100 0 0\n");
	free(text);
	text = text_of(hf_profile_callgrind, false);
	has(text, "events: Ir\nsummary: 12\n");
	free(text);
}

int main(void)
{
	test_functions();
	test_callgrind();
	return 0;
}
