/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that some versions of musl do not declare, made from the kernel's headers. */
#ifndef HF_INDEX_LIBC_H
#define HF_INDEX_LIBC_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef STATX_TYPE
#include <linux/stat.h>

static inline int statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *ret_stx)
{
	return (int)syscall(SYS_statx, dirfd, path, flags, mask, ret_stx);
}
#endif

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1

static inline int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}
#endif

#ifndef CLOSE_RANGE_CLOEXEC
static inline int close_range(unsigned first, unsigned last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}
#endif

#if __has_include(<sys/pidfd.h>)
#include <sys/pidfd.h>
#else
static inline int pidfd_open(pid_t pid, unsigned flags)
{
	return (int)syscall(SYS_pidfd_open, pid, flags);
}
#endif

/* The text of the error, perhaps in buf: POSIX and GNU have different strerror_r. */
static inline const char *hf_libc_error(int errnum, char *buf, size_t size)
{
#ifdef __GLIBC__
	return strerror_r(errnum, buf, size);
#else
	return strerror_r(errnum, buf, size) ? "unknown error" : buf;
#endif
}

#endif
