/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on open files. Those on descriptors of the machine go through. */
#include "tests/sim/calls.h"

#include "tests/sim/faults.h"
#include "tests/sim/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define BLOCK 4096
#define DISK_BLOCKS ((uint64_t)1 << 28)

int __real_close(int);
int __real_dup(int);
int __real_fcntl64(int, int, ...);
int __real_fstat64(int, struct stat64 *);
ssize_t __real_pread64(int, void *, size_t, off64_t);
ssize_t __real_pwrite64(int, const void *, size_t, off64_t);
ssize_t __real_write(int, const void *, size_t);
ssize_t __real_read(int, void *, size_t);
int __real_ftruncate64(int, off64_t);
int __real_fsync(int);
int __real_getrlimit64(__rlimit_resource_t, struct rlimit64 *);

int __wrap_close(int);
int __wrap_dup(int);
int __wrap_fcntl64(int, int, ...);
int __wrap_fstat64(int, struct stat64 *);
ssize_t __wrap_pread64(int, void *, size_t, off64_t);
ssize_t __wrap___pread64_chk(int, void *, size_t, off64_t, size_t);
ssize_t __wrap_pwrite64(int, const void *, size_t, off64_t);
ssize_t __wrap_write(int, const void *, size_t);
ssize_t __wrap_read(int, void *, size_t);
int __wrap_ftruncate64(int, off64_t);
int __wrap_fsync(int);
int __wrap_fstatvfs64(int, struct statvfs64 *);
int __wrap_getrlimit64(__rlimit_resource_t, struct rlimit64 *);
int __wrap_memfd_create(const char *, unsigned);
void sim_stat(const struct sim_inode *inode, struct stat64 *ret_st);

static int fails(int errnum)
{
	errno = errnum;
	return -1;
}

int __wrap_close(int fd)
{
	if (!sim_fd_is(fd))
		return __real_close(fd);
	sim_step("close", sim_fd_get(fd)->inode->name, (uint64_t)fd);
	return sim_fd_close(fd);
}

int __wrap_dup(int fd)
{
	if (!sim_fd_is(fd))
		return __real_dup(fd);
	sim_step("dup", sim_fd_get(fd)->inode->name, (uint64_t)fd);
	return sim_fd_dup(fd);
}

int __wrap_fcntl64(int fd, int command, ...)
{
	struct sim_open *open;
	struct flock *range;
	va_list args;

	va_start(args, command);
	range = va_arg(args, struct flock *);
	va_end(args);
	if (!sim_fd_is(fd))
		return __real_fcntl64(fd, command, range);
	open = sim_fd_get(fd);
	/* That of a published file says only that it is in use. */
	if (command == F_OFD_SETLK && range->l_type == F_RDLCK)
		return 0;
	sim_step("fcntl", open->inode->name, (uint64_t)command);
	if (command == F_DUPFD_CLOEXEC)
		return sim_fd_dup(fd);
	if (command != F_OFD_SETLK || range->l_type != F_WRLCK)
		sim_fail("the simulator does not know fcntl %d", command);
	if (open->inode->lock && open->inode->lock != open)
		return fails(EAGAIN);
	open->inode->lock = open;
	return 0;
}

void sim_stat(const struct sim_inode *inode, struct stat64 *ret_st)
{
	*ret_st = (struct stat64){
		.st_dev = 0x100u + inode->part,
		.st_ino = inode->number,
		.st_mode = inode->mode,
		.st_nlink = inode->links,
		.st_uid = inode->uid,
		.st_gid = inode->gid,
		.st_size = S_ISDIR(inode->mode) ? BLOCK : (off64_t)inode->now.n,
		.st_blksize = BLOCK,
		.st_blocks = (blkcnt_t)((inode->now.n + BLOCK - 1) / BLOCK * (BLOCK / 512)),
	};
	ret_st->st_mtim = (struct timespec){SIM_EPOCH_S + inode->mtime_ns / SECOND, inode->mtime_ns % SECOND};
	ret_st->st_ctim = (struct timespec){SIM_EPOCH_S + inode->ctime_ns / SECOND, inode->ctime_ns % SECOND};
	ret_st->st_atim = ret_st->st_mtim;
}

int __wrap_fstat64(int fd, struct stat64 *ret_st)
{
	const struct sim_inode *inode;
	int errnum;

	if (!sim_fd_is(fd))
		return __real_fstat64(fd, ret_st);
	inode = sim_fd_get(fd)->inode;
	sim_step("fstat", inode->name, (uint64_t)fd);
	errnum = sim_fault_strikes(SIM_STAT, inode, NULL);
	if (errnum)
		return fails(errnum);
	sim_stat(inode, ret_st);
	return 0;
}

ssize_t __wrap_pread64(int fd, void *buf, size_t n, off64_t offset)
{
	const struct sim_open *open;
	const struct sim_blob *blob;
	int errnum;

	if (!sim_fd_is(fd))
		return __real_pread64(fd, buf, n, offset);
	open = sim_fd_get(fd);
	blob = &open->inode->now;
	sim_step("pread", open->inode->name, (uint64_t)offset);
	if (S_ISDIR(open->inode->mode))
		return fails(EISDIR);
	if (open->flags & O_PATH || (open->flags & O_ACCMODE) == O_WRONLY)
		return fails(EBADF);
	errnum = sim_fault_strikes(SIM_READ, open->inode, &n);
	if (errnum)
		return fails(errnum);
	if ((uint64_t)offset >= blob->n)
		return 0;
	if (n > blob->n - (uint64_t)offset)
		n = blob->n - (size_t)offset;
	memcpy(buf, blob->p + offset, n);
	return (ssize_t)n;
}

