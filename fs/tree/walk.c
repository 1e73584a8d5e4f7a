/* SPDX-License-Identifier: Apache-2.0 */
/* Paths to what stands there, and the search of an archive for captures. */
#include "codecs/base/array.h"
#include "codecs/base/errors.h"
#include "fs/capture/all.h"
#include "fs/hartfs.h"
#include "fs/tree/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int hf_tree_resolve(struct hf_tree *tree, const char *path, uint64_t *ret_ino)
{
	uint64_t ino = HF_FS_ROOT;
	struct hf_attr attr;
	int err = hf_tree_getattr(tree, ino, &attr);

	/* The caller's reference; the root keeps its own whatever is given back. */
	while (!err && *path) {
		char name[NAME_MAX + 1];
		size_t len = strcspn(path, "/");

		if (len > NAME_MAX) {
			err = HF_ERR_PATH_LENGTH;
		} else if (len && !(len == 1 && *path == '.')) {
			memcpy(name, path, len);
			name[len] = '\0';
			err = hf_tree_lookup(tree, ino, name, &attr);
			hf_tree_forget(tree, ino, 1);
			ino = err ? 0 : attr.st.st_ino;
		}
		path += len;
		path += *path == '/';
	}
	*ret_ino = ino;
	return err;
}

/* The path of the view directory of a capture. */
static int view_dir_of(struct hf_tree *tree, const char *path, struct hf_capture *capture,
		       char ret_view_dir[HF_PATH_SIZE])
{
	char dir[HF_PATH_SIZE], name[NAME_MAX + 1];
	const char *base = hf_path_split(dir, path);
	int err = hf_tree_view_name(tree, dir, base, capture, hf_tree_exists, tree, name);

	return err ? err : hf_path_join(ret_view_dir, dir, name);
}

/* The capture whose view directory is the first part of path that the archive does not have. */
static int find_viewed(struct hf_tree *tree, const char *path, struct hf_capture **ret_capture,
		       char ret_view_dir[HF_PATH_SIZE])
{
	char dir[HF_PATH_SIZE] = "";
	int err = 0;

	for (; *path && !err; path += strspn(path, "/")) {
		const size_t length = strcspn(path, "/");
		char name[NAME_MAX + 1];
		struct stat st;

		if (length > NAME_MAX)
			return HF_ERR_PATH_LENGTH;
		memcpy(name, path, length);
		name[length] = '\0';
		path += length;
		err = hf_path_join(ret_view_dir, dir, name);
		if (!err)
			err = hf_archive_stat(tree->archive, ret_view_dir, &st);
		if (err == HF_ERR_NOT_FOUND) {
			err = hf_tree_find_viewed(tree, dir, name, ret_capture);
			return err || *ret_capture ? err : HF_ERR_NOT_FOUND;
		}
		memcpy(dir, ret_view_dir, sizeof dir);
	}
	return err ? err : HF_ERR_NOT_FOUND;
}

int hf_tree_capture_of(struct hf_tree *tree, const char *path, char ret_capture[PATH_MAX], char ret_view_dir[PATH_MAX])
{
	struct hf_capture *capture = NULL;
	int err = hf_capture_at(tree->captures, path, &capture);

	if (!err)
		err = view_dir_of(tree, path, capture, ret_view_dir);
	else if (err == HF_ERR_NOT_FOUND)
		err = find_viewed(tree, path, &capture, ret_view_dir);
	if (!err)
		snprintf(ret_capture, PATH_MAX, "%s", capture->path);
	return err;
}

struct walk {
	struct hf_tree *tree;
	hf_wanted_fn wanted; /* NULL: all are */
	hf_capture_fn fn;
	void *ctx;
	bool stop;
	int err;
};

/* The files and directories of a directory. */
struct found {
	struct found_name {
		char *name; /* owned */
		bool dir;
	} *item;
	size_t count, cap;
};

static int collect(void *ctx, const char *name, mode_t type)
{
	struct found *found = ctx;
	int err = 0;

	if (!S_ISDIR(type) && !S_ISREG(type))
		return 0;
	err = hf_array_reserve(&found->item, found->count + 1, &found->cap, sizeof *found->item);
	if (err)
		return err;
	found->item[found->count] = (struct found_name){strdup(name), S_ISDIR(type)};
	if (!found->item[found->count].name)
		return HF_ERR_NOMEM;
	found->count++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct found_name *)a)->name, ((const struct found_name *)b)->name);
}

/* dir/name, or dir itself (name NULL), is left out. What is no capture, or vanished meanwhile, is nothing to tell of.
 */
static void leave_out(struct walk *walk, const char *dir, const char *name, int err)
{
	const struct hf_diag diag = {.code = err, .offset = HF_NOWHERE};
	char text[HF_DIAG_SIZE];

	if (hf_err_is_shortage(err))
		walk->err = err;
	if (hf_err_is_shortage(err) || err == HF_ERR_NOT_FOUND || err == HF_ERR_UNKNOWN_FORMAT ||
	    hf_stopping(walk->tree->common) || !hf_control_unreached(&walk->tree->control, dir, name, err))
		return;
	hf_diag_format(&diag, text, sizeof text);
	hf_common_log(walk->tree->common, 4, "%s%s%s: not searched for captures: %s", dir, *dir && name ? "/" : "",
		  name ? name : "", text);
}

