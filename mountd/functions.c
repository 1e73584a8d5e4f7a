/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/functions.h"
#include "codecs/base/array.h"
#include "fs/library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct harts {
	uint32_t *id; /* owned */
	size_t count;
	bool full; /* there was no memory for more */
};

static bool add_hart(void *ctx, const struct hartfs_file *file)
{
	struct harts *harts = ctx;

	if (file->hart == HARTFS_NO_HART || (harts->count && harts->id[harts->count - 1] == file->hart))
		return true;
	harts->full = hf_array_room(&harts->id, harts->count, sizeof *harts->id) != 0;
	if (harts->full)
		return false;
	harts->id[harts->count++] = file->hart;
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

int hf_functions_each(struct hartfs_archive *archive, const char *capture, const char *view_dir,
		      const char *name, hf_functions_fn fn, void *ctx, struct hartfs_diag *diag)
{
	struct harts harts = {0};
	int error = hartfs_each_file(archive, capture, add_hart, &harts, diag);
	bool go_on = true;

	if (!error && harts.full)
		error = hf_library_fail(NULL, NULL, HF_ERR_NOMEM, NULL, diag);
	for (size_t i = 0; i < harts.count && go_on; i++) {
		char path[PATH_MAX + 64], *text;
		struct hartfs_diag own;

		snprintf(path, sizeof path, "%s/hart%u/profile/%s", view_dir, (unsigned)harts.id[i], name);
		text = read_view(archive, path, &own);
		go_on = fn(ctx, harts.id[i], text, &own);
		free(text);
	}
	free(harts.id);
	return error;
}
