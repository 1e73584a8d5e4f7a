/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs top: the functions of each hart that took most instructions, the first rows of profile/functions.txt. */
#include "fs/library.h"
#include "mountd/colour.h"
#include "mountd/commands.h"
#include "mountd/functions.h"
#include "mountd/log.h"
#include "mountd/paths.h"
#include "mountd/target.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Lines of comment, and so many rows. */
static void put_rows(const char *text, uint64_t rows)
{
	while (*text && rows) {
		const char *end = strchr(text, '\n');
		const size_t n = end ? (size_t)(end - text) + 1 : strlen(text);

		if (*text == '#')
			printf("%s%.*s%s", hf_colour(stdout, HF_COLOUR_HEAD), (int)n, text, hf_colour(stdout, HF_COLOUR_NONE));
		else
			fwrite(text, 1, n, stdout);
		rows -= *text != '#';
		text += n;
	}
}

struct top {
	const struct hf_settings *settings;
	int status;
};

static bool put_hart(void *ctx, uint32_t hart, const char *text, const struct hartfs_diag *diag)
{
	struct top *top = ctx;
	const char *shown = top->settings->operands[0];

	if (text) {
		put_rows(text, top->settings->rows);
		return true;
	}
	top->status = HF_EXIT_FAILURE;
	if (diag->error == HARTFS_ERROR_NOT_FOUND)
		hf_say(stderr, "hartfs top: %s: hart %u is long and has no summary: hartfs index makes one",
		       shown, (unsigned)hart);
	else
		hf_paths_complain("top", shown, diag);
	return true;
}

static int put_capture(struct hartfs_archive *archive, const struct hf_settings *settings, const char *path)
{
	char capture[PATH_MAX], view_dir[PATH_MAX];
	struct hartfs_diag diag;
	struct top top = {.settings = settings};
	int err = hf_fs_capture_of(hf_library_fs(archive), path, capture, view_dir);

	if (err) {
		hf_paths_explain("top", settings->operands[0], err, NULL);
		return HF_EXIT_FAILURE;
	}
	if (hf_functions_each(archive, capture, view_dir, put_hart, &top, &diag)) {
		hf_paths_complain("top", settings->operands[0], &diag);
		return HF_EXIT_FAILURE;
	}
	hf_paths_warn("top", settings->operands[0], hf_library_fs(archive), capture);
	return top.status;
}

int hf_command_top(const struct hf_settings *settings)
{
	struct hf_target target;
	struct hf_opened opened;
	int status = HF_EXIT_FAILURE;

	if (settings->operand_count != 1)
		return hf_settings_usage(settings, "a capture is needed");
	if (!hf_target_find(settings, settings->operands[0], NULL, true, &target)) {
		hf_say(stderr, "hartfs top: %s: %s", settings->operands[0], hf_why_none());
	} else if (!*target.path) {
		hf_say(stderr, "hartfs top: %s: this is a directory; hartfs ls lists its captures", settings->operands[0]);
	} else if (hf_opened_open(settings, target.archive, &opened)) {
		struct hartfs_archive *archive = NULL;

		if (hf_opened_confine(settings, &opened, 1))
			archive = hf_opened_start(settings, &opened, false, NULL);
		if (archive)
			status = put_capture(archive, settings, target.path);
		hartfs_close(archive);
		hf_opened_close(&opened);
	}
	hf_target_fini(&target);
	return status;
}
