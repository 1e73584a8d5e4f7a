/* SPDX-License-Identifier: Apache-2.0 */
/* Looking names up, and the attributes of what stands under them. */
#include "fs/tree/tree.h"
#include "codecs/base/errors.h"
#include "fs/capture/index_wait.h"
#include "fs/capture/recognise.h"
#include "fs/facts/capture.h"
#include "fs/facts/queue.h"
#include "fs/facts/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

/* A lookup waits that long for an index; one of a capture up to SMALL bytes is expected to be made meanwhile. */
enum { PATIENCE_MS = 2000 };
#define SMALL (INT64_C(1) << 20)

#define BLOCK_SIZE (1 << 20)
/* Of a directory: the C library and the kernel make room for so much whenever one is read. */
#define DIR_BLOCK_SIZE 4096

int hf_tree_init(struct hf_tree *tree)
{
	const struct hf_node_key key = {.kind = HF_NODE_PLAIN, .type = S_IFDIR, .path = ""};
	struct hf_node *root;

	tree->uid = geteuid();
	tree->gid = getegid();
	hf_list_cache_init(&tree->list_cache);
	hf_control_init(&tree->control);
	hf_nodes_init(&tree->nodes);
	return hf_node_get(&tree->nodes, &key, &root);
}

void hf_tree_fini(struct hf_tree *tree)
{
	hf_nodes_fini(&tree->nodes);
	hf_control_fini(&tree->control);
	hf_list_cache_fini(&tree->list_cache);
}

void hf_tree_tell_change(void *ctx, struct hf_capture *capture)
{
	struct hf_tree *tree = ctx;
	const struct hf_fs_options *options = &tree->common->options;
	size_t count = hf_nodes_of(&tree->nodes, capture, NULL, 0);
	uint64_t *ino = count ? malloc(count * sizeof *ino) : NULL;
	size_t have;

	if (!ino)
		return;
	have = hf_nodes_of(&tree->nodes, capture, ino, count);
	for (size_t i = 0; i < have && i < count; i++)
		options->invalidate(options->invalidate_ctx, ino[i]);
	free(ino);
}

/* The size of a text that is not a fact: it is made, and counted. */
static uint64_t text_size(struct hf_tree *tree, struct hf_node *node)
{
	uint64_t shown = hf_node_shown(&tree->nodes, node);
	uint8_t buf[2 * HF_SINK_ROOM];
	struct hf_sink sink;

	if (shown != HF_NOWHERE)
		return shown;
	hf_sink_init_count(&sink, buf, sizeof buf);
	hf_kind_of(&node->key)->write(&(struct hf_subject){tree, &node->key, NULL}, &sink);
	return hf_sink_total(&sink);
}

/* Of .hartfs and what is in it: it names files of directories that are closed to most. */
static void status_rights(const struct hf_tree *tree, struct stat *out)
{
	const mode_t read = tree->common->options.status_all ? 0444 : 0400;

	out->st_mode = (out->st_mode & S_IFMT) | read | (S_ISDIR(out->st_mode) ? read >> 2 : 0);
	out->st_uid = tree->uid;
	out->st_gid = tree->gid;
}

/* How long the kernel may believe it. size: HF_NOWHERE of a text that changes by itself. */
static void set_timeouts(const struct hf_node_key *key, uint64_t size, struct hf_attr *ret_attr)
{
	const bool dir = hf_kind_is(key, HF_KIND_DIR);
	const bool passing = !dir && (size == HF_NOWHERE || hf_kind_is(key, HF_KIND_PASSING));

	ret_attr->entry_timeout = passing ? HF_TIMEOUT_SHORT : HF_TIMEOUT_LONG;
	ret_attr->attr_timeout = ret_attr->entry_timeout;
	/* A list that changes when something has been measured is not to be kept. */
	if (hf_kind_is(key, HF_KIND_CHANGING) || (!dir && hf_kind_is(key, HF_KIND_STATUS)))
		ret_attr->attr_timeout = 0;
}

