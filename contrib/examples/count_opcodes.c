/* SPDX-License-Identifier: Apache-2.0 */
/* count_opcodes CAPTURE: how often each hart of a RISC-V capture ran each major opcode, the low seven bits of an
 * instruction: "HART OPCODE COUNT". cc count_opcodes.c $(pkg-config --cflags --libs hartfs) */
#include <hartfs.h>
#include <stdio.h>

/* Each hart has one listing; any view of a hart gives its instructions. */
static bool count(void *ctx, const struct hartfs_file *file)
{
	struct hartfs_archive *archive = (struct hartfs_archive *)ctx;
	unsigned long counts[128] = {0};
	struct hartfs_view *view;
	struct hartfs_event ev[256];
	uint64_t next = 0;
	size_t n;

	if (!strstr(file->path, "/listing.txt") || hartfs_view_open(archive, file->path, &view, NULL))
		return true;
	while (hartfs_view_events(view, next, ev, 256, &n, NULL) == 0 && n) {
		for (size_t i = 0; i < n; i++)
			counts[ev[i].opcode & 0x7f]++;
		next += n;
	}
	hartfs_view_close(view);
	for (unsigned i = 0; i < 128; i++)
		if (counts[i])
			printf("%u %02x %lu\n", (unsigned)file->hart, i, counts[i]);
	return next == file->instructions;
}

int main(int argc, char **argv)
{
	struct hartfs_options options = HARTFS_OPTIONS_INIT;
	struct hartfs_archive *archive;
	struct hartfs_diag diag;
	bool failed;

	options.capture = argc == 2 ? argv[1] : "";
	failed = hartfs_open(&options, &archive, &diag) || hartfs_each_file(archive, "", count, archive, &diag);
	if (failed)
		fprintf(stderr, "%s: %s\n", options.capture, diag.text);
	hartfs_close(archive);
	return failed;
}
