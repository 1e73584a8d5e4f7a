/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target on the files and directories (their files, in the order of their names) given as arguments, so
 * that every corpus is an ordinary test without a fuzzing engine. A missing or empty directory is an error: a test
 * that tries nothing must not pass.
 */
#include "tests/lib/fuzz.h"
#include "tests/lib/walk.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

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
	LLVMFuzzerTestOneInput(exact, b.n);
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
	for (int i = 1; i < argc; i++) {
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