/* Attributes of what the archive does not have itself. st is the capture's, or the root directory's. */
static void make_attr(struct hf_tree *tree, struct hf_node *node, const struct stat *st, uint64_t size,
		      struct hf_attr *ret_attr)
{
	const bool dir = hf_kind_is(&node->key, HF_KIND_DIR);
	const mode_t read = st->st_mode & 0444;
	struct stat *out = &ret_attr->st;

	*ret_attr = (struct hf_attr){.st = {.st_ino = node->ino}};
	set_timeouts(&node->key, size, ret_attr);
	if (size == HF_NOWHERE && !dir)
		size = text_size(tree, node);
	out->st_mode = dir ? S_IFDIR | read | read >> 2 : S_IFREG | read;
	out->st_nlink = dir ? 2 : 1;
	out->st_uid = st->st_uid;
	out->st_gid = st->st_gid;
	out->st_size = dir ? 0 : (off_t)size;
	out->st_blksize = dir ? DIR_BLOCK_SIZE : BLOCK_SIZE;
	out->st_blocks = (out->st_size + 511) / 512;
	out->st_atim = st->st_atim;
	out->st_mtim = st->st_mtim;
	out->st_ctim = st->st_ctim;
	if (hf_kind_is(&node->key, HF_KIND_STATUS)) {
		out->st_atim = out->st_mtim = out->st_ctim = tree->common->started;
		status_rights(tree, out);
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

static void fill_attr(struct hf_tree *tree, struct hf_node *node, const struct stat *st, uint64_t size,
		      struct hf_attr *ret_attr)
{
	if (!hf_kind_is(&node->key, HF_KIND_ARCHIVE)) {
		make_attr(tree, node, st, size, ret_attr);
		return;
	}
	*ret_attr = (struct hf_attr){
		.st = *st, .entry_timeout = HF_TIMEOUT_LONG, .attr_timeout = HF_TIMEOUT_LONG};
	ret_attr->st.st_ino = node->ino;
	/* Nobody can write here, whatever the archive would allow. */
	if (!S_ISLNK(st->st_mode))
		ret_attr->st.st_mode &= ~(mode_t)0222;
}

int hf_tree_enter(struct hf_tree *tree, const struct hf_node_key *key, const struct stat *st, uint64_t size,
		  struct hf_attr *ret_attr)
{
	struct hf_node *node;
	int err = hf_node_get(&tree->nodes, key, &node);

	if (!err) {
		fill_attr(tree, node, st, size, ret_attr);
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
	     hf_now_ns() - capture->started_ns > PATIENCE_MS * INT64_C(1000000)))
		wait_ms = 0;
	aside = capture->paused_ns && !only_small;
	pthread_mutex_unlock(&capture->lock);
	/* It goes on, though not soon enough to wait for it. */
	if (aside)
		hf_capture_hurry(capture);
	return wait_ms;
}

int hf_tree_look(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts, struct stat *ret_st)
{
	int err = hf_capture_check(node->key.capture, ret_st);

	*ret_facts = NULL;
	return err ? err : hf_tree_look_on(node, wait_ms, ret_facts);
}

int hf_tree_look_on(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts)
{
	struct hf_facts *facts;
	int err = hf_capture_facts(node->key.capture, wait_ms, &facts);

	*ret_facts = NULL;
	if (err && err != HF_ERR_BUSY)
		return err;
	if (node->key.content != hf_kind_content(&node->key, err ? NULL : facts)) {
		if (!err)
			hf_facts_unref(facts);
		return HF_ERR_CHANGED;
	}
	if (!err)
		*ret_facts = facts;
	return 0;
}

int hf_tree_look_to_read(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts, struct stat *ret_st)
{
	int err = hf_tree_look(node, wait_ms, ret_facts, ret_st);

	if (!err && !hf_tree_told_rights(node, ret_st)) {
		hf_facts_unref(*ret_facts);
		*ret_facts = NULL;
		err = HF_ERR_CHANGED;
	}
	return err;
}

/* What is known of the capture of a directory of ours in which name is looked up, and the stat that its rights are
 * from. */
static int look_into(struct hf_tree *tree, struct hf_node *dir, const char *name, struct hf_facts **ret_facts,
		     struct stat *ret_st)
{
	struct hf_capture *capture = dir->key.capture;
	int err;

