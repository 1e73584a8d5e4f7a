/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_batch ARCHIVE CHUNK CHUNK LOOK: compares many captures in one process, for tests/diff/judge.py; the first of each two
 * with chunks of as many instructions as the first number says, the other with those of the second; LOOK is hf_diff.look.
 * A line of standard input is two captures, two ordinals, and 1 if accesses are compared too. The answer is a line: error,
 * stretches that were compared by digests, and for each difference its kind, ordinals, counts, what is equal behind it, and
 * whether it is the last, with commas between them.
 */
#include "fs/diff/diff.h"
#include "fs/library.h"

#include <stdio.h>
#include <stdlib.h>

static bool put_part(void *ctx, const struct hf_diff_part *part)
{
	(void)ctx;
	printf(" %d,%llu,%llu,%llu,%llu,%llu,%d", (int)part->kind, (unsigned long long)part->ordinal[0],
	       (unsigned long long)part->count[0], (unsigned long long)part->ordinal[1],
	       (unsigned long long)part->count[1], (unsigned long long)part->same, part->last);
	return true;
}

static struct hartfs_archive *open_archive(const char *path, const char *chunk)
{
	struct hartfs_options options = HARTFS_OPTIONS_INIT;
	struct hartfs_archive *archive;
	struct hartfs_diag diag;

	options.archive = path;
	options.chunk = strtoull(chunk, NULL, 10);
	options.views = "trace.stf";
	options.summary = false;
	options.threads = options.index_threads = 1;
	if (!hartfs_open(&options, &archive, &diag))
		return archive;
	fprintf(stderr, "diff_batch: %s\n", diag.text);
	exit(1);
}

static void compare(struct hartfs_archive *archive[2], char name[2][256], const uint64_t from[2], bool accesses,
		    uint64_t look)
{
	struct hf_diff diff = {.accesses = accesses, .limit = UINT64_MAX, .look = look, .part = put_part};
	struct hf_diff_told told = {0};
	char why[320] = "";
	unsigned which;
	int err = 0;

	for (unsigned i = 0; i < 2 && !err; i++) {
		diff.hart[i] = (struct hf_diff_hart){hf_library_fs(archive[i]), name[i], 0, from[i]};
		err = hartfs_index(archive[i], name[i], NULL, NULL, NULL);
	}
	if (!err)
		err = hf_fs_diff(&diff, &told, &which, why, sizeof why);
	printf("= %d %llu\n", err, (unsigned long long)told.digests);
}

int main(int argc, char **argv)
{
	struct hartfs_archive *archive[2];
	char name[2][256];
	unsigned long long from[2];
	int accesses;

	if (argc != 5)
		return 2;
	for (unsigned i = 0; i < 2; i++)
		archive[i] = open_archive(argv[1], argv[2 + i]);
	while (scanf("%255s %255s %llu %llu %d", name[0], name[1], &from[0], &from[1], &accesses) == 5)
		compare(archive, name, (const uint64_t[2]){from[0], from[1]}, accesses, strtoull(argv[4], NULL, 10));
	for (unsigned i = 0; i < 2; i++)
		hartfs_close(archive[i]);
	return 0;
}
