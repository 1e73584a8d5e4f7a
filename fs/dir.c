/* Directories: a list of names made when one is opened, so that a position in it stays what it was. */
#include "fs/names.h"
#include "fs/tree.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

struct entry {
	char *name;             /* owned */
	struct hf_node_key key; /* without its path */
	uint64_t size;          /* of a file of ours */
};

struct hf_dir {
	struct hf_fs *fs;
	struct hf_node *node; /* one reference */
	int fd;               /* of the archive's directory, or -1 */
	struct entry *entry;  /* sorted by name */
	size_t count, cap, sorted;
	int err;              /* of add */
};

static void add(struct hf_dir *dir, const char *name, const struct hf_node_key *key, uint64_t size)
{
	struct entry *entry;

	if (dir->count == dir->cap) {
		size_t cap = dir->cap ? dir->cap * 2 : 64;
		struct entry *bigger = realloc(dir->entry, cap * sizeof *bigger);

		if (!bigger) {
			dir->err = HF_ERR_NOMEM;
			return;
		}
		dir->entry = bigger;
		dir->cap = cap;
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

static mode_t type_of(struct hf_dir *dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN && (entry->d_type != DT_DIR || !dir->fs->archive.skip_count))
		return DTTOIF(entry->d_type);
	if (hf_archive_stat_at(&dir->fs->archive, dir->fd, entry->d_name, &st))
		return 0;
	return st.st_mode & S_IFMT;
}

/* The archive's own entries. */
static int read_archive(struct hf_dir *dir)
{
	int fd, err = hf_archive_open_dir(&dir->fs->archive, dir->node->key.path, &dir->fd);
	struct dirent *entry;
	DIR *stream;

	if (err)
		return err;
	fd = dup(dir->fd);
	stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream) {
		if (fd >= 0)
			close(fd);
		return HF_ERR_IO;
	}
	while ((entry = readdir(stream))) {
		struct hf_node_key key = {.kind = HF_NODE_PLAIN};

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		key.type = type_of(dir, entry);
		if (key.type)
			add(dir, entry->d_name, &key, 0);
	}
	closedir(stream);
	sort(dir);
	return 0;
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
		    hf_path_join(file, path, dir->entry[i].name) ||
		    hf_archive_stat_at(&dir->fs->archive, dir->fd, dir->entry[i].name, &st))
			continue;
		if (S_ISREG(st.st_mode))
			dir->entry[i].key.content = st.st_ino;
		err = hf_capture_find(dir->fs, file, &st, &key.capture);
		if (err)
			return err;
		if (key.capture && !hf_tree_view_name(dir->fs, path, dir->entry[i].name, key.capture, listed,
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
		add(dir, hf_tree_control_name(dir->fs, listed, dir), &control, 0);
	return err;
}

static bool add_child(void *ctx, const char *name, const struct hf_node_key *key, uint64_t size)
{
	struct hf_dir *dir = ctx;

	add(dir, name, key, size);
	return !dir->err;
}

static int fill_made(struct hf_dir *dir)
{
	struct hf_facts *facts = NULL;
	struct stat st;
	int err = 0;

	/* Of a small capture the index is there in a moment, and nobody should see that it was not. */
	if (hf_node_is_view(&dir->node->key))
		err = hf_tree_look(dir->node, hf_tree_patience(dir->node->key.capture, true), &facts, &st);
	if (!err && hf_node_is_slice(&dir->node->key))
		err = facts ? hf_tree_slice_children(dir->node, facts, NULL, add_child, dir) : 0;
	else if (!err)
		hf_tree_children(dir->fs, dir->node, facts, add_child, dir);
	hf_facts_unref(facts);
	return err;
}

int hf_dir_open(struct hf_fs *fs, uint64_t ino, struct hf_dir **ret_dir)
{
	struct hf_dir *dir = calloc(1, sizeof *dir);
	int err = HF_ERR_NOT_FOUND;

	*ret_dir = NULL;
	if (!dir)
		return HF_ERR_NOMEM;
	dir->fs = fs;
	dir->fd = -1;
	dir->node = hf_node_ref(&fs->nodes, ino);
	if (dir->node)
		err = dir->node->key.kind == HF_NODE_PLAIN ? fill_plain(dir) : fill_made(dir);
	if (!err)
		err = dir->err;
	sort(dir);
	if (err)
		hf_dir_close(dir);
	else
		*ret_dir = dir;
	return err;
}

void hf_dir_close(struct hf_dir *dir)
{
	for (size_t i = 0; i < dir->count; i++)
		free(dir->entry[i].name);
	free(dir->entry);
	if (dir->fd >= 0)
		close(dir->fd);
	if (dir->node)
		hf_node_unref(&dir->fs->nodes, dir->node, 1);
	free(dir);
}

static mode_t shown_type(const struct hf_node_key *key)
{
	if (key->kind == HF_NODE_PLAIN)
		return key->type;
	return hf_node_is_dir(key) ? S_IFDIR : S_IFREG;
}

/* The directory that holds this one. */
static uint64_t parent_number(struct hf_dir *dir)
{
	struct hf_node_key key = {.kind = HF_NODE_PLAIN, .type = S_IFDIR};
	char path[HF_PATH_SIZE];

	hf_path_split(path, dir->node->key.path);
	key.path = path;
	if (dir->node->key.kind >= HF_NODE_HART && dir->node->key.kind <= HF_NODE_DIR) {
		key.kind = dir->node->key.kind == HF_NODE_DIR ? HF_NODE_HART : dir->node->key.kind - 1;
		key.type = 0;
		key.capture = dir->node->key.capture;
		key.hart = key.kind > HF_NODE_VIEWS ? dir->node->key.hart : 0;
	}
	return hf_node_number(&dir->fs->nodes, &key);
}

/* "." and "..": cookies 1 and 2 come behind them. */
static bool emit_dot(struct hf_dir *dir, uint64_t i, hf_emit_fn emit, void *ctx)
{
	struct hf_attr attr = {.st.st_ino = i ? parent_number(dir) : dir->node->ino, .st.st_mode = S_IFDIR};

	return emit(ctx, i ? ".." : ".", &attr, i + 1);
}

/* The attributes of an entry, with a reference. */
static int enter(struct hf_dir *dir, const struct entry *entry, struct hf_node_key *key, struct hf_attr *ret_attr)
{
	const struct hf_archive *archive = &dir->fs->archive;
	struct stat st;
	int err;

	if (key->kind == HF_NODE_PLAIN)
		err = hf_archive_stat_at(archive, dir->fd, entry->name, &st);
	else
		err = key->capture ? hf_capture_stat(key->capture, &st) : hf_archive_stat(archive, "", &st);
	if (!err && key->kind == HF_NODE_PLAIN && (st.st_mode & S_IFMT) != key->type)
		err = HF_ERR_NOT_FOUND;
	if (!err && key->kind == HF_NODE_PLAIN && S_ISREG(st.st_mode))
		key->content = st.st_ino;
	return err ? err : hf_tree_enter(dir->fs, key, &st, entry->size, ret_attr);
}

int hf_dir_read(struct hf_dir *dir, uint64_t cookie, bool plus, hf_emit_fn emit, void *ctx)
{
	struct hf_nodes *nodes = &dir->fs->nodes;

	for (; cookie < 2; cookie++)
		if (!emit_dot(dir, cookie, emit, ctx))
			return 0;
	for (; cookie - 2 < dir->count; cookie++) {
		const struct entry *entry = &dir->entry[cookie - 2];
		struct hf_node_key key = entry->key;
		struct hf_attr attr = {.st.st_mode = shown_type(&key)};
		char path[HF_PATH_SIZE];
		int err;

		key.path = path;
		if (hf_path_join(path, dir->node->key.path, entry->name))
			continue;
		if (plus) {
			err = enter(dir, entry, &key, &attr);
			if (err == HF_ERR_NOMEM)
				return err;
			/* It vanished since the list was made. */
			if (err)
				continue;
		} else {
			attr.st.st_ino = hf_node_number(nodes, &key);
		}
		if (!emit(ctx, entry->name, &attr, cookie + 1)) {
			if (plus)
				hf_node_forget(nodes, attr.st.st_ino, 1);
			return 0;
		}
	}
	return 0;
}
