/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TARGET PATH...: runs that fuzz target on files and directories (their files, in the order of their names), so that
 * every corpus is an ordinary test without a fuzzing engine. A missing or empty directory is an error: a test that
 * tries nothing must not pass.
 */
#include "tests/lib/fuzz.h"
#include "tests/lib/walk.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

typedef int target(const uint8_t *bytes, size_t n);

/* Each file is compiled with this name in the place of LLVMFuzzerTestOneInput. */
#define TEST(name) target fuzz_##name;
#include HF_TESTS
#undef TEST

static const struct {
	const char *name;
	target *run;
} targets[] = {
#define TEST(name) {#name, fuzz_##name},
#include HF_TESTS
#undef TEST
};

static target *run;
static unsigned tried;

static void replay_file(const char *dir, const char *name)
{
	struct hf_walk_bytes b = hf_bytes_load(dir, name);
	uint8_t *exact = malloc(b.n ? b.n : 1); /* so that a read past the end is seen */

	if (!exact)
		exit(1);
	if (b.n)
		memcpy(exact, b.p, b.n);
	/* Flushed first: after a crash it names the culprit. */
	printf("%s%s%s\n", dir, *dir ? "/" : "", name);
	fflush(stdout);
	run(exact, b.n);
	tried++;
	free(exact);
	hf_bytes_free(&b);
}

static void replay_directory(const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort);

	if (n < 0) {
		perror(path);
		exit(1);
	}
	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.')
			replay_file(path, names[i]->d_name);
		free(names[i]);
	}
	free(names);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof targets / sizeof *targets; i++)
		if (strcmp(targets[i].name, argv[1]) == 0)
			run = targets[i].run;
	if (!run) {
		fprintf(stderr, "usage: %s TARGET PATH...\n", argv[0]);
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) < 0) {
			perror(argv[i]);
			return 1;
		}
		if (S_ISDIR(st.st_mode))
			replay_directory(argv[i]);
		else
			replay_file("", argv[i]);
	}
	printf("%u inputs\n", tried);
	return tried ? 0 : 1;
}
