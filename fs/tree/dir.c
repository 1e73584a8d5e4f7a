/* SPDX-License-Identifier: Apache-2.0 */
/* Directories: a list of names made when one is opened, so that a position in it stays what it was. */
#include "fs/capture/all.h"
#include "fs/capture/recognise.h"
#include "codecs/base/array.h"
#include "fs/tree/tree.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

/* So long what was found when the directory was opened holds for its first read, which comes at once. */
#define CHECKED_NS (INT64_C(250) * 1000000)
/* So long the kernel believes attributes, less the time that it may take somebody to come to the last one. */
#define TOLD_NS ((int64_t)((HF_TIMEOUT_LONG - 0.5) * 1e9))

struct entry {
	char *name;             /* owned */
	struct hf_node_key key; /* without its path */
	uint64_t size;          /* of a file of ours */
};

struct hf_dir {
	struct hf_tree *tree;
	struct hf_node *node; /* one reference */
	int fd;               /* of the archive's directory while it is read; -1 */
	dev_t dev;            /* of it, as is ino */
	ino_t ino;
	/* lock; the list is dropped when others need the memory, and made again */
	pthread_mutex_t lock;
	struct hf_cached_list list;
	struct entry *entry;  /* sorted by name */
	size_t count, cap, sorted;
	int err;              /* of add */
	/* Cookies are places in the list as it was first. Where the reader stopped, by cookie and by the name before
	 * it, and how much further on that is in the list as it is now. */
	uint64_t stopped;
	char last[NAME_MAX + 1];
	ptrdiff_t shift;
	int64_t checked_ns;   /* when checked was the stat of the capture, but for its type and size; 0: never */
	struct stat checked;
	size_t opened_count;  /* of names when it was opened */
	int64_t told_ns;      /* since when all entries so far were given with attributes; 0: they were not */
	bool listed;          /* round is to be given back: hf_node_unlist */
	uint32_t round;
};

