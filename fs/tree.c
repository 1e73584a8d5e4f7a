#include "fs/tree.h"
#include "fs/info.h"
#include "fs/log_ring.h"
#include "fs/names.h"
#include "fs/view.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A lookup waits that long for an index; one of a capture up to SMALL bytes is expected to be made meanwhile. */
enum { PATIENCE_MS = 2000 };
#define SMALL (INT64_C(1) << 20)

#define BLOCK_SIZE (1 << 20)

#define CONTROL_SUBSTITUTE HF_NAME_CONTROL "~hartfs"

int hf_path_join(char buf[HF_PATH_SIZE], const char *dir, const char *name)
{
	int n = snprintf(buf, HF_PATH_SIZE, "%s%s%s", dir, *dir ? "/" : "", name);

	return n < HF_PATH_SIZE ? 0 : HF_ERR_NOT_FOUND;
}

const char *hf_path_split(char buf[HF_PATH_SIZE], const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(buf, HF_PATH_SIZE, "%.*s", slash ? (int)(slash - path) : 0, path);
	return slash ? slash + 1 : path;
}

bool hf_tree_exists(void *ctx, const char *dir, const char *name)
{
	struct hf_fs *fs = ctx;
	char path[HF_PATH_SIZE];
	struct stat st;

	return !hf_path_join(path, dir, name) && hf_archive_stat(&fs->archive, path, &st) != HF_ERR_NOT_FOUND;
}

const char *hf_tree_control_name(struct hf_fs *fs, hf_exists_fn exists, void *ctx)
{
	if (!exists(ctx, "", HF_NAME_CONTROL))
		return HF_NAME_CONTROL;
	hf_control_substitute(&fs->control, HF_NAME_CONTROL, CONTROL_SUBSTITUTE);
	return CONTROL_SUBSTITUTE;
}

/* Looks through the names that have a claim to a view name. */
struct claim {
	struct hf_fs *fs;
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

	if (claim->until && strcmp(name, claim->until) == 0)
		return false;
	if (claim->exists && !claim->exists(claim->ctx, claim->dir, name))
		return true;
	if (hf_path_join(path, claim->dir, name) || hf_archive_stat(&claim->fs->archive, path, &st))
		return true;
	claim->err = hf_capture_find(claim->fs, path, &st, &capture);
	if (claim->err)
		return false;
	if (!capture || hf_name_view(name, capture->codec, hf_capture_is_described(capture), wants) > NAME_MAX ||
	    strcmp(wants, claim->view) != 0)
		return true;
	claim->capture = capture;
	return false;
}

int hf_tree_view_name(struct hf_fs *fs, const char *dir, const char *name, struct hf_capture *capture,
		      hf_exists_fn exists, void *ctx, char buf[NAME_MAX + 1])
{
	const struct hf_codec *codec = capture->codec;
	const bool described = hf_capture_is_described(capture);
	struct claim claim = {.fs = fs, .dir = dir, .view = buf, .until = name, .exists = exists, .ctx = ctx};
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
			hf_control_substitute(&fs->control, path, buf);
		return 0;
	}
	return HF_ERR_NOT_FOUND;
}

/* A substitute does not show whose it is: asks all files of the directory whose it could be. */
static int find_substituted(struct hf_fs *fs, const char *dir, const char *view, struct hf_capture **ret_capture)
{
	int fd, err = hf_archive_open_dir(&fs->archive, dir, &fd);
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

		if (!hf_name_substitute_of(view, entry->d_name) || hf_path_join(path, dir, entry->d_name) ||
		    hf_archive_stat(&fs->archive, path, &st))
			continue;
		err = hf_capture_find(fs, path, &st, &capture);
		if (!err && capture &&
		    !hf_tree_view_name(fs, dir, entry->d_name, capture, hf_tree_exists, fs, name) &&
		    strcmp(name, view) == 0)
			*ret_capture = capture;
	}
	closedir(stream);
	return err;
}

/* The capture whose view directory is dir/view, a name that the archive does not have; NULL if there is none. */
static int find_viewed(struct hf_fs *fs, const char *dir, const char *view, struct hf_capture **ret_capture)
{
	struct claim claim = {.fs = fs, .dir = dir, .view = view};

	*ret_capture = NULL;
	hf_name_origins(view, claims, &claim);
	*ret_capture = claim.capture;
	if (claim.err || claim.capture || !hf_name_is_substitute(view))
		return claim.err;
	return find_substituted(fs, dir, view, ret_capture);
}

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