ssize_t __wrap___pread64_chk(int fd, void *buf, size_t n, off64_t offset, size_t room)
{
	if (n > room)
		sim_fail("pread of more than there is room for");
	return __wrap_pread64(fd, buf, n, offset);
}

ssize_t __wrap_read(int fd, void *buf, size_t n)
{
	if (sim_fd_is(fd))
		sim_fail("the simulator does not know read");
	return __real_read(fd, buf, n);
}

/* How much of n bytes more there is room for. */
static size_t fit(const struct sim_inode *inode, size_t n, uint64_t offset)
{
	const uint64_t room = sim_disk_room[inode->part], used = room ? sim_disk_used(inode->part) : 0;
	const uint64_t end = inode->now.n + (room > used ? room - used : 0);

	if (!room || offset + n <= end)
		return n;
	return offset < end ? (size_t)(end - offset) : 0;
}

ssize_t __wrap_pwrite64(int fd, const void *buf, size_t n, off64_t offset)
{
	const struct sim_open *open;
	size_t room;
	int errnum;

	if (!sim_fd_is(fd))
		return __real_pwrite64(fd, buf, n, offset);
	open = sim_fd_get(fd);
	sim_step("pwrite", open->inode->name, (uint64_t)offset);
	if ((open->flags & O_ACCMODE) == O_RDONLY || open->inode->part == SIM_ARCHIVE)
		sim_fail("%s is written", open->inode->name);
	errnum = sim_fault_strikes(SIM_WRITE, open->inode, &n);
	room = fit(open->inode, n, (uint64_t)offset);
	if (errnum || (n && !room))
		return fails(errnum ? errnum : ENOSPC);
	sim_blob_write(&open->inode->now, buf, room, (uint64_t)offset);
	open->inode->dirty = true;
	open->inode->mtime_ns = open->inode->ctime_ns = sim_now_ns();
	return (ssize_t)room;
}

ssize_t __wrap_write(int fd, const void *buf, size_t n)
{
	struct sim_open *open;
	ssize_t done;

	if (!sim_fd_is(fd))
		return __real_write(fd, buf, n);
	open = sim_fd_get(fd);
	done = __wrap_pwrite64(fd, buf, n, (off64_t)open->at);
	if (done > 0)
		open->at += (uint64_t)done;
	return done;
}

int __wrap_ftruncate64(int fd, off64_t size)
{
	struct sim_inode *inode;
	int errnum;

	if (!sim_fd_is(fd))
		return __real_ftruncate64(fd, size);
	inode = sim_fd_get(fd)->inode;
	sim_step("ftruncate", inode->name, (uint64_t)size);
	if (inode->part == SIM_ARCHIVE)
		sim_fail("%s is truncated", inode->name);
	errnum = sim_fault_strikes(SIM_WRITE, inode, NULL);
	if (errnum)
		return fails(errnum);
	sim_blob_resize(&inode->now, (size_t)size);
	inode->dirty = true;
	inode->mtime_ns = inode->ctime_ns = sim_now_ns();
	return 0;
}

int __wrap_fsync(int fd)
{
	struct sim_inode *inode;
	int errnum;

	if (!sim_fd_is(fd))
		return __real_fsync(fd);
	inode = sim_fd_get(fd)->inode;
	sim_step("fsync", inode->name, (uint64_t)fd);
	errnum = sim_fault_strikes(SIM_SYNC, inode, NULL);
	if (errnum)
		return fails(errnum);
	sim_inode_sync(inode);
	return 0;
}

int __wrap_fstatvfs64(int fd, struct statvfs64 *ret_fs)
{
	const enum sim_part part = sim_fd_get(fd)->inode->part;
	const uint64_t used = sim_disk_used(part), room = sim_disk_room[part];

	sim_step("fstatvfs", NULL, (uint64_t)fd);
	*ret_fs = (struct statvfs64){.f_bsize = BLOCK, .f_frsize = BLOCK, .f_blocks = DISK_BLOCKS};
	ret_fs->f_bfree = !room ? DISK_BLOCKS : room > used ? (room - used) / BLOCK : 0;
	ret_fs->f_bavail = ret_fs->f_bfree;
	return 0;
}

int __wrap_getrlimit64(__rlimit_resource_t resource, struct rlimit64 *ret_limit)
{
	if (!sim_sched_is_on() || resource != RLIMIT_NOFILE)
		return __real_getrlimit64(resource, ret_limit);
	*ret_limit = (struct rlimit64){sim_faults.descriptors, sim_faults.descriptors};
	return 0;
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
	sim_step("memfd", name, flags);
	return sim_fd_new(sim_inode_new(SIM_MEMORY, S_IFREG | 0600, name), O_RDWR);
}