static void add(struct hf_dir *dir, const char *name, const struct hf_node_key *key, uint64_t size)
{
	struct entry *entry;

	if (hf_array_reserve(&dir->entry, dir->count + 1, &dir->cap, sizeof *dir->entry)) {
		dir->err = HF_ERR_NOMEM;
		return;
	}
	entry = &dir->entry[dir->count];
	*entry = (struct entry){.name = strdup(name), .key = *key, .size = size};
	if (entry->name)
		dir->count++;
	else
		dir->err = HF_ERR_NOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static void sort(struct hf_dir *dir)
{
	if (dir->count)
		qsort(dir->entry, dir->count, sizeof *dir->entry, by_name);
	dir->sorted = dir->count;
}

/* Whether the archive's directory has that name, asked of the list. */
static bool listed(void *ctx, const char *path, const char *name)
{
	struct hf_dir *dir = ctx;
	struct entry key = {.name = (char *)name};

	(void)path;
	return dir->sorted && bsearch(&key, dir->entry, dir->sorted, sizeof key, by_name);
}

static int add_own(void *ctx, const char *name, mode_t type)
{
	struct hf_dir *dir = ctx;
	const struct hf_node_key key = {.kind = HF_NODE_PLAIN, .type = type};

	add(dir, name, &key, 0);
	return dir->err;
}

/* The archive's own entries. */
static int read_archive(struct hf_dir *dir)
{
	int err = hf_archive_open_dir(dir->tree->archive, dir->node->key.path, &dir->fd);
	struct stat st;

	if (!err)
		err = hf_archive_stat_at(dir->tree->archive, dir->fd, "", &st);
	if (err)
		return err;
	dir->dev = st.st_dev;
	dir->ino = st.st_ino;
	err = hf_archive_list(dir->tree->archive, dir->fd, add_own, dir);
	sort(dir);
	return err;
}

/* The view directories of the captures among the entries. */
static int add_views(struct hf_dir *dir)
{
	const char *path = dir->node->key.path;
	char file[HF_PATH_SIZE], name[NAME_MAX + 1];

	for (size_t i = 0; i < dir->sorted && !dir->err; i++) {
		struct hf_node_key key = {.kind = HF_NODE_VIEWS};
		struct stat st;
		int err;

		if ((!S_ISREG(dir->entry[i].key.type) && !S_ISDIR(dir->entry[i].key.type)) ||
		    hf_path_join(file, path, dir->entry[i].name))
			continue;
		err = hf_archive_stat_at(dir->tree->archive, dir->fd, dir->entry[i].name, &st);
		if (hf_err_is_shortage(err))
			return err;
		if (err)
			continue;
		if (S_ISREG(st.st_mode))
			dir->entry[i].key.content = st.st_ino;
		err = hf_capture_find(dir->tree->captures, file, &st, &key.capture);
		if (err)
			return err;
		if (key.capture && !hf_tree_view_name(dir->tree, path, dir->entry[i].name, key.capture, listed,
						      dir, name))
			add(dir, name, &key, 0);
	}
	return 0;
}

static int fill_plain(struct hf_dir *dir)
{
	struct hf_node_key control = {.kind = HF_NODE_CONTROL};
	int err = read_archive(dir);

	if (!err)
		err = add_views(dir);
	if (!err && !*dir->node->key.path)
		add(dir, hf_tree_control_name(dir->tree, listed, dir), &control, 0);
	return err;
}

static bool add_child(void *ctx, const char *name, const struct hf_node_key *key, uint64_t size)
{
	struct hf_dir *dir = ctx;

	add(dir, name, key, size);
	return !dir->err;
}

static int look_at_capture(const struct hf_dir *dir, bool checked, struct hf_facts **ret_facts)
{
	const unsigned wait_ms = hf_tree_patience(dir->node->key.capture, true);
	struct stat st;

	return checked ? hf_tree_look_on(dir->node, wait_ms, ret_facts)
		       : hf_tree_look(dir->node, wait_ms, ret_facts, &st);
}

static int fill_made(struct hf_dir *dir, bool checked)
{
	struct hf_look look = {.tree = dir->tree, .dir = &dir->node->key};
	struct hf_facts *facts = NULL;
	uint64_t size;
	int err = 0;

	/* Of a small capture the index is there in a moment, and nobody should see that it was not. */
	if (dir->node->key.capture)
		err = look_at_capture(dir, checked, &facts);
	/* What will be in it nobody knows. */
	if (!err)
		err = hf_kind_size(&(struct hf_subject){dir->tree, &dir->node->key, facts}, &size);
	look.facts = facts;
	if (!err)
		err = hf_kind_list(&look, add_child, dir);
	hf_facts_unref(facts);
	return err;
}

/* Whoever has many directories open has no descriptor of ours for each. */
static void close_archive(struct hf_dir *dir)
{
	if (dir->fd >= 0)
		close(dir->fd);
	dir->fd = -1;
}

/* The directory that was read; HF_ERR_NOT_FOUND if it is not there any more. */
static int open_archive(const struct hf_dir *dir, int *ret_fd)
{
	struct stat st;
	int err = hf_archive_open_dir(dir->tree->archive, dir->node->key.path, ret_fd);

	if (err)
		return err;
	err = hf_archive_stat_at(dir->tree->archive, *ret_fd, "", &st);
	if (!err && (st.st_dev != dir->dev || st.st_ino != dir->ino))
		err = HF_ERR_NOT_FOUND;
	if (err) {
		close(*ret_fd);
		*ret_fd = -1;
	}
	return err;
}

static void drop_list(struct hf_cached_list *list)
{
	struct hf_dir *dir = HF_OWNER(list, struct hf_dir, list);

	for (size_t i = 0; i < dir->count; i++)
		free(dir->entry[i].name);
	free(dir->entry);
	dir->entry = NULL;
	dir->count = dir->cap = dir->sorted = 0;
}

/* Makes the list, and pins it. checked: somebody has just looked whether the capture is still the same. */
static int fill(struct hf_dir *dir, bool checked)
{
	size_t bytes;
	int err;

	dir->err = 0;
	err = hf_kind_is(&dir->node->key, HF_KIND_ARCHIVE) ? fill_plain(dir) : fill_made(dir, checked);
	if (!err)
		err = dir->err;
	close_archive(dir);
	sort(dir);
	if (err) {
		drop_list(&dir->list);
		return err;
	}
	bytes = dir->cap * sizeof *dir->entry;
	for (size_t i = 0; i < dir->count; i++)
		bytes += strlen(dir->entry[i].name) + 1 + 2 * sizeof(void *);
	hf_list_cache_made(&dir->tree->list_cache, &dir->list, bytes);
	return 0;
}

/* The list again, where the reader stopped: names may have come and gone before that place. */
static int fill_again(struct hf_dir *dir)
{
	size_t at = 0;
	int err = fill(dir, false);

	if (err || dir->stopped <= 2)
		return err;
	while (at < dir->count && strcmp(dir->entry[at].name, dir->last) <= 0)
		at++;
	dir->shift = (ptrdiff_t)at - (ptrdiff_t)(dir->stopped - 2);
	return 0;
}

/* Of all that the kernel caches of a list, and not 0. */
static uint64_t stamp_of(const struct hf_dir *dir)
{
	uint64_t stamp = 1;

	for (size_t i = 0; i < dir->count; i++) {
		const struct hf_node_key *key = &dir->entry[i].key;
		const uint64_t words[] = {key->kind, key->type, key->content};

		stamp = XXH3_64bits_withSeed(dir->entry[i].name, strlen(dir->entry[i].name) + 1, stamp);
		stamp = XXH3_64bits_withSeed(words, sizeof words, stamp);
	}
	return stamp | 1;
}

int hf_tree_open_dir(struct hf_tree *tree, uint64_t ino, struct hf_dir **ret_dir, bool *ret_keep)
{
	struct hf_dir *dir = calloc(1, sizeof *dir);
	int err;

	*ret_dir = NULL;
	if (!dir)
		return HF_ERR_NOMEM;
	dir->tree = tree;
	dir->fd = -1;
	dir->list.drop = drop_list;
	pthread_mutex_init(&dir->lock, NULL);
	dir->node = hf_node_ref(&tree->nodes, ino);
	err = dir->node ? fill(dir, ret_keep) : HF_ERR_NOT_FOUND;
	if (err) {
		hf_dir_close(dir);
		return err;
	}
	dir->opened_count = dir->count;
	dir->listed = ret_keep;
	if (ret_keep)
		*ret_keep = hf_node_list(&tree->nodes, dir->node, stamp_of(dir), &dir->round);
	hf_list_cache_unpin(&tree->list_cache, &dir->list);
	*ret_dir = dir;
	return 0;
}

void hf_dir_close(struct hf_dir *dir)
{
	hf_list_cache_end(&dir->tree->list_cache, &dir->list);
	if (dir->listed)
		hf_node_unlist(&dir->tree->nodes, dir->node, dir->round);
	if (dir->node)
		hf_node_unref(&dir->tree->nodes, dir->node, 1);
	pthread_mutex_destroy(&dir->lock);
	free(dir);
}

static mode_t shown_type(const struct hf_node_key *key)
{
	if (hf_kind_is(key, HF_KIND_ARCHIVE))
		return key->type;
	return hf_kind_is(key, HF_KIND_DIR) ? S_IFDIR : S_IFREG;
}

/* "." and "..": cookies 1 and 2 come behind them. */
static bool emit_dot(struct hf_dir *dir, uint64_t i, hf_emit_fn emit, void *ctx)
{
	const uint64_t parent = dir->node->key.parent;
	struct hf_attr attr = {.st.st_ino = i && parent ? parent : dir->node->ino, .st.st_mode = S_IFDIR};

	return emit(ctx, i ? ".." : ".", &attr, i + 1);
}

/* What the attributes of entries are made of. */
struct origin {
	int fd; /* of the archive's directory */
	bool any;
	const struct hf_capture *capture; /* what was looked at last, if any; NULL: the archive */
	struct stat st;
	int err;
};

/* Of what is made of a capture, or of none. In a directory of ours all is made of the same one. */
static int look_at_origin(const struct hf_archive *archive, struct origin *origin, struct hf_capture *capture)
{
	if (!origin->any || origin->capture != capture) {
		origin->err = capture ? hf_capture_stat(capture, &origin->st) : hf_archive_stat(archive, "", &origin->st);
		origin->capture = capture;
		origin->any = true;
	}
	return origin->err;
}

static int look_at_plain(const struct hf_archive *archive, const struct origin *origin, const char *name,
			 struct hf_node_key *key, struct stat *ret_st)
{
	int err = hf_archive_stat_at(archive, origin->fd, name, ret_st);

	if (!err && (ret_st->st_mode & S_IFMT) != key->type)
		err = HF_ERR_NOT_FOUND;
	if (!err && S_ISREG(ret_st->st_mode))
		key->content = ret_st->st_ino;
	return err;
}

/* What was found when the directory was opened, if that was just now and nothing was read yet. */
static void take_checked(struct hf_dir *dir, struct origin *origin)
{
	if (dir->checked_ns && hf_now_ns() - dir->checked_ns < CHECKED_NS) {
		origin->capture = dir->node->key.capture;
		origin->st = dir->checked;
		origin->any = true;
	}
	dir->checked_ns = 0;
}

void hf_dir_checked(struct hf_dir *dir, const struct hf_attr *attr)
{
	if (!dir->node->key.capture || hf_kind_is(&dir->node->key, HF_KIND_ARCHIVE | HF_KIND_STATUS))
		return;
	/* A directory of ours has the times, the owner and the read bits of what its files are made of. */
	dir->checked = attr->st;
	dir->checked_ns = hf_now_ns();
}

size_t hf_dir_count(const struct hf_dir *dir)
{
	return dir->opened_count;
}

bool hf_dir_is_told(const struct hf_dir *dir)
{
	const int64_t told = atomic_load_explicit(&dir->node->told_ns, memory_order_relaxed);

	return told && hf_now_ns() - told < TOLD_NS;
}

/* Entries from cookie on are about to be given. */
static void begin_telling(struct hf_dir *dir, uint64_t cookie, bool plus)
{
	if (cookie == 2)
		dir->told_ns = hf_now_ns();
	if (!plus)
		dir->told_ns = 0;
}

/* All were given. */
static void end_telling(const struct hf_dir *dir)
{
	if (dir->told_ns)
		atomic_store_explicit(&dir->node->told_ns, dir->told_ns, memory_order_relaxed);
}

/* The attributes of an entry, with a reference. */
static int enter(struct hf_dir *dir, struct origin *origin, const struct entry *entry, struct hf_node_key *key,
		 struct hf_attr *ret_attr)
{
	const struct hf_archive *archive = dir->tree->archive;
	const bool plain = hf_kind_is(key, HF_KIND_ARCHIVE);
	struct stat st;
	int err = plain ? look_at_plain(archive, origin, entry->name, key, &st)
			: look_at_origin(archive, origin, key->capture);

	return err ? err : hf_tree_enter(dir->tree, key, plain ? &st : &origin->st, entry->size, ret_attr);
}

static void stop_behind(struct hf_dir *dir, uint64_t cookie, const char *name)
{
	const size_t n = strnlen(name, NAME_MAX);

	dir->stopped = cookie;
	memcpy(dir->last, name, n);
	dir->last[n] = 0;
}

/* The entries from cookie on. fd: of the archive's directory, with plus. */
static int emit_entries(struct hf_dir *dir, int fd, uint64_t cookie, bool plus, hf_emit_fn emit, void *ctx)
{
	struct hf_nodes *nodes = &dir->tree->nodes;
	struct origin origin = {.fd = fd};

	if (plus)
		take_checked(dir, &origin);
	begin_telling(dir, cookie, plus);
	if (cookie == 2)
		dir->shift = 0;
	for (;; cookie++) {
		const ptrdiff_t at = (ptrdiff_t)(cookie - 2) + dir->shift;
		const struct entry *entry;
		struct hf_node_key key;
		struct hf_attr attr = {0};
		char path[HF_PATH_SIZE];
		bool reachable;
		int err;

		if (at < 0 || (size_t)at >= dir->count) {
			end_telling(dir);
			return 0;
		}
		entry = &dir->entry[at];
		key = entry->key;
		attr.st.st_mode = shown_type(&key);
		key.path = path;
		key.parent = dir->node->ino;
		reachable = !hf_path_join(path, dir->node->key.path, entry->name);
		if (!reachable) {
			attr.st.st_ino = HF_FS_UNREACHABLE;
		} else if (plus) {
			err = enter(dir, &origin, entry, &key, &attr);
			if (hf_err_is_shortage(err))
				return err;
			/* It vanished since the list was made. */
			if (err)
				continue;
		} else {
			attr.st.st_ino = hf_node_number(nodes, &key);
		}
		if (!emit(ctx, entry->name, &attr, cookie + 1)) {
			if (plus && reachable)
				hf_node_forget(nodes, attr.st.st_ino, 1);
			return 0;
		}
		stop_behind(dir, cookie + 1, entry->name);
	}
}

static int read_list(struct hf_dir *dir, uint64_t cookie, bool plus, hf_emit_fn emit, void *ctx)
{
	const bool archive = plus && hf_kind_is(&dir->node->key, HF_KIND_ARCHIVE);
	int fd = -1, err = archive ? open_archive(dir, &fd) : 0;

	/* All of it vanished since the list was made. */
	if (err == HF_ERR_NOT_FOUND)
		return 0;
	if (!err)
		err = emit_entries(dir, fd, cookie, plus, emit, ctx);
	if (fd >= 0)
		close(fd);
	return err;
}

int hf_dir_read(struct hf_dir *dir, uint64_t cookie, bool plus, hf_emit_fn emit, void *ctx)
{
	int err = 0;

	for (; cookie < 2; cookie++)
		if (!emit_dot(dir, cookie, emit, ctx))
			return 0;
	HF_LOCKED(&dir->lock);
	if (!hf_list_cache_pin(&dir->tree->list_cache, &dir->list))
		err = fill_again(dir);
	if (!err) {
		err = read_list(dir, cookie, plus, emit, ctx);
		hf_list_cache_unpin(&dir->tree->list_cache, &dir->list);
	}
	return err;
}
