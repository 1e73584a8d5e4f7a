/* SPDX-License-Identifier: Apache-2.0 */
/* Calls with a name: what opens, lists, renames and removes. */
#include "tests/sim/calls.h"
#include "tests/sim/faults.h"
#include "tests/sim/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

long __real_syscall(long number, ...);
int __real_open64(const char *, int, ...);
int __real_openat64(int, const char *, int, ...);
ssize_t __real_readlink(const char *, char *, size_t);

int __wrap_openat64(int, const char *, int, ...);
int __wrap___openat64_2(int, const char *, int);
int __wrap_open64(const char *, int, ...);
long __wrap_syscall(long number, ...);
int __wrap_fstatat64(int, const char *, struct stat64 *, int);
int __wrap_statx(int, const char *, int, unsigned, struct statx *);
int __wrap_renameat2(int, const char *, int, const char *, unsigned);
int __wrap_renameat(int, const char *, int, const char *);
int __wrap_unlinkat(int, const char *, int);
ssize_t __wrap_readlinkat(int, const char *, char *, size_t);
ssize_t __wrap_readlink(const char *, char *, size_t);
ssize_t __wrap_getxattr(const char *, const char *, void *, size_t);
DIR *__wrap_fdopendir(int);
struct dirent64 *__wrap_readdir64(DIR *);
int __wrap_closedir(DIR *);
void sim_stat(const struct sim_inode *inode, struct stat64 *ret_st);

static int fails(int errnum)
{
	errno = errnum;
	return -1;
}

/* Goes down to the last component, name[*ret_n] in *ret_dir; 0 or an errno. The path itself: *ret_n 0. */
static int walk(struct sim_inode *dir, const char *path, struct sim_inode **ret_dir, const char **ret_name,
		size_t *ret_n)
{
	for (;;) {
		size_t n;

		while (*path == '/')
			path++;
		n = strcspn(path, "/");
		if (n > NAME_MAX)
			return ENAMETOOLONG;
		if (n && !S_ISDIR(dir->mode))
			return ENOTDIR;
		*ret_dir = dir;
		*ret_name = path;
		*ret_n = n;
		if (!n)
			return 0;
		if ((n == 1 && *path == '.') || (n == 2 && memcmp(path, "..", 2) == 0)) {
			if (n == 2 && !dir->parent)
				return EXDEV;
			dir = n == 2 ? dir->parent : dir;
			path += n;
			continue;
		}
		if (!path[n])
			return 0;
		dir = sim_dir_find(dir, path, n);
		if (!dir)
			return ENOENT;
		path += n;
	}
}

static int find(int dirfd, const char *path, bool may_be_empty, struct sim_inode **ret_inode)
{
	struct sim_inode *dir = sim_fd_get(dirfd)->inode;
	const char *name;
	size_t n;
	int errnum;

	if (!*path && !may_be_empty)
		return ENOENT;
	errnum = walk(dir, path, &dir, &name, &n);
	if (errnum)
		return errnum;
	*ret_inode = n ? sim_dir_find(dir, name, n) : dir;
	return *ret_inode ? 0 : ENOENT;
}

static int open_in(struct sim_inode *dir, const char *path, int flags, unsigned mode)
{
	struct sim_inode *inode;
	const char *name;
	size_t n;
	int errnum;

	sim_step("open", path, (uint64_t)flags);
	errnum = *path ? walk(dir, path, &dir, &name, &n) : ENOENT;
	if (errnum)
		return fails(errnum);
	inode = n ? sim_dir_find(dir, name, n) : dir;
	if (!inode && !(flags & O_CREAT))
		return fails(ENOENT);
	errnum = sim_fault_strikes(SIM_OPEN, inode ? inode : dir, NULL);
	if (!errnum && !inode)
		errnum = sim_fault_strikes(SIM_WRITE, dir, NULL);
	if (errnum)
		return fails(errnum);
	/* Time may have passed. */
	inode = n ? sim_dir_find(dir, name, n) : dir;
	if (!inode && !(flags & O_CREAT))
		return fails(ENOENT);
	if (!inode) {
		if (dir->part == SIM_ARCHIVE)
			sim_fail("%s is made in the archive", path);
		inode = sim_inode_new(dir->part, S_IFREG | (mode & 0777), "");
		sim_dir_set(dir, name, n, inode);
	} else if (flags & O_CREAT && flags & O_EXCL) {
		return fails(EEXIST);
	}
	if (flags & O_DIRECTORY && !S_ISDIR(inode->mode))
		return fails(ENOTDIR);
	if ((flags & O_ACCMODE) != O_RDONLY && !(flags & O_PATH) && S_ISDIR(inode->mode))
		return fails(EISDIR);
	if (flags & O_TRUNC)
		sim_fail("the simulator does not know O_TRUNC");
	return sim_fd_new(inode, flags);
}