	*ret_facts = NULL;
	if (!capture)
		return hf_archive_stat(tree->archive, "", ret_st);
	err = hf_tree_look(dir, hf_tree_patience(capture, strcmp(name, "INDEXING") == 0), ret_facts, ret_st);
	if (!err && !*ret_facts && hf_kind_may_come(&dir->key, name))
		err = HF_ERR_BUSY;
	if (!err && hf_kind_is(&dir->key, HF_KIND_CUTS))
		err = hf_capture_confirm(capture, hf_tree_patience(capture, false), ret_facts);
	return err;
}

/* In a directory of ours. */
static int lookup_made(struct hf_tree *tree, struct hf_node *parent, const char *name, struct hf_attr *ret_attr)
{
	struct hf_look look = {.tree = tree, .dir = &parent->key, .name = name};
	struct hf_node_key key;
	struct hf_facts *facts;
	char path[HF_PATH_SIZE];
	uint64_t size;
	struct stat st;
	int err = look_into(tree, parent, name, &facts, &st);

	/* What is not known, or not measured yet, will be soon. */
	if (parent->key.capture && (!facts || hf_kind_is(&parent->key, HF_KIND_CHANGING)))
		ret_attr->entry_timeout = 0;
	look.facts = facts;
	if (!err)
		err = hf_kind_find(&look, &key, &size);
	if (!err)
		err = hf_path_join(path, parent->key.path, name);
	key.path = path;
	key.parent = parent->ino;
	if (!err)
		err = hf_tree_enter(tree, &key, &st, size, ret_attr);
	hf_facts_unref(facts);
	return err;
}

/* In a directory of the archive. */
static int lookup_plain(struct hf_tree *tree, const struct hf_node *parent, const char *name, struct hf_attr *ret_attr)
{
	struct hf_node_key key = {.kind = HF_NODE_PLAIN, .parent = parent->ino};
	const char *dir = parent->key.path;
	struct hf_capture *capture;
	char path[HF_PATH_SIZE];
	struct stat st;
	int err = hf_path_join(path, dir, name);

	key.path = path;
	if (err)
		return err;
	err = hf_archive_stat(tree->archive, path, &st);
	if (!err) {
		key.type = st.st_mode & S_IFMT;
		key.content = S_ISREG(st.st_mode) ? st.st_ino : 0;
		return hf_tree_enter(tree, &key, &st, 0, ret_attr);
	}
	if (err != HF_ERR_NOT_FOUND)
		return err;
	if (!*dir && strcmp(name, hf_tree_control_name(tree, hf_tree_exists, tree)) == 0) {
		key.kind = HF_NODE_CONTROL;
		err = hf_archive_stat(tree->archive, "", &st);
		return err ? err : hf_tree_enter(tree, &key, &st, 0, ret_attr);
	}
	err = hf_tree_find_viewed(tree, dir, name, &capture);
	if (err || !capture)
		return err ? err : HF_ERR_NOT_FOUND;
	err = hf_capture_stat(capture, &st);
	if (err)
		return err;
	key.kind = HF_NODE_VIEWS;
	key.capture = capture;
	return hf_tree_enter(tree, &key, &st, 0, ret_attr);
}

int hf_tree_lookup(struct hf_tree *tree, uint64_t parent, const char *name, struct hf_attr *ret_attr)
{
	struct hf_node *node = hf_node_ref(&tree->nodes, parent);
	int err;

	*ret_attr = (struct hf_attr){.entry_timeout = HF_TIMEOUT_LONG};
	if (!node)
		return HF_ERR_NOT_FOUND;
	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		err = HF_ERR_NOT_FOUND;
	else if (strlen(name) > NAME_MAX)
		err = HF_ERR_PATH_LENGTH;
	else if (hf_kind_is(&node->key, HF_KIND_ARCHIVE))
		err = S_ISDIR(node->key.type) ? lookup_plain(tree, node, name, ret_attr) : HF_ERR_NOT_FOUND;
	else
		err = lookup_made(tree, node, name, ret_attr);
	hf_node_unref(&tree->nodes, node, 1);
	return err;
}

void hf_tree_forget(struct hf_tree *tree, uint64_t ino, uint64_t count)
{
	hf_node_forget(&tree->nodes, ino, count);
}

void hf_tree_unseen(struct hf_tree *tree, uint64_t ino)
{
	struct hf_node *node = hf_node_ref(&tree->nodes, ino);

	if (!node)
		return;
	hf_node_unkeep(&tree->nodes, node);
	hf_node_unref(&tree->nodes, node, 1);
}

static int look_plain(struct hf_tree *tree, struct hf_node *node, struct stat *ret_st)
{
	int err = hf_archive_stat(tree->archive, node->key.path, ret_st);

	if (err)
		return err;
	if ((ret_st->st_mode & S_IFMT) != node->key.type)
		return HF_ERR_NOT_FOUND;
	return S_ISREG(ret_st->st_mode) && ret_st->st_ino != node->key.content ? HF_ERR_CHANGED : 0;
}

/* Of a node of a capture: facts only if they count. */
static int look_made(const struct hf_node *node, bool again, struct hf_facts **ret_facts, struct stat *ret_st)
{
	const bool dir = hf_kind_is(&node->key, HF_KIND_DIR);
	int err = again && dir ? hf_capture_check_again(node->key.capture, ret_st)
			       : hf_capture_check(node->key.capture, ret_st);

	/* A look at the view directory from outside is no reason to index the capture. */
	if (err || (dir && hf_kind_of(&node->key)->when == HF_WHEN_ALWAYS))
		return err;
	return hf_tree_look_on(node, 0, ret_facts);
}

/* The stat from which a node's attributes are made, and its size. */
static int look(struct hf_tree *tree, struct hf_node *node, bool again, struct stat *ret_st, uint64_t *ret_size)
{
	struct hf_facts *facts = NULL;
	int err;

	*ret_size = 0;
	if (hf_kind_is(&node->key, HF_KIND_ARCHIVE))
		return look_plain(tree, node, ret_st);
	if (!node->key.capture)
		err = hf_archive_stat(tree->archive, "", ret_st);
	else
		err = look_made(node, again, &facts, ret_st);
	if (!err)
		err = hf_kind_size(&(struct hf_subject){tree, &node->key, facts}, ret_size);
	/* The size that the kernel knows was forgotten. */
	if (err == HF_ERR_BUSY && !hf_kind_is(&node->key, HF_KIND_DIR))
		err = HF_ERR_CHANGED;
	hf_facts_unref(facts);
	return err;
}

static int get_attr(struct hf_tree *tree, uint64_t ino, bool tell, struct hf_attr *ret_attr)
{
	struct hf_node *node = hf_node_ref(&tree->nodes, ino);
	uint64_t size;
	struct stat st;
	int err;

	ret_attr->st.st_ino = 0;
	if (!node)
		return HF_ERR_NOT_FOUND;
	err = look(tree, node, !tell, &st, &size);
	if (!err)
		fill_attr(tree, node, &st, size, ret_attr);
	if (!err && tell)
		hf_tree_tell_rights(node, &st);
	else if (!err && ino != HF_FS_ROOT && !hf_tree_told_rights(node, &st))
		err = HF_ERR_CHANGED; /* of the root, which is never looked up, that would help nobody */
	hf_node_unref(&tree->nodes, node, 1);
	return err;
}

int hf_tree_getattr(struct hf_tree *tree, uint64_t ino, struct hf_attr *ret_attr)
{
	return get_attr(tree, ino, true, ret_attr);
}

int hf_tree_check(struct hf_tree *tree, uint64_t ino, struct hf_attr *ret_attr)
{
	return get_attr(tree, ino, false, ret_attr);
}

int hf_tree_readlink(struct hf_tree *tree, uint64_t ino, char *buf, size_t size)
{
	struct hf_node *node = hf_node_ref(&tree->nodes, ino);
	int err = HF_ERR_NOT_FOUND;

	if (!node)
		return err;
	if (S_ISLNK(node->key.type))
		err = hf_archive_readlink(tree->archive, node->key.path, buf, size);
	hf_node_unref(&tree->nodes, node, 1);
	return err;
}
