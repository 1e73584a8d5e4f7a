/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that listing a tree through FUSE can cost: names, types and sizes from memory, in the answers that hartfs
 * gives, for 5 s.
 *   find TREE -printf '%d %y %s %f\n' >LIST; null_tree LIST MOUNTPOINT
 * It stays in the foreground until it is unmounted. Files have no bytes.
 */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, REPLY_MAX = 64 << 10 };

#define TIMEOUT_S 5

struct node {
	char *name;
	size_t parent; /* an index, as is the next; the root is its own parent */
	size_t first;  /* of the children, in children[] */
	size_t count;
	off_t size;
	bool dir;
};

static struct node *nodes;
static size_t node_count;
static size_t *children; /* all but the root, by parent and name */

static struct stat stat_of(size_t i)
{
	return (struct stat){.st_ino = i + FUSE_ROOT_ID,
			     .st_mode = nodes[i].dir ? S_IFDIR | 0555 : S_IFREG | 0444,
			     .st_nlink = nodes[i].dir ? 2 : 1,
			     .st_size = nodes[i].size};
}

static struct fuse_entry_param entry_of(size_t i)
{
	return (struct fuse_entry_param){.ino = i + FUSE_ROOT_ID,
					 .attr = stat_of(i),
					 .attr_timeout = TIMEOUT_S,
					 .entry_timeout = TIMEOUT_S};
}

/* ---- the list ---- */

static void *grown(void *array, size_t count, size_t size)
{
	/* Room for a power of two. */
	void *bigger = count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * size);

	if (!bigger) {
		perror("null_tree");
		exit(1);
	}
	return bigger;
}

static int by_place(const void *a, const void *b)
{
	const struct node *x = &nodes[*(const size_t *)a], *y = &nodes[*(const size_t *)b];

	return x->parent == y->parent ? strcmp(x->name, y->name) : x->parent < y->parent ? -1 : 1;
}

static bool read_nodes(FILE *list)
{
	size_t at[DEPTH_MAX] = {0};
	char type, name[NAME_MAX + 1];
	long long size;
	unsigned depth;

	while (fscanf(list, "%u %c %lld %255[^\n]", &depth, &type, &size, name) == 4) {
		if (depth >= DEPTH_MAX || (depth == 0) != (node_count == 0))
			return false;
		nodes = grown(nodes, node_count, sizeof *nodes);
		nodes[node_count] = (struct node){.name = strdup(name),
						  .parent = depth ? at[depth - 1] : 0,
						  .size = type == 'd' ? 0 : size,
						  .dir = type == 'd'};
		if (!nodes[node_count].name)
			return false;
		at[depth] = node_count++;
	}
	return node_count && feof(list);
}

static bool sort_children(void)
{
	children = malloc(node_count * sizeof *children);
	if (!children)
		return false;
	for (size_t i = 1; i < node_count; i++)
		children[i - 1] = i;
	qsort(children, node_count - 1, sizeof *children, by_place);
	for (size_t i = 0; i + 1 < node_count; i++) {
		struct node *parent = &nodes[nodes[children[i]].parent];

		if (!parent->count++)
			parent->first = i;
	}
	return true;
}

/* ---- the answers ---- */

static void tree_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->want |= conn->capable & (FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO |
				       FUSE_CAP_AUTO_INVAL_DATA);
}

static void tree_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	const struct node *dir = &nodes[parent - FUSE_ROOT_ID];
	size_t low = dir->first, end = dir->first + dir->count;

	while (low < end) {
		const size_t middle = low + (end - low) / 2;
		const int order = strcmp(nodes[children[middle]].name, name);

		if (!order) {
			const struct fuse_entry_param entry = entry_of(children[middle]);

			fuse_reply_entry(req, &entry);
			return;
		}
		if (order < 0)
			low = middle + 1;
		else
			end = middle;
	}
	fuse_reply_err(req, ENOENT);
}

static void tree_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
	const struct stat st = stat_of(ino - FUSE_ROOT_ID);

	(void)info;
	fuse_reply_attr(req, &st, TIMEOUT_S);
}

static void tree_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
	(void)ino;
	info->cache_readdir = info->keep_cache = 1;
	fuse_reply_open(req, info);
}

static void read_dir(fuse_req_t req, fuse_ino_t ino, size_t size, size_t at, bool plus)
{
	const struct node *dir = &nodes[ino - FUSE_ROOT_ID];
	char buf[REPLY_MAX];
	size_t used = 0;

	if (size > sizeof buf)
		size = sizeof buf;
	/* "." and "..", then the children. */
	for (; at < dir->count + 2; at++) {
		const size_t i = at >= 2 ? children[dir->first + at - 2] : at ? dir->parent : ino - FUSE_ROOT_ID;
		const char *name = at >= 2 ? nodes[i].name : at ? ".." : ".";
		struct fuse_entry_param entry = entry_of(i);
		size_t n;

		if (at < 2)
			entry.ino = 0;
		n = plus ? fuse_add_direntry_plus(req, buf + used, size - used, name, &entry, (off_t)at + 1)
			 : fuse_add_direntry(req, buf + used, size - used, name, &entry.attr, (off_t)at + 1);
		if (n > size - used)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
}

static void tree_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at, struct fuse_file_info *info)
{
	(void)info;
	read_dir(req, ino, size, (size_t)at, false);
}

static void tree_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at, struct fuse_file_info *info)
{
	(void)info;
	read_dir(req, ino, size, (size_t)at, true);
}

static int serve(const char *mountpoint)
{
	static const struct fuse_lowlevel_ops ops = {.init = tree_init,
						     .lookup = tree_lookup,
						     .getattr = tree_getattr,
						     .opendir = tree_opendir,
						     .readdir = tree_readdir,
						     .readdirplus = tree_readdirplus};
	char name[] = "null_tree", options[] = "-oro,fsname=null";
	char *own[] = {name, options};
	struct fuse_args args = FUSE_ARGS_INIT(2, own);
	struct fuse_session *session = fuse_session_new(&args, &ops, sizeof ops, NULL);
	int err = 1;

	if (session && fuse_session_mount(session, mountpoint) == 0) {
		err = fuse_session_loop(session);
		fuse_session_unmount(session);
	}
	if (session)
		fuse_session_destroy(session);
	return err != 0;
}

int main(int argc, char **argv)
{
	FILE *list = argc == 3 ? fopen(argv[1], "r") : NULL;

	if (!list || !read_nodes(list) || !sort_children()) {
		fprintf(stderr, "usage: null_tree LIST MOUNTPOINT, with LIST of find -printf '%%d %%y %%s %%f\\n'\n");
		return 2;
	}
	fclose(list);
	return serve(argv[2]);
}