void hf_tree_children(struct hf_fs *fs, const struct hf_node *node, const struct hf_facts *facts, hf_child_fn fn,
		      void *ctx)
{
	static const struct hf_node_key control[] = {
		{.kind = HF_NODE_STATUS}, {.kind = HF_NODE_PROGRESS}, {.kind = HF_NODE_METRICS},
		{.kind = HF_NODE_LOG}};
	static const char *const control_name[] = {"status.json", "progress.txt", "metrics.prom", "log.txt"};
	struct hf_node_key key = {.capture = node->key.capture, .hart = node->key.hart,
				  .content = facts ? facts->content : 0};
	const struct hf_facts_hart *hart;
	char name[64];

	switch (node->key.kind) {
	case HF_NODE_CONTROL:
		for (size_t i = 0; i < sizeof control / sizeof *control; i++)
			if ((control[i].kind != HF_NODE_LOG || fs->options.log_ring) &&
			    !fn(ctx, control_name[i], &control[i], HF_NOWHERE))
				return;
		break;
	case HF_NODE_VIEWS:
		key.kind = HF_NODE_INFO;
		if (!fn(ctx, "info.json", &key, facts ? facts->info_size : HF_NOWHERE))
			return;
		key.kind = facts ? HF_NODE_ERRORS : HF_NODE_INDEXING;
		if (!fn(ctx, facts ? "errors.txt" : "INDEXING", &key,
			facts ? facts->errors_size : HF_INFO_INDEXING_SIZE) || !facts)
			return;
		key.kind = HF_NODE_SOURCE;
		if (facts->source.size != HF_NOWHERE) {
			hf_info_source_name(facts->codec, name, sizeof name);
			if (!fn(ctx, name, &key, facts->source.size))
				return;
		}
		hart = hf_facts_hart(facts, HF_HART_RECORDS);
		key.kind = HF_NODE_VIEW;
		key.hart = HF_HART_RECORDS;
		key.view = HF_VIEW_RECORDS;
		if (hart && hart->view[key.view].size != HF_NOWHERE &&
		    !fn(ctx, hf_fs_view_ops(key.view)->view, &key, hart->view[key.view].size))
			return;
		key.kind = HF_NODE_HART;
		key.view = 0;
		key.content = 0;
		for (size_t i = 0; i < facts->hart_count; i++) {
			key.hart = facts->hart[i].info.id;
			snprintf(name, sizeof name, "hart%u", (unsigned)key.hart);
			if (!fn(ctx, name, &key, 0))
				return;
		}
		break;
	case HF_NODE_HART:
		if (facts)
			list_hart(node, facts, fn, ctx);
		break;
	case HF_NODE_DIR:
		if (facts)
			list_view(node, facts, fn, ctx);
		break;
	default:
		break;
	}
}

/* The size of a text that is not a fact: it is made, and counted. */
static uint64_t text_size(struct hf_fs *fs, struct hf_node *node)
{
	uint64_t shown = hf_node_shown(&fs->nodes, node);
	uint8_t buf[2 * HF_SINK_ROOM];
	struct hf_sink sink;

	if (shown != HF_NOWHERE)
		return shown;
	hf_sink_init_count(&sink, buf, sizeof buf);
	switch (node->key.kind) {
	case HF_NODE_STATUS:
		hf_control_status(fs, &sink);
		break;
	case HF_NODE_PROGRESS:
		hf_control_progress(fs, &sink);
		break;
	case HF_NODE_METRICS:
		hf_control_metrics(fs, &sink);
		break;
	case HF_NODE_LOG:
		hf_log_ring_write(fs->options.log_ring, &sink);
		break;
	default:
		hf_info_json(node->key.capture, NULL, NULL, &sink);
		break;
	}
	return hf_sink_total(&sink);
}

/* Attributes of what the archive does not have itself. st is the capture's, or the root directory's. */
static void make_attr(struct hf_fs *fs, struct hf_node *node, const struct stat *st, uint64_t size,
		      struct hf_attr *ret_attr)
{
	bool dir = hf_node_is_dir(&node->key);
	bool passing = size == HF_NOWHERE || node->key.kind == HF_NODE_INDEXING ||
		       node->key.kind == HF_NODE_SLICE_INDEXING;
	mode_t read = st->st_mode & 0444;
	struct stat *out = &ret_attr->st;