int __wrap_openat64(int dirfd, const char *path, int flags, ...)
{
	unsigned mode = 0;
	va_list args;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, unsigned);
		va_end(args);
	}
	if (!sim_fd_is(dirfd))
		return __real_openat64(dirfd, path, flags, mode);
	return open_in(sim_fd_get(dirfd)->inode, path, flags, mode);
}

int __wrap___openat64_2(int dirfd, const char *path, int flags)
{
	return __wrap_openat64(dirfd, path, flags);
}

/* The archive has a path too: its catalogue belongs to that. */
int __wrap_open64(const char *path, int flags, ...)
{
	if (sim_sched_is_on() && strncmp(path, "/archive", 8) == 0)
		return open_in(sim_disk_root(SIM_ARCHIVE), path[8] ? path + 8 : ".", flags, 0);
	if (sim_sched_is_on())
		sim_fail("%s is opened, outside of everything", path);
	return __real_open64(path, flags, 0600);
}

long __wrap_syscall(long number, ...)
{
	const struct open_how *how;
	const char *path;
	va_list args;
	int dirfd;

	va_start(args, number);
	dirfd = va_arg(args, int);
	path = va_arg(args, const char *);
	how = va_arg(args, const struct open_how *);
	va_end(args);
	if (number != SYS_openat2 || !sim_fd_is(dirfd))
		sim_fail("the simulator does not know system call %ld", number);
	return open_in(sim_fd_get(dirfd)->inode, path, (int)how->flags, (unsigned)how->mode);
}

int __wrap_fstatat64(int dirfd, const char *path, struct stat64 *ret_st, int flags)
{
	struct sim_inode *inode;
	int errnum;

	sim_step("fstatat", path, (uint64_t)flags);
	errnum = find(dirfd, path, flags & AT_EMPTY_PATH, &inode);
	if (!errnum)
		errnum = sim_fault_strikes(SIM_STAT, inode, NULL);
	if (!errnum)
		errnum = find(dirfd, path, flags & AT_EMPTY_PATH, &inode);
	if (errnum)
		return fails(errnum);
	sim_stat(inode, ret_st);
	return 0;
}

int __wrap_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *ret_stx)
{
	struct sim_inode *inode;
	int errnum;

	(void)mask;
	sim_step("statx", path, (uint64_t)flags);
	errnum = find(dirfd, path, flags & AT_EMPTY_PATH, &inode);
	if (errnum)
		return fails(errnum);
	*ret_stx = (struct statx){.stx_mask = STATX_BASIC_STATS | STATX_BTIME, .stx_ino = inode->number};
	ret_stx->stx_mode = (uint16_t)inode->mode;
	ret_stx->stx_dev_minor = inode->part;
	ret_stx->stx_dev_major = 1;
	ret_stx->stx_btime.tv_sec = SIM_EPOCH_S + inode->born_ns / SECOND;
	ret_stx->stx_btime.tv_nsec = (unsigned)(inode->born_ns % SECOND);
	return 0;
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
	struct sim_inode *a = sim_fd_get(from_fd)->inode, *b = sim_fd_get(to_fd)->inode, *inode;
	int errnum;

	sim_step("rename", to, flags);
	inode = sim_dir_find(a, from, strlen(from));
	if (!inode)
		return fails(ENOENT);
	errnum = sim_fault_strikes(SIM_NAME, inode, NULL);
	if (errnum)
		return fails(errnum);
	inode = sim_dir_find(a, from, strlen(from));
	if (!inode)
		return fails(ENOENT);
	if (flags & RENAME_NOREPLACE && sim_dir_find(b, to, strlen(to)))
		return fails(EEXIST);
	if (a->part == SIM_ARCHIVE)
		sim_fail("%s is renamed in the archive", from);
	sim_dir_set(b, to, strlen(to), inode);
	sim_dir_set(a, from, strlen(from), NULL);
	return 0;
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return __wrap_renameat2(from_fd, from, to_fd, to, 0);
}

