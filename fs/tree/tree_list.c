/* SPDX-License-Identifier: Apache-2.0 */
/* What is in the directories that the archive does not have: those of views, harts and slices, and .hartfs. */
#include "fs/capture/info.h"
#include "fs/tree/tree.h"
#include "fs/bytes/view.h"

#include <stdio.h>
#include <string.h>

/* What a directory has besides the views that are measured or not: the program and the files beside an encoder's own,
 * in the directory of view number dir (HF_VIEW_ALL: of the slice itself). False if fn wants no more. */
static bool list_fixed(const struct hf_node *node, const struct hf_facts *facts, size_t dir, hf_child_fn fn, void *ctx)
{
	const struct hf_facts_hart *hart = hf_facts_hart(facts, node->key.hart);
	struct hf_node_key key = {.kind = HF_NODE_VIEW, .capture = node->key.capture, .hart = node->key.hart,
				  .content = facts->content, .view = HF_VIEW_PROGRAM};

	if (!hart || hart->view[HF_VIEW_PROGRAM].size == HF_NOWHERE)
		return true;
	if (!fn(ctx, hf_view_program.view, &key, hart->view[HF_VIEW_PROGRAM].size))
		return false;
	for (key.view = HF_VIEW_COUNT; key.view < HF_VIEW_ALL; key.view++) {
		const char *name;
		size_t of;

		if (!hf_fs_side(key.view, &of) || of != dir || hart->view[key.view].size == HF_NOWHERE)
			continue;
		hf_view_dir(key.view, &name);
		if (!fn(ctx, name, &key, hart->view[key.view].size))
			return false;
	}
	return true;
}

/* The views of a hart that lie in its directory, and the directories of the others. */
static void list_hart(const struct hf_node *node, const struct hf_facts *facts, hf_child_fn fn, void *ctx)
{
	const struct hf_facts_hart *hart = hf_facts_hart(facts, node->key.hart);
	struct hf_node_key key = {.kind = HF_NODE_AT, .capture = node->key.capture, .hart = node->key.hart};

	if (!hart || !fn(ctx, "at", &key, 0))
		return;
	for (key.view = 0; key.view < HF_VIEW_COUNT; key.view++) {
		const size_t dir = hf_view_dir(key.view, NULL);
		char name[64];

		if (hart->view[key.view].size == HF_NOWHERE)
			continue;
		key.kind = dir ? HF_NODE_DIR : HF_NODE_VIEW;
		key.content = dir ? 0 : facts->content;
		snprintf(name, sizeof name, "%.*s", dir ? (int)dir : 63, hf_fs_view_ops(key.view)->view);
		if (!fn(ctx, name, &key, dir ? 0 : hart->view[key.view].size))
			return;
	}
}

/* The directory of a view. */
static void list_view(const struct hf_node *node, const struct hf_facts *facts, hf_child_fn fn, void *ctx)
{
	const struct hf_facts_hart *hart = hf_facts_hart(facts, node->key.hart);
	struct hf_node_key key = node->key;
	const char *name;

	if (!hart || hart->view[key.view].size == HF_NOWHERE)
		return;
	hf_view_dir(key.view, &name);
	key.kind = HF_NODE_VIEW;
	key.content = facts->content;
	if (fn(ctx, name, &key, hart->view[key.view].size))
		list_fixed(node, facts, key.view, fn, ctx);
}

static void list_control(struct hf_fs *fs, hf_child_fn fn, void *ctx)
{
	static const struct {
		enum hf_node_kind kind;
		const char *name;
	} files[] = {{HF_NODE_STATUS, "status.json"},
		     {HF_NODE_PROGRESS, "progress.txt"},
		     {HF_NODE_METRICS, "metrics.prom"},
		     {HF_NODE_LOG, "log.txt"}};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const struct hf_node_key key = {.kind = files[i].kind};

		if ((key.kind != HF_NODE_LOG || fs->options.log_ring) && !fn(ctx, files[i].name, &key, HF_NOWHERE))
			return;
	}
}

/* The files of the view directory of an indexed capture. False if fn wants no more. */
static bool list_files(struct hf_node_key key, const struct hf_facts *facts, hf_child_fn fn, void *ctx)
{
	const struct hf_facts_hart *records = hf_facts_hart(facts, HF_HART_RECORDS);
	char name[64];

	key.kind = HF_NODE_ERRORS;
	key.content = hf_facts_text(facts);
	if (!fn(ctx, "errors.txt", &key, facts->errors_size))
		return false;
	key.kind = HF_NODE_SOURCE;
	key.content = facts->content;
	if (facts->source.size != HF_NOWHERE) {
		hf_info_source_name(facts->codec, name, sizeof name);
		if (!fn(ctx, name, &key, facts->source.size))
			return false;
	}
	key.kind = HF_NODE_VIEW;
	key.hart = HF_HART_RECORDS;
	key.view = HF_VIEW_RECORDS;
	return !records || records->view[key.view].size == HF_NOWHERE ||
	       fn(ctx, hf_fs_view_ops(key.view)->view, &key, records->view[key.view].size);
}