/* A file or directory of the archive, if it is a capture and wanted. */
static void walk_capture(struct walk *walk, const char *path)
{
	struct hf_capture *capture;
	char views[HF_PATH_SIZE];
	int err;

	if (walk->wanted && !walk->wanted(walk->ctx, path))
		return;
	err = hf_capture_at(walk->tree->captures, path, &capture);
	if (!err)
		err = view_dir_of(walk->tree, path, capture, views);
	if (err)
		leave_out(walk, path, NULL, err);
	else if (!walk->fn(walk->ctx, path, views))
		walk->stop = true;
}

/* Of the archive's own names, sorted: view directories are not gone into, and nothing is recognised for its name. */
static int list_dir(const struct hf_archive *archive, const char *path, struct found *found)
{
	int fd, err = hf_archive_open_dir(archive, path, &fd);

	if (err)
		return err;
	err = hf_archive_list(archive, fd, collect, found);
	close(fd);
	if (found->count)
		qsort(found->item, found->count, sizeof *found->item, by_name);
	return err;
}

/* As deep as paths are long: the paths are not on the stack. */
static void walk_dir(struct walk *walk, const char *path)
{
	struct found found = {0};
	char *below = malloc(HF_PATH_SIZE);
	int err = below ? list_dir(walk->tree->archive, path, &found) : HF_ERR_NOMEM;

	if (err)
		leave_out(walk, path, NULL, err);
	for (size_t i = 0; !err && i < found.count && !walk->stop && !walk->err && !hf_stopping(walk->tree->common);
	     i++) {
		const int join_err = hf_path_join(below, path, found.item[i].name);

		if (join_err)
			leave_out(walk, path, found.item[i].name, join_err);
		else
			walk_capture(walk, below);
		if (!join_err && found.item[i].dir && !walk->stop)
			walk_dir(walk, below);
	}
	for (size_t i = 0; i < found.count; i++)
		free(found.item[i].name);
	free(found.item);
	free(below);
}

int hf_tree_each_capture(struct hf_tree *tree, const char *under, hf_wanted_fn wanted, hf_capture_fn fn, void *ctx)
{
	struct walk walk = {.tree = tree, .wanted = wanted, .fn = fn, .ctx = ctx};
	struct stat st;
	int err = hf_archive_stat(tree->archive, under, &st);

	if (err)
		return err;
	if (!*under)
		hf_control_search_begins(&tree->control);
	if (*under)
		walk_capture(&walk, under);
	if (S_ISDIR(st.st_mode) && !walk.stop)
		walk_dir(&walk, under);
	return walk.err;
}

/* ---- the files of a view directory ---- */

struct file_walk {
	struct hf_tree *tree;
	const struct hf_facts *facts;
	hf_file_fn fn;
	void *ctx;
	bool stop;
	int err;
};

/* A directory on its way: with its path. */
struct files_in {
	struct file_walk *walk;
	const char *path;
};

static bool walk_file(void *ctx, const char *name, const struct hf_node_key *key, uint64_t size)
{
	const struct files_in *in = ctx;
	struct file_walk *walk = in->walk;
	struct hf_look look = {.tree = walk->tree, .dir = key, .facts = walk->facts};
	char path[HF_PATH_SIZE];
	struct files_in below = {walk, path};
	struct hartfs_file file = {.path = path, .size = size, .hart = HARTFS_NO_HART};
	uint64_t first;

	if (hf_kind_is(key, HF_KIND_CUTS))
		return true;
	walk->err = hf_path_join(path, in->path, name);
	if (hf_kind_is(key, HF_KIND_OF_HART))
		file.hart = key->hart;
	file.instructions = hf_kind_insns(key, walk->facts, &first);
	if (!walk->err && hf_kind_is(key, HF_KIND_DIR))
		walk->err = hf_kind_list(&look, walk_file, &below);
	else if (!walk->err)
		walk->stop = !walk->fn(walk->ctx, &file);
	return !walk->err && !walk->stop;
}

int hf_tree_each_file(struct hf_tree *tree, const char *view_dir, hf_file_fn fn, void *ctx)
{
	struct file_walk walk = {.tree = tree, .fn = fn, .ctx = ctx};
	struct files_in in = {&walk, view_dir};
	struct hf_facts *facts = NULL;
	struct hf_node *node;
	struct stat st;
	uint64_t ino;
	int err = hf_tree_resolve(tree, view_dir, &ino);

	if (err)
		return err;
	node = hf_node_ref(&tree->nodes, ino);
	hf_tree_forget(tree, ino, 1);
	if (!node)
		return HF_ERR_NOT_FOUND;
	err = hf_tree_look(node, hf_tree_patience(node->key.capture, false), &facts, &st);
	walk.facts = facts;
	if (!err)
		err = facts ? hf_kind_list(&(struct hf_look){.tree = tree, .dir = &node->key, .facts = facts},
					   walk_file, &in)
			    : HF_ERR_BUSY;
	hf_facts_unref(facts);
	hf_node_unref(&tree->nodes, node, 1);
	return err ? err : walk.err;
}
