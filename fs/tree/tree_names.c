/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that stand beside the archive's own: which one the view directory of a capture has, and whose it is. Where
 * the archive, or an earlier capture of the directory, has the name already, there is a substitute.
 */
#include "fs/tree/tree_names.h"
#include "codecs/base/errors.h"
#include "fs/archive/names.h"
#include "fs/capture/all.h"
#include "fs/capture/recognise.h"
#include "fs/tree/control.h"
#include "fs/tree/shared.h"

#include <dirent.h>
#include <unistd.h>

#define CONTROL_SUBSTITUTE HF_NAME_CONTROL "~hartfs"

bool hf_tree_exists(void *ctx, const char *dir, const char *name)
{
	struct hf_tree *tree = ctx;
	char path[HF_PATH_SIZE];
	struct stat st;

	int err = hf_path_join(path, dir, name);

	if (!err)
		err = hf_archive_stat(tree->archive, path, &st);
	return err != HF_ERR_NOT_FOUND && err != HF_ERR_PATH_LENGTH;
}

const char *hf_tree_control_name(struct hf_tree *tree, hf_exists_fn exists, void *ctx)
{
	if (!exists(ctx, "", HF_NAME_CONTROL))
		return HF_NAME_CONTROL;
	hf_control_substitute(&tree->control, HF_NAME_CONTROL, CONTROL_SUBSTITUTE);
	return CONTROL_SUBSTITUTE;
}

/* Looks through the names that have a claim to a view name. */
struct claim {
	struct hf_tree *tree;
	const char *dir, *view;
	const char *until;          /* stop at this one */
	hf_exists_fn exists;
	void *ctx;
	struct hf_capture *capture; /* the first that is a capture and wants the view name */
	int err;
};

static bool claims(void *ctx, const char *name)
{
	struct claim *claim = ctx;
	struct hf_capture *capture;
	char path[HF_PATH_SIZE], wants[NAME_MAX + 1];
	struct stat st;
	int err;

	if (claim->until && strcmp(name, claim->until) == 0)
		return false;
	if (claim->exists && !claim->exists(claim->ctx, claim->dir, name))
		return true;
	if (hf_path_join(path, claim->dir, name))
		return true;
	err = hf_archive_stat(claim->tree->archive, path, &st);
	if (err && !hf_err_is_shortage(err))
		return true;
	claim->err = err ? err : hf_capture_find(claim->tree->captures, path, &st, &capture);
	if (claim->err)
		return false;
	if (!capture || hf_name_view(name, capture->codec, hf_capture_is_described(capture), wants) > NAME_MAX ||
	    strcmp(wants, claim->view) != 0)
		return true;
	claim->capture = capture;
	return false;
}

int hf_tree_view_name(struct hf_tree *tree, const char *dir, const char *name, struct hf_capture *capture,
		      hf_exists_fn exists, void *ctx, char buf[NAME_MAX + 1])
{
	const struct hf_codec *codec = capture->codec;
	const bool described = hf_capture_is_described(capture);
	struct claim claim = {.tree = tree, .dir = dir, .view = buf, .until = name, .exists = exists, .ctx = ctx};
	char path[HF_PATH_SIZE];

	if (hf_name_view(name, codec, described, buf) <= NAME_MAX && !exists(ctx, dir, buf)) {
		hf_name_origins(buf, claims, &claim);
		if (!claim.capture)
			return claim.err;
	}
	for (unsigned salt = 0; salt < HF_NAME_SALTS; salt++) {
		hf_name_substitute(name, codec, described, salt, buf);
		if (exists(ctx, dir, buf))
			continue;
		if (!hf_path_join(path, dir, name))
			hf_control_substitute(&tree->control, path, buf);
		return 0;
	}
	return HF_ERR_NOT_FOUND;
}

/* A substitute does not show whose it is: asks all files of the directory whose it could be. */
static int find_substituted(struct hf_tree *tree, const char *dir, const char *view, struct hf_capture **ret_capture)
{
	int fd, err = hf_archive_open_dir(tree->archive, dir, &fd);
	struct dirent *entry;
	DIR *stream;

	if (err)
		return err;
	stream = fdopendir(fd);
	if (!stream) {
		close(fd);
		return HF_ERR_NOMEM;
	}
	while (!*ret_capture && !err && (entry = readdir(stream))) {
		struct hf_capture *capture;
		char path[HF_PATH_SIZE], name[NAME_MAX + 1];
		struct stat st;

		if (!hf_name_substitute_of(view, entry->d_name) || hf_path_join(path, dir, entry->d_name))
			continue;
		err = hf_archive_stat(tree->archive, path, &st);
		if (err) {
			err = hf_err_is_shortage(err) ? err : 0;
			continue;
		}
		err = hf_capture_find(tree->captures, path, &st, &capture);
		if (!err && capture &&
		    !hf_tree_view_name(tree, dir, entry->d_name, capture, hf_tree_exists, tree, name) &&
		    strcmp(name, view) == 0)
			*ret_capture = capture;
	}
	closedir(stream);
	return err;
}

int hf_tree_find_viewed(struct hf_tree *tree, const char *dir, const char *view, struct hf_capture **ret_capture)
{
	struct claim claim = {.tree = tree, .dir = dir, .view = view};

	*ret_capture = NULL;
	hf_name_origins(view, claims, &claim);
	*ret_capture = claim.capture;
	if (claim.err || claim.capture || !hf_name_is_substitute(view))
		return claim.err;
	return find_substituted(tree, dir, view, ret_capture);
}