static void list_capture(const struct hf_node *node, const struct hf_facts *facts, hf_child_fn fn, void *ctx)
{
	struct hf_node_key key = {.kind = HF_NODE_INFO, .capture = node->key.capture, .hart = node->key.hart,
				  .content = facts ? hf_facts_text(facts) : 0};
	char name[64];

	if (!fn(ctx, "info.json", &key, facts ? facts->info_size : HF_NOWHERE))
		return;
	if (!facts) {
		key.kind = HF_NODE_INDEXING;
		fn(ctx, "INDEXING", &key, HF_INFO_INDEXING_SIZE);
		return;
	}
	if (!list_files(key, facts, fn, ctx))
		return;
	key.kind = HF_NODE_HART;
	key.content = 0;
	for (size_t i = 0; i < facts->hart_count; i++) {
		key.hart = facts->hart[i].info.id;
		snprintf(name, sizeof name, "hart%u", (unsigned)key.hart);
		if (!fn(ctx, name, &key, 0))
			return;
	}
}

void hf_tree_children(struct hf_fs *fs, const struct hf_node *node, const struct hf_facts *facts, hf_child_fn fn,
		      void *ctx)
{
	if (node->key.kind == HF_NODE_CONTROL)
		list_control(fs, fn, ctx);
	else if (node->key.kind == HF_NODE_VIEWS)
		list_capture(node, facts, fn, ctx);
	else if (node->key.kind == HF_NODE_HART && facts)
		list_hart(node, facts, fn, ctx);
	else if (node->key.kind == HF_NODE_DIR && facts)
		list_view(node, facts, fn, ctx);
}

/* How a slice's view appears in the list of node: its name there, or NULL if it does not. */
static const char *slice_child(const struct hf_node *node, size_t view, char *buf, size_t size)
{
	const char *name;
	const size_t dir = hf_view_dir(view, &name);

	if (node->key.kind == HF_NODE_SLICE_DIR)
		return view == node->key.view ? name : NULL;
	snprintf(buf, size, "%.*s", dir ? (int)dir : (int)size - 1, hf_fs_view_ops(view)->view);
	return buf;
}

/* A directory of a slice is there if the hart's is; it need not be measured for that. */
static bool has_slice_dir(const struct hf_node *node, const struct hf_facts *facts, size_t view)
{
	const struct hf_facts_hart *hart = hf_facts_hart(facts, node->key.hart);

	return node->key.kind == HF_NODE_SLICE && hf_view_dir(view, NULL) && hart &&
	       hart->view[view].size != HF_NOWHERE;
}

/* The measured ones; *ret_busy: some are not yet; *ret_going is false once fn wants no more. */
static int list_slice(const struct hf_node *node, const struct hf_facts *facts, struct hf_slice *slice,
		      const char *name, hf_child_fn fn, void *ctx, bool *ret_going, bool *ret_busy)
{
	struct hf_node_key key = node->key;
	int err = 0;

	for (key.view = 0; key.view < HF_VIEW_COUNT && *ret_going && !err; key.view++) {
		char buf[64];
		const char *child = hf_fs_view_ops(key.view) ? slice_child(node, key.view, buf, sizeof buf) : NULL;
		struct hf_view view;

		if (!child || (name && strcmp(name, child) != 0 && strcmp(name, "INDEXING") != 0))
			continue;
		key.kind = HF_NODE_SLICE_VIEW;
		key.content = facts->content;
		if (has_slice_dir(node, facts, key.view)) {
			key.kind = HF_NODE_SLICE_DIR;
			key.content = 0;
			*ret_going = fn(ctx, child, &key, 0);
			continue;
		}
		if (hf_view_dir(key.view, NULL) && node->key.kind == HF_NODE_SLICE)
			continue;
		err = hf_slice_view(slice, facts, key.view, &view);
		if (!err)
			*ret_going = fn(ctx, child, &key, view.size);
		*ret_busy |= err == HF_ERR_BUSY;
		if (err == HF_ERR_BUSY || err == HF_ERR_NOT_FOUND)
			err = 0;
	}
	return err;
}

int hf_tree_slice_children(const struct hf_node *node, const struct hf_facts *facts, const char *name,
			   hf_child_fn fn, void *ctx)
{
	struct hf_node_key key = node->key;
	struct hf_slice *slice;
	bool going = true, busy = false;
	int err = facts ? hf_slice_get(key.capture, facts, key.hart, key.first, key.last, &slice) : HF_ERR_NOT_FOUND;

	if (err)
		return err;
	err = list_slice(node, facts, slice, name, fn, ctx, &going, &busy);
	if (!err && going)
		going = list_fixed(node, facts, key.kind == HF_NODE_SLICE ? HF_VIEW_ALL : key.view, fn, ctx);
	key.content = facts->content;
	key.kind = HF_NODE_SLICE_INDEXING;
	key.view = 0;
	if (!err && going && busy) {
		fn(ctx, "INDEXING", &key, HF_INFO_INDEXING_SIZE);
		if (name && strcmp(name, "INDEXING") != 0)
			err = HF_ERR_BUSY;
	}
	hf_slice_put(slice);
	return err;
}
