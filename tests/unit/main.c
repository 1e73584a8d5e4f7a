/* SPDX-License-Identifier: Apache-2.0 */
/* TEST [ARGUMENT...]: runs one test of unit/ and prop/, whose main has the name of its file here. */
#include <stdio.h>
#include <string.h>

#define TEST(name) int test_##name(int argc, char **argv);
#include HF_TESTS
#undef TEST

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} tests[] = {
#define TEST(name) {#name, test_##name},
#include HF_TESTS
#undef TEST
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof tests / sizeof *tests; i++)
		if (strcmp(tests[i].name, argv[1]) == 0)
			return tests[i].run(argc - 1, argv + 1);
	fprintf(stderr, "usage: %s TEST [ARGUMENT...]; the tests are:\n", argv[0]);
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		fprintf(stderr, "%s\n", tests[i].name);
	return 2;
}
