/* SPDX-License-Identifier: Apache-2.0 */
/* print_function CAPTURE VIEW FUNCTION: each instruction of that function that the hart of the view ran, in order:
 * "ORDINAL PC OPCODE". cc print_function.c $(pkg-config --cflags --libs hartfs) */
#include <hartfs.h>
#include <inttypes.h>
#include <stdio.h>

static int print_function(struct hartfs_view *view, const char *name, struct hartfs_diag *diag)
{
	struct hartfs_event ev[256];
	uint64_t next = 0;
	size_t n;
	int error;

	while (!(error = hartfs_view_events(view, next, ev, 256, &n, diag)) && n) {
		for (size_t i = 0; i < n; i++)
			if (ev[i].symbol && strcmp(ev[i].symbol, name) == 0)
				printf("%" PRIu64 " %" PRIx64 " %08" PRIx32 "\n", ev[i].ordinal, ev[i].pc,
				       ev[i].opcode);
		next += n;
	}
	return error;
}

int main(int argc, char **argv)
{
	struct hartfs_options options = HARTFS_OPTIONS_INIT;
	struct hartfs_archive *archive;
	struct hartfs_view *view = NULL;
	struct hartfs_diag diag;
	bool failed;

	options.capture = argc == 4 ? argv[1] : "";
	failed = hartfs_open(&options, &archive, &diag) || hartfs_view_open(archive, argv[2], &view, &diag) ||
		 print_function(view, argv[3], &diag);
	if (failed)
		fprintf(stderr, "%s: %s\n", options.capture, diag.text);
	hartfs_view_close(view);
	hartfs_close(archive);
	return failed;
}
