/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that a file system of FUSE can cost: one file, "zeros", of so many bytes.
 *   null_fs SIZE MOUNTPOINT
 * It stays in the foreground until it is unmounted.
 */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_INO = 2, READ_MAX = 1 << 20 };

static off_t file_size;
static char zeros[READ_MAX];

static struct stat stat_of(fuse_ino_t ino)
{
	if (ino == FILE_INO)
		return (struct stat){.st_ino = ino, .st_mode = S_IFREG | 0444, .st_nlink = 1, .st_size = file_size};
	return (struct stat){.st_ino = ino, .st_mode = S_IFDIR | 0555, .st_nlink = 2};
}

static void null_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	const struct fuse_entry_param entry = {
		.ino = FILE_INO, .attr = stat_of(FILE_INO), .attr_timeout = 60, .entry_timeout = 60};

	if (parent == FUSE_ROOT_ID && strcmp(name, "zeros") == 0)
		fuse_reply_entry(req, &entry);
	else
		fuse_reply_err(req, ENOENT);
}

static void null_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
	const struct stat st = stat_of(ino);

	(void)info;
	fuse_reply_attr(req, &st, 60);
}

static void null_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
	(void)ino;
	fuse_reply_open(req, info);
}

static void null_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *info)
{
	const size_t left = offset < file_size ? (size_t)(file_size - offset) : 0;

	(void)ino;
	(void)info;
	if (size > READ_MAX)
		size = READ_MAX;
	fuse_reply_buf(req, zeros, size < left ? size : left);
}

int main(int argc, char **argv)
{
	static const struct fuse_lowlevel_ops ops = {
		.lookup = null_lookup, .getattr = null_getattr, .open = null_open, .read = null_read};
	char *own[] = {argv[0], "-oro,fsname=null"};
	struct fuse_args args = FUSE_ARGS_INIT(2, own);
	struct fuse_session *session;
	int err = 1;

	if (argc != 3) {
		fprintf(stderr, "usage: null_fs SIZE MOUNTPOINT\n");
		return 2;
	}
	file_size = (off_t)strtoll(argv[1], NULL, 0);
	session = fuse_session_new(&args, &ops, sizeof ops, NULL);
	if (session && fuse_session_mount(session, argv[2]) == 0) {
		err = fuse_session_loop(session);
		fuse_session_unmount(session);
	}
	if (session)
		fuse_session_destroy(session);
	return err != 0;
}