int __wrap_unlinkat(int dirfd, const char *name, int flags)
{
	struct sim_inode *dir = sim_fd_get(dirfd)->inode, *inode;
	int errnum;

	sim_step("unlink", name, (uint64_t)flags);
	inode = sim_dir_find(dir, name, strlen(name));
	if (!inode)
		return fails(ENOENT);
	if (S_ISDIR(inode->mode) != !!(flags & AT_REMOVEDIR))
		return fails(S_ISDIR(inode->mode) ? EISDIR : ENOTDIR);
	errnum = sim_fault_strikes(SIM_NAME, inode, NULL);
	if (errnum)
		return fails(errnum);
	if (dir->part == SIM_ARCHIVE)
		sim_fail("%s is removed from the archive", name);
	sim_dir_set(dir, name, strlen(name), NULL);
	return 0;
}

ssize_t __wrap_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	(void)dirfd;
	(void)path;
	(void)buf;
	(void)size;
	return fails(EINVAL);
}

/* Of /proc/self/fd: the path ends in the name that it had last. */
ssize_t __wrap_readlink(const char *path, char *buf, size_t size)
{
	int fd, n;

	if (sscanf(path, "/proc/self/fd/%d", &fd) != 1 || !sim_fd_is(fd))
		return __real_readlink(path, buf, size);
	n = snprintf(buf, size, "/disk/%s", sim_fd_get(fd)->inode->name);
	return n < (int)size ? n : (ssize_t)size;
}

ssize_t __wrap_getxattr(const char *path, const char *name, void *buf, size_t size)
{
	(void)path;
	(void)name;
	(void)buf;
	(void)size;
	return fails(ENODATA);
}

/* ---- listing: what was there when it was opened ---- */

struct listing {
	int fd;
	size_t at, count;
	struct dirent64 entry[];
};

DIR *__wrap_fdopendir(int fd)
{
	const struct sim_inode *dir = sim_fd_get(fd)->inode;
	struct listing *list;
	size_t count = 2, first;
	int errnum;

	sim_step("fdopendir", dir->name, (uint64_t)fd);
	errnum = S_ISDIR(dir->mode) ? sim_fault_strikes(SIM_READ, dir, NULL) : ENOTDIR;
	if (errnum) {
		errno = errnum;
		return NULL;
	}
	for (const struct sim_entry *e = dir->entries; e; e = e->next)
		count++;
	list = calloc(1, sizeof *list + count * sizeof *list->entry);
	if (!list)
		abort();
	*list = (struct listing){.fd = fd, .count = count};
	/* In any order. */
	first = sim_state->quiet ? 0 : (size_t)sim_below(count);
	list->entry[first] = (struct dirent64){.d_name = ".", .d_type = DT_DIR, .d_ino = dir->number};
	list->entry[(first + 1) % count] = (struct dirent64){.d_name = "..", .d_type = DT_DIR, .d_ino = 1};
	first += 2;
	for (const struct sim_entry *e = dir->entries; e; e = e->next, first++) {
		struct dirent64 *d = &list->entry[first % count];

		d->d_ino = e->inode->number;
		d->d_type = S_ISDIR(e->inode->mode) ? DT_DIR : DT_REG;
		snprintf(d->d_name, sizeof d->d_name, "%s", e->name);
	}
	return (DIR *)list;
}

struct dirent64 *__wrap_readdir64(DIR *dir)
{
	struct listing *list = (struct listing *)dir;

	return list->at < list->count ? &list->entry[list->at++] : NULL;
}

int __wrap_closedir(DIR *dir)
{
	struct listing *list = (struct listing *)dir;

	sim_step("closedir", NULL, (uint64_t)list->fd);
	sim_fd_close(list->fd);
	free(list);
	return 0;
}