	if (size == HF_NOWHERE && !dir)
		size = text_size(fs, node);
	*ret_attr = (struct hf_attr){
		.entry_timeout = passing ? HF_TIMEOUT_SHORT : HF_TIMEOUT_LONG,
		.attr_timeout = node->key.kind > HF_NODE_CONTROL ? 0 : passing ? HF_TIMEOUT_SHORT : HF_TIMEOUT_LONG,
	};
	if (dir)
		ret_attr->entry_timeout = ret_attr->attr_timeout = HF_TIMEOUT_LONG;
	/* Its list changes when something has been measured, and is not to be kept. */
	if (hf_node_is_slice(&node->key))
		ret_attr->attr_timeout = 0;
	out->st_ino = node->ino;
	out->st_mode = dir ? S_IFDIR | read | read >> 2 : S_IFREG | read;
	out->st_nlink = dir ? 2 : 1;
	out->st_uid = st->st_uid;
	out->st_gid = st->st_gid;
	out->st_size = dir ? 0 : (off_t)size;
	out->st_blksize = BLOCK_SIZE;
	out->st_blocks = (out->st_size + 511) / 512;
	out->st_atim = st->st_atim;
	out->st_mtim = st->st_mtim;
	out->st_ctim = st->st_ctim;
	if (node->key.kind >= HF_NODE_CONTROL)
		out->st_atim = out->st_mtim = out->st_ctim = fs->started;
}

static void fill_attr(struct hf_fs *fs, struct hf_node *node, const struct stat *st, uint64_t size,
		      struct hf_attr *ret_attr)
{
	if (node->key.kind != HF_NODE_PLAIN) {
		make_attr(fs, node, st, size, ret_attr);
		return;
	}
	*ret_attr = (struct hf_attr){
		.st = *st, .entry_timeout = HF_TIMEOUT_LONG, .attr_timeout = HF_TIMEOUT_LONG};
	ret_attr->st.st_ino = node->ino;
	/* Nobody can write here, whatever the archive would allow. */
	if (!S_ISLNK(st->st_mode))
		ret_attr->st.st_mode &= ~(mode_t)0222;
}

int hf_tree_enter(struct hf_fs *fs, const struct hf_node_key *key, const struct stat *st, uint64_t size,
		  struct hf_attr *ret_attr)
{
	struct hf_node *node;
	int err = hf_node_get(&fs->nodes, key, &node);

	if (!err)
		fill_attr(fs, node, st, size, ret_attr);
	return err;
}

unsigned hf_tree_patience(struct hf_capture *capture, bool only_small)
{
	unsigned wait_ms = PATIENCE_MS;
	double left;

	pthread_mutex_lock(&capture->lock);
	left = hf_capture_seconds_left(capture);
	if ((only_small && capture->stamp.size > SMALL) ||
	    (capture->state == HF_CAPTURE_INDEXING && left * 1000 > PATIENCE_MS &&
	     hf_fs_now_ns() - capture->started_ns > PATIENCE_MS * INT64_C(1000000)))
		wait_ms = 0;
	pthread_mutex_unlock(&capture->lock);
	return wait_ms;
}

int hf_tree_check(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts, struct stat *ret_st)
{
	struct hf_facts *facts;
	int err = hf_capture_check(node->key.capture, ret_st);

	*ret_facts = NULL;
	if (!err)
		err = hf_capture_facts(node->key.capture, wait_ms, &facts);
	if (err && err != HF_ERR_BUSY)
		return err;
	if (!hf_node_is_dir(&node->key) && node->key.content != (err ? 0 : facts->content)) {
		if (!err)
			hf_facts_unref(facts);
		return HF_ERR_CHANGED;
	}
	if (!err)
		*ret_facts = facts;
	return 0;
}

struct seek {
	const char *name;
	struct hf_node_key key;
	uint64_t size;
	bool found;
};

static bool seek_child(void *ctx, const char *name, const struct hf_node_key *key, uint64_t size)
{
	struct seek *seek = ctx;

	if (strcmp(name, seek->name) != 0)
		return true;
	seek->key = *key;
	seek->size = size;
	seek->found = true;
	return false;
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
	if (!err && going && busy)
		fn(ctx, "INDEXING", &key, HF_INFO_INDEXING_SIZE);
	hf_slice_put(slice);
	return err;
}

/* A slice, if the name is one's. st is the capture's. */
static int lookup_slice(struct hf_fs *fs, const struct hf_node *at, const struct hf_facts *facts, const char *name,
			const struct stat *st, struct hf_attr *ret_attr)
{
	const struct hf_facts_hart *hart = facts ? hf_facts_hart(facts, at->key.hart) : NULL;
	struct hf_node_key key = {.kind = HF_NODE_SLICE, .capture = at->key.capture, .hart = at->key.hart};
	char path[HF_PATH_SIZE];

	key.path = path;
	if (!hart || !hf_slice_parse(name, hart->info.insns, &key.first, &key.last) ||
	    hf_path_join(path, at->key.path, name))
		return HF_ERR_NOT_FOUND;
	return hf_tree_enter(fs, &key, st, 0, ret_attr);
}

