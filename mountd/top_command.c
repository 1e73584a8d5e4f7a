/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs top: the functions of each hart that took most instructions, the first rows of profile/functions.txt. */
#include "fs/library.h"
#include "mountd/colour.h"
#include "mountd/commands.h"
#include "mountd/log.h"
#include "mountd/paths.h"
#include "mountd/target.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct harts {
	uint32_t *id; /* owned */
	size_t count;
	bool full; /* there was no memory for more */
};

static bool add_hart(void *ctx, const struct hartfs_file *file)
{
	struct harts *harts = ctx;
	uint32_t *more;

	if (file->hart == HARTFS_NO_HART || (harts->count && harts->id[harts->count - 1] == file->hart))
		return true;
	more = realloc(harts->id, (harts->count + 1) * sizeof *more);
	harts->full = !more;
	if (!more)
		return false;
	harts->id = more;
	more[harts->count++] = file->hart;
	return true;
}

/* The whole view, with a 0 behind it; NULL: *ret_diag says why not. */
static char *read_view(struct hartfs_archive *archive, const char *path, struct hartfs_diag *ret_diag)
{
	struct hartfs_view *view;
	char *text = NULL;
	size_t size, n = 0;

	if (hartfs_view_open(archive, path, &view, ret_diag))
		return NULL;
	size = (size_t)hartfs_view_size(view);
	text = malloc(size + 1);
	if (!text) {
		hf_library_fail(NULL, NULL, HF_ERR_NOMEM, NULL, ret_diag);
	} else if (hartfs_view_read(view, 0, text, size, &n, ret_diag)) {
		free(text);
		text = NULL;
	} else {
		text[n] = 0;
	}
	hartfs_view_close(view);
	return text;
}

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

static int put_hart(struct hartfs_archive *archive, const struct hf_settings *settings, const char *view_dir, uint32_t hart)
{
	char path[PATH_MAX + 64], *text;
	struct hartfs_diag diag;

	snprintf(path, sizeof path, "%s/hart%u/profile/functions.txt", view_dir, (unsigned)hart);
	text = read_view(archive, path, &diag);
	if (!text) {
		if (diag.error == HARTFS_ERROR_NOT_FOUND)
			hf_say(stderr, "hartfs top: %s: hart %u is long and has no summary: hartfs index --summary=on makes one",
			       settings->operands[0], (unsigned)hart);
		else
			hf_paths_complain("top", settings->operands[0], &diag);
		return HF_EXIT_FAILURE;
	}
	put_rows(text, settings->rows);
	free(text);
	return HF_EXIT_OK;
}

static int put_capture(struct hartfs_archive *archive, const struct hf_settings *settings, const char *path)
{
	char capture[PATH_MAX], view_dir[PATH_MAX];
	struct hartfs_diag diag;
	struct harts harts = {0};
	int status = HF_EXIT_OK, err = hf_fs_capture_of(hf_library_fs(archive), path, capture, view_dir);

	if (err) {
		hf_paths_explain("top", settings->operands[0], err, NULL);
		return HF_EXIT_FAILURE;
	}
	if (hartfs_each_file(archive, capture, add_hart, &harts, &diag)) {
		hf_paths_complain("top", settings->operands[0], &diag);
		status = HF_EXIT_FAILURE;
	}
	if (harts.full)
		status = HF_EXIT_FAILURE;
	for (size_t i = 0; i < harts.count; i++)
		if (put_hart(archive, settings, view_dir, harts.id[i]))
			status = HF_EXIT_FAILURE;
	free(harts.id);
	return status;
}

int hf_command_top(const struct hf_settings *settings)
{
	struct hf_target target;
	struct hf_opened opened;
	int status = HF_EXIT_FAILURE;

	if (settings->operand_count != 1)
		return hf_settings_usage(settings, "a capture is needed");
	if (!hf_target_find(settings, settings->operands[0], NULL, true, &target)) {
		hf_say(stderr, "hartfs top: %s: there is no such file", settings->operands[0]);
	} else if (!*target.path) {
		hf_say(stderr, "hartfs top: %s: this is a directory", settings->operands[0]);
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
