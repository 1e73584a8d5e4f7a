/* SPDX-License-Identifier: Apache-2.0 */
/* Looking names up, and the attributes of what stands under them. */
#include "fs/tree/tree.h"
#include "fs/capture/info.h"
#include "fs/base/log_ring.h"
#include "fs/bytes/view.h"

#include <stdio.h>
#include <xxhash.h>

/* A lookup waits that long for an index; one of a capture up to SMALL bytes is expected to be made meanwhile. */
enum { PATIENCE_MS = 2000 };
#define SMALL (INT64_C(1) << 20)

#define BLOCK_SIZE (1 << 20)

int hf_path_join(char buf[HF_PATH_SIZE], const char *dir, const char *name)
{
	int n = snprintf(buf, HF_PATH_SIZE, "%s%s%s", dir, *dir ? "/" : "", name);

	return n < HF_PATH_SIZE ? 0 : HF_ERR_PATH_LENGTH;
}

const char *hf_path_split(char buf[HF_PATH_SIZE], const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(buf, HF_PATH_SIZE, "%.*s", slash ? (int)(slash - path) : 0, path);
	return slash ? slash + 1 : path;
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

/* Of .hartfs and what is in it: it names files of directories that are closed to most. */
static void control_rights(const struct hf_fs *fs, struct stat *out)
{
	const mode_t read = fs->options.status_all ? 0444 : 0400;

	out->st_mode = (out->st_mode & S_IFMT) | read | (S_ISDIR(out->st_mode) ? read >> 2 : 0);
	out->st_uid = fs->uid;
	out->st_gid = fs->gid;
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
	if (node->key.kind >= HF_NODE_CONTROL) {
		out->st_atim = out->st_mtim = out->st_ctim = fs->started;
		control_rights(fs, out);
	}
}

/* The permissions, below a hash of whose they are. */
static uint64_t rights_of(const struct stat *st)
{
	const uint64_t owners[] = {st->st_uid, st->st_gid};

	/* Nobody may write anyway. */
	return (XXH3_64bits(owners, sizeof owners) & ~(uint64_t)07777) | (st->st_mode & 0555);
}

void hf_tree_tell_rights(struct hf_node *node, const struct stat *st)
{
	atomic_store_explicit(&node->rights, rights_of(st), memory_order_relaxed);
}

bool hf_tree_told_rights(const struct hf_node *node, const struct stat *st)
{
	const uint64_t told = atomic_load_explicit(&node->rights, memory_order_relaxed), now = rights_of(st);

	return !told || (!((told ^ now) & ~(uint64_t)07777) && !(told & ~now));
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

	if (!err) {
		fill_attr(fs, node, st, size, ret_attr);
		hf_tree_tell_rights(node, st);
	}
	return err;
}

unsigned hf_tree_patience(struct hf_capture *capture, bool only_small)
{
	unsigned wait_ms = PATIENCE_MS;
	bool aside;
	double left;

	pthread_mutex_lock(&capture->lock);
	left = hf_capture_seconds_left(capture);
	if ((only_small && capture->stamp.size > SMALL) ||
	    (capture->state == HF_CAPTURE_INDEXING && left * 1000 > PATIENCE_MS &&
	     hf_fs_now_ns() - capture->started_ns > PATIENCE_MS * INT64_C(1000000)))
		wait_ms = 0;
	aside = capture->paused_ns && !only_small;
	pthread_mutex_unlock(&capture->lock);
	/* It goes on, though not soon enough to wait for it. */
	if (aside)
		hf_jobs_hurry(capture);
	return wait_ms;
}

uint64_t hf_tree_content(const struct hf_node_key *key, const struct hf_facts *facts)
{
	return key->kind == HF_NODE_INFO || key->kind == HF_NODE_ERRORS ? hf_facts_text(facts) : facts->content;
}

int hf_tree_look(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts, struct stat *ret_st)
{
	struct hf_facts *facts;
	int err = hf_capture_check(node->key.capture, ret_st);

	*ret_facts = NULL;
	if (!err)
		err = hf_capture_facts(node->key.capture, wait_ms, &facts);
	if (err && err != HF_ERR_BUSY)
		return err;
	if (!hf_node_is_dir(&node->key) && node->key.content != (err ? 0 : hf_tree_content(&node->key, facts))) {
		if (!err)
			hf_facts_unref(facts);
		return HF_ERR_CHANGED;
	}
	if (!err)
		*ret_facts = facts;
	return 0;
}

int hf_tree_check(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts, struct stat *ret_st)
{
	int err = hf_tree_look(node, wait_ms, ret_facts, ret_st);

	if (!err && !hf_tree_told_rights(node, ret_st)) {
		hf_facts_unref(*ret_facts);
		*ret_facts = NULL;
		err = HF_ERR_CHANGED;
	}
	return err;
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

/* Whether a name may be in a directory of views as soon as the capture is indexed, of which nothing is known yet. */
static bool may_come(const struct hf_node *dir, const char *name)
{
	static const char *const names[] = {"hart", "errors.txt", "records.txt", "source."};
	bool may = dir->key.kind != HF_NODE_VIEWS;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		may |= strncmp(name, names[i], strlen(names[i])) == 0;
	return may;
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
		err = hf_tree_look(parent, hf_tree_patience(parent->key.capture, strcmp(name, "INDEXING") == 0),
				   &facts, &st);
	else
		err = hf_archive_stat(&fs->archive, "", &st);
	if (err)
		return err;
	if (hf_node_is_view(&parent->key) && !facts) {
		ret_attr->entry_timeout = 0;
		if (may_come(parent, name))
			return HF_ERR_BUSY;
	}
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
	err = hf_tree_find_viewed(fs, dir, name, &capture);
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
	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		err = HF_ERR_NOT_FOUND;
	else if (strlen(name) > NAME_MAX)
		err = HF_ERR_PATH_LENGTH;
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

void hf_fs_unseen(struct hf_fs *fs, uint64_t ino)
{
	struct hf_node *node = hf_node_ref(&fs->nodes, ino);

	if (!node)
		return;
	hf_node_unkeep(&fs->nodes, node);
	hf_node_unref(&fs->nodes, node, 1);
}

static int look_plain(struct hf_fs *fs, struct hf_node *node, struct stat *ret_st)
{
	int err = hf_archive_stat(&fs->archive, node->key.path, ret_st);

	if (err)
		return err;
	if ((ret_st->st_mode & S_IFMT) != node->key.type)
		return HF_ERR_NOT_FOUND;
	return S_ISREG(ret_st->st_mode) && ret_st->st_ino != node->key.content ? HF_ERR_CHANGED : 0;
}

/* Of what is in a slice: it was measured once, but that may be forgotten. */
static int slice_size_of(const struct hf_node *node, const struct hf_facts *facts, uint64_t *ret_size)
{
	const struct hf_node_key *key = &node->key;
	struct hf_slice *slice;
	struct hf_view view;
	int err = facts ? hf_slice_get(key->capture, facts, key->hart, key->first, key->last, &slice)
			: HF_ERR_BUSY;

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

/* The size of a node, which is found among the children of its directory; HF_ERR_NOT_FOUND if it is not there, HF_ERR_BUSY
 * if that is not known. */
static int size_of(const struct hf_node *node, const struct hf_facts *facts, uint64_t *ret_size)
{
	const struct hf_facts_hart *hart = facts ? hf_facts_hart(facts, node->key.hart) : NULL;
	bool there = true;

	*ret_size = 0;
	if (!facts && hf_node_is_dir(&node->key) && node->key.kind != HF_NODE_VIEWS)
		return HF_ERR_BUSY;
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

/* The stat from which a node's attributes are made, and its size if that is one of a capture's facts. */
static int look(struct hf_fs *fs, struct hf_node *node, struct stat *ret_st, uint64_t *ret_size)
{
	struct hf_facts *facts = NULL;
	int err;

	*ret_size = node->key.kind == HF_NODE_PLAIN ? 0 : HF_NOWHERE;
	if (node->key.kind == HF_NODE_PLAIN)
		return look_plain(fs, node, ret_st);
	/* A look at the view directory from outside is no reason to index the capture. */
	if (node->key.kind == HF_NODE_VIEWS)
		return hf_capture_check(node->key.capture, ret_st);
	if (!hf_node_is_view(&node->key))
		return hf_archive_stat(&fs->archive, "", ret_st);
	err = hf_tree_look(node, 0, &facts, ret_st);
	if (!err)
		err = size_of(node, facts, ret_size);
	hf_facts_unref(facts);
	return err;
}

static int get_attr(struct hf_fs *fs, uint64_t ino, bool tell, struct hf_attr *ret_attr)
{
	struct hf_node *node = hf_node_ref(&fs->nodes, ino);
	uint64_t size;
	struct stat st;
	int err;

	ret_attr->st.st_ino = 0;
	if (!node)
		return HF_ERR_NOT_FOUND;
	err = look(fs, node, &st, &size);
	if (!err)
		fill_attr(fs, node, &st, size, ret_attr);
	if (!err && tell)
		hf_tree_tell_rights(node, &st);
	else if (!err && ino != HF_FS_ROOT && !hf_tree_told_rights(node, &st))
		err = HF_ERR_CHANGED; /* of the root, which is never looked up, that would help nobody */
	hf_node_unref(&fs->nodes, node, 1);
	return err;
}

int hf_fs_getattr(struct hf_fs *fs, uint64_t ino, struct hf_attr *ret_attr)
{
	return get_attr(fs, ino, true, ret_attr);
}

int hf_fs_check(struct hf_fs *fs, uint64_t ino, struct hf_attr *ret_attr)
{
	return get_attr(fs, ino, false, ret_attr);
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