/* In a directory of ours. */
static int lookup_made(struct hf_fs *fs, struct hf_node *parent, const char *name, struct hf_attr *ret_attr)
{
	struct seek seek = {.name = name};
	struct hf_facts *facts = NULL;
	char path[HF_PATH_SIZE];
	struct stat st;
	int err;

	if (hf_node_is_view(&parent->key))
		err = hf_tree_check(parent, hf_tree_patience(parent->key.capture, strcmp(name, "INDEXING") == 0),
				    &facts, &st);
	else
		err = hf_archive_stat(&fs->archive, "", &st);
	if (err)
		return err;
	if (hf_node_is_view(&parent->key) && !facts)
		ret_attr->entry_timeout = 0;
	if (parent->key.kind == HF_NODE_AT) {
		/* Slices are cut by the index itself, which must then be there. */
		err = hf_capture_confirm(parent->key.capture, hf_tree_patience(parent->key.capture, false), &facts);
		if (!err)
			err = lookup_slice(fs, parent, facts, name, &st, ret_attr);
		hf_facts_unref(facts);
		return err;
	}
	if (hf_node_is_slice(&parent->key)) {
		/* What is not measured yet will be soon. */
		ret_attr->entry_timeout = 0;
		err = hf_tree_slice_children(parent, facts, name, seek_child, &seek);
	} else {
		hf_tree_children(fs, parent, facts, seek_child, &seek);
	}
	if (!err)
		err = seek.found ? hf_path_join(path, parent->key.path, name) : HF_ERR_NOT_FOUND;
	seek.key.path = path;
	if (!err)
		err = hf_tree_enter(fs, &seek.key, &st, seek.size, ret_attr);
	hf_facts_unref(facts);
	return err;
}

/* In a directory of the archive. */
static int lookup_plain(struct hf_fs *fs, const char *dir, const char *name, struct hf_attr *ret_attr)
{
	struct hf_node_key key = {.kind = HF_NODE_PLAIN};
	struct hf_capture *capture;
	char path[HF_PATH_SIZE];
	struct stat st;
	int err = hf_path_join(path, dir, name);

	key.path = path;
	if (err)
		return err;
	err = hf_archive_stat(&fs->archive, path, &st);
	if (!err) {
		key.type = st.st_mode & S_IFMT;
		key.content = S_ISREG(st.st_mode) ? st.st_ino : 0;
		return hf_tree_enter(fs, &key, &st, 0, ret_attr);
	}
	if (err != HF_ERR_NOT_FOUND)
		return err;
	if (!*dir && strcmp(name, hf_tree_control_name(fs, hf_tree_exists, fs)) == 0) {
		key.kind = HF_NODE_CONTROL;
		err = hf_archive_stat(&fs->archive, "", &st);
		return err ? err : hf_tree_enter(fs, &key, &st, 0, ret_attr);
	}
	err = find_viewed(fs, dir, name, &capture);
	if (err || !capture)
		return err ? err : HF_ERR_NOT_FOUND;
	err = hf_capture_stat(capture, &st);
	if (err)
		return err;
	key.kind = HF_NODE_VIEWS;
	key.capture = capture;
	return hf_tree_enter(fs, &key, &st, 0, ret_attr);
}

int hf_fs_lookup(struct hf_fs *fs, uint64_t parent, const char *name, struct hf_attr *ret_attr)
{
	struct hf_node *node = hf_node_ref(&fs->nodes, parent);
	int err;

	*ret_attr = (struct hf_attr){.entry_timeout = HF_TIMEOUT_LONG};
	if (!node)
		return HF_ERR_NOT_FOUND;
	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strlen(name) > NAME_MAX)
		err = HF_ERR_NOT_FOUND;
	else if (node->key.kind == HF_NODE_PLAIN)
		err = S_ISDIR(node->key.type) ? lookup_plain(fs, node->key.path, name, ret_attr) : HF_ERR_NOT_FOUND;
	else
		err = lookup_made(fs, node, name, ret_attr);
	hf_node_unref(&fs->nodes, node, 1);
	return err;
}

void hf_fs_forget(struct hf_fs *fs, uint64_t ino, uint64_t count)
{
	hf_node_forget(&fs->nodes, ino, count);
}

static int getattr_plain(struct hf_fs *fs, struct hf_node *node, struct hf_attr *ret_attr)
{
	struct stat st;
	int err = hf_archive_stat(&fs->archive, node->key.path, &st);

	if (err)
		return err;
	if ((st.st_mode & S_IFMT) != node->key.type)
		return HF_ERR_NOT_FOUND;
	if (S_ISREG(st.st_mode) && st.st_ino != node->key.content)
		return HF_ERR_CHANGED;
	fill_attr(fs, node, &st, 0, ret_attr);
	return 0;
}

/* Of what is in a slice: it was measured once, but that may be forgotten. */
static int slice_size_of(const struct hf_node *node, const struct hf_facts *facts, uint64_t *ret_size)
{
	const struct hf_node_key *key = &node->key;
	struct hf_slice *slice;
	struct hf_view view;
	int err = facts ? hf_slice_get(key->capture, facts, key->hart, key->first, key->last, &slice)
			: HF_ERR_NOT_FOUND;

	*ret_size = HF_INFO_INDEXING_SIZE;
	if (err)
		return err;
	if (key->kind == HF_NODE_SLICE_VIEW) {
		err = hf_slice_view(slice, facts, key->view, &view);
		if (!err)
			*ret_size = view.size;
	}
	hf_slice_put(slice);
	return err == HF_ERR_BUSY ? HF_ERR_CHANGED : err;
}

/* The size of a node, which is found among the children of its directory; HF_ERR_NOT_FOUND if it is not there. */
static int size_of(const struct hf_node *node, const struct hf_facts *facts, uint64_t *ret_size)
{
	const struct hf_facts_hart *hart = facts ? hf_facts_hart(facts, node->key.hart) : NULL;
	bool there = true;

	*ret_size = 0;
	switch (node->key.kind) {
	case HF_NODE_INFO:
		*ret_size = facts ? facts->info_size : HF_NOWHERE;
		break;
	case HF_NODE_INDEXING:
		*ret_size = HF_INFO_INDEXING_SIZE;
		there = !facts;
		break;
	case HF_NODE_ERRORS:
		*ret_size = facts ? facts->errors_size : 0;
		there = facts;
		break;
	case HF_NODE_SOURCE:
		*ret_size = facts ? facts->source.size : 0;
		there = facts && facts->source.size != HF_NOWHERE;
		break;
	case HF_NODE_HART:
	case HF_NODE_AT:
		there = hart;
		break;
	case HF_NODE_SLICE:
		there = hart && node->key.last < hart->info.insns;
		break;
	case HF_NODE_SLICE_DIR:
		there = hart && node->key.last < hart->info.insns && hart->view[node->key.view].size != HF_NOWHERE;
		break;
	case HF_NODE_DIR:
		there = hart && hart->view[node->key.view].size != HF_NOWHERE;
		break;
	case HF_NODE_SLICE_INDEXING:
	case HF_NODE_SLICE_VIEW:
		return slice_size_of(node, facts, ret_size);
	case HF_NODE_VIEW:
		*ret_size = hart ? hart->view[node->key.view].size : 0;
		there = hart && *ret_size != HF_NOWHERE;
		break;
	default:
		break;
	}
	return there ? 0 : HF_ERR_NOT_FOUND;
}

int hf_fs_getattr(struct hf_fs *fs, uint64_t ino, struct hf_attr *ret_attr)
{
	struct hf_node *node = hf_node_ref(&fs->nodes, ino);
	struct hf_facts *facts = NULL;
	uint64_t size = HF_NOWHERE;
	struct stat st;
	int err;

	if (!node)
		return HF_ERR_NOT_FOUND;
	if (node->key.kind == HF_NODE_PLAIN) {
		err = getattr_plain(fs, node, ret_attr);
	} else {
		/* A look at the view directory from outside is no reason to index the capture. */
		if (node->key.kind == HF_NODE_VIEWS) {
			err = hf_capture_check(node->key.capture, &st);
		} else if (hf_node_is_view(&node->key)) {
			err = hf_tree_check(node, 0, &facts, &st);
			if (!err)
				err = size_of(node, facts, &size);
		} else {
			err = hf_archive_stat(&fs->archive, "", &st);
		}
		if (!err)
			fill_attr(fs, node, &st, size, ret_attr);
		hf_facts_unref(facts);
	}
	hf_node_unref(&fs->nodes, node, 1);
	return err;
}

int hf_fs_readlink(struct hf_fs *fs, uint64_t ino, char *buf, size_t size)
{
	struct hf_node *node = hf_node_ref(&fs->nodes, ino);
	int err = HF_ERR_NOT_FOUND;

	if (!node)
		return err;
	if (node->key.kind == HF_NODE_PLAIN && S_ISLNK(node->key.type))
		err = hf_archive_readlink(&fs->archive, node->key.path, buf, size);
	hf_node_unref(&fs->nodes, node, 1);
	return err;
}
