/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/archive.h"

#include "codecs/base/errors.h"
#include "fs/archive/acl.h"
#include "index/base/libc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { NARROW_SLOTS = 1 << 15, NARROW_BITS = 0777 };

/* A file may change twice within a tick of its file system's clock: only what has rested so long is remembered. */
#define NARROW_REST_S 2

int hf_archive_init(struct hf_archive *archive, int fd, const struct hf_fs_place *skip, size_t skip_count)
{
	*archive = (struct hf_archive){.fd = fd, .skip_count = skip_count};
	if (getrandom(&archive->seed, sizeof archive->seed, GRND_NONBLOCK) == sizeof archive->seed)
		archive->narrow = calloc(NARROW_SLOTS, sizeof *archive->narrow);
	if (!skip_count)
		return 0;
	archive->skip = malloc(skip_count * sizeof *skip);
	if (!archive->skip) {
		hf_archive_fini(archive);
		return HF_ERR_NOMEM;
	}
	memcpy(archive->skip, skip, skip_count * sizeof *skip);
	return 0;
}

void hf_archive_fini(struct hf_archive *archive)
{
	if (archive->fd >= 0)
		close(archive->fd);
	free(archive->skip);
	free(archive->narrow);
	archive->skip = NULL;
	archive->narrow = NULL;
	archive->fd = -1;
}

int hf_archive_error(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP: /* a symbolic link in the path: not ours to follow */
	case EXDEV: /* RESOLVE_BENEATH: out of the archive */
		return HF_ERR_NOT_FOUND;
	case ENAMETOOLONG:
		return HF_ERR_PATH_LENGTH;
	case EACCES:
		return HF_ERR_DENIED;
	case ENOMEM:
		return HF_ERR_NOMEM;
	case EMFILE:
		return HF_ERR_FILES;
	case ENFILE:
		return HF_ERR_FILES_SYSTEM;
	case ESTALE:
		return HF_ERR_CHANGED;
	default:
		return HF_ERR_IO;
	}
}

/* One component after the other, for kernels and sandboxes without openat2. */
static int open_stepwise(int dirfd, const char *path, int flags)
{
	int at = dirfd, fd = -1;

	for (;;) {
		const char *slash = strchrnul(path, '/');
		size_t len = (size_t)(slash - path);
		char name[NAME_MAX + 1];

		if (!len || len > NAME_MAX || (len == 2 && path[0] == '.' && path[1] == '.')) {
			errno = len > NAME_MAX ? ENAMETOOLONG : ENOENT;
			fd = -1;
		} else {
			memcpy(name, path, len);
			name[len] = '\0';
			fd = openat(at, name, *slash ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC : flags);
		}
		if (at != dirfd) {
			int saved = errno;

			close(at);
			errno = saved;
		}
		if (fd < 0 || !*slash)
			return fd;
		at = fd;
		path = slash + 1;
	}
}

static int try_open(int dirfd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_NOFOLLOW | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	if (!*path)
		path = ".";
	/* EAGAIN: something was renamed while the kernel made sure that the path stays beneath. */
	for (int tries = 0; tries < 8; tries++) {
		fd = syscall(SYS_openat2, dirfd, path, &how, sizeof how);
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open_stepwise(dirfd, path, flags | O_NOFOLLOW | O_CLOEXEC);
	return (int)fd;
}

static int open_beneath(const struct hf_archive *archive, const char *path, int flags)
{
	for (unsigned tries = 1;; tries++) {
		int fd = try_open(archive->fd, path, flags), errnum = errno;

		if (fd >= 0 || !archive->make_room || !hf_err_is_shortage(hf_archive_error(errnum)) ||
		    !archive->make_room(archive->ctx, tries, errnum)) {
			errno = errnum;
			return fd;
		}
	}
}

/*
 * Whether dirfd/name (or dirfd itself, name "") is one of the skipped places. Asked in a way that a file system
 * answers from what it knows: a real stat of our own mount's root would wait for ourselves.
 */
static bool skipped(const struct hf_archive *archive, int dirfd, const char *name)
{
	struct statx stx;

	if (!archive->skip_count)
		return false;
	if (statx(dirfd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		  STATX_INO | STATX_TYPE, &stx))
		return false;
	for (size_t i = 0; i < archive->skip_count; i++)
		if ((!archive->skip[i].ino || archive->skip[i].ino == stx.stx_ino) &&
		    archive->skip[i].dev == makedev(stx.stx_dev_major, stx.stx_dev_minor))
			return true;
	return false;
}

/*
 * What access lists leave was remembered as the bits of a mode that stay, beside the upper bits of a hash of the file
 * and the time of its last change, which a new list or mode makes another one.
 */
static uint64_t narrow_key(const struct hf_archive *archive, const struct stat *st, _Atomic uint64_t **ret_slot)
{
	const uint64_t words[4] = {st->st_dev, st->st_ino, (uint64_t)st->st_ctim.tv_sec, (uint64_t)st->st_ctim.tv_nsec};
	const XXH128_hash_t hash = XXH3_128bits_withSeed(words, sizeof words, archive->seed);

	*ret_slot = &archive->narrow[hash.high64 % NARROW_SLOTS];
	return hash.low64 & ~(uint64_t)NARROW_BITS;
}

/* Whether no list can take anything away. */
static bool is_narrow(const struct stat *st)
{
	return S_ISLNK(st->st_mode) || !(st->st_mode & 0077);
}

static bool narrow_known(const struct hf_archive *archive, struct stat *st)
{
	_Atomic uint64_t *slot;
	uint64_t key, value;

	if (!archive->narrow)
		return false;
	key = narrow_key(archive, st, &slot);
	value = atomic_load_explicit(slot, memory_order_relaxed);
	if ((value & ~(uint64_t)NARROW_BITS) != key)
		return false;
	st->st_mode &= ~(mode_t)NARROW_BITS | (mode_t)(value & NARROW_BITS);
	return true;
}

static void narrow_by_list(const struct hf_archive *archive, int fd, struct stat *st)
{
	_Atomic uint64_t *slot;
	struct timespec now;
	struct stat then;
	uint64_t key;

	st->st_mode = hf_acl_narrow_fd(fd, st->st_mode);
	/* A list taken off meanwhile leaves its mask in a mode that was read before. */
	if (fstat(fd, &then) || then.st_ctim.tv_sec != st->st_ctim.tv_sec ||
	    then.st_ctim.tv_nsec != st->st_ctim.tv_nsec) {
		st->st_mode &= ~(mode_t)0077;
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	if (!archive->narrow || now.tv_sec - st->st_ctim.tv_sec <= NARROW_REST_S)
		return;
	key = narrow_key(archive, st, &slot);
	atomic_store_explicit(slot, key | (st->st_mode & NARROW_BITS), memory_order_relaxed);
}

int hf_archive_stat_at(const struct hf_archive *archive, int dirfd, const char *name, struct stat *ret_st)
{
	int fd, err = 0;

	if (skipped(archive, dirfd, name))
		return HF_ERR_NOT_FOUND;
	if (fstatat(dirfd, name, ret_st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT))
		return hf_archive_error(errno);
	if (is_narrow(ret_st) || narrow_known(archive, ret_st))
		return 0;
	if (!*name) {
		narrow_by_list(archive, dirfd, ret_st);
		return 0;
	}
	/* Its mode and its list must be those of the same file. */
	fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return hf_archive_error(errno);
	if (fstat(fd, ret_st))
		err = hf_archive_error(errno);
	else if (!is_narrow(ret_st))
		narrow_by_list(archive, fd, ret_st);
	close(fd);
	return err;
}

int hf_archive_stat(const struct hf_archive *archive, const char *path, struct stat *ret_st)
{
	int fd = open_beneath(archive, path, O_PATH);
	int err;

	if (fd < 0)
		return hf_archive_error(errno);
	err = hf_archive_stat_at(archive, fd, "", ret_st);
	close(fd);
	return err;
}

int hf_archive_open_file(const struct hf_archive *archive, const char *path, int *ret_fd, struct stat *ret_st)
{
	int err = hf_archive_stat(archive, path, ret_st);
	int fd;

	if (err)
		return err;
	if (!S_ISREG(ret_st->st_mode))
		return HF_ERR_NOT_FOUND;
	fd = open_beneath(archive, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return hf_archive_error(errno);
	if (fstat(fd, ret_st))
		err = hf_archive_error(errno);
	else if (!S_ISREG(ret_st->st_mode))
		err = HF_ERR_CHANGED;
	if (err) {
		close(fd);
		return err;
	}
	if (!is_narrow(ret_st) && !narrow_known(archive, ret_st))
		narrow_by_list(archive, fd, ret_st);
	*ret_fd = fd;
	return 0;
}

int hf_archive_source(const struct hf_archive *archive, int fd, struct hf_src **ret_src, struct hf_diag *diag)
{
	int err = hf_src_file_new(fd, ret_src, diag);

	if (!err)
		(*ret_src)->stop = archive->stop;
	return err;
}

int hf_archive_open_dir(const struct hf_archive *archive, const char *path, int *ret_fd)
{
	int fd = open_beneath(archive, path, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return hf_archive_error(errno);
	if (skipped(archive, fd, "")) {
		close(fd);
		return HF_ERR_NOT_FOUND;
	}
	*ret_fd = fd;
	return 0;
}

/* 0: it vanished, or is skipped. */
static mode_t type_of(const struct hf_archive *archive, int dirfd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN && (entry->d_type != DT_DIR || !archive->skip_count))
		return DTTOIF(entry->d_type);
	return hf_archive_stat_at(archive, dirfd, entry->d_name, &st) ? 0 : st.st_mode & S_IFMT;
}

int hf_archive_list(const struct hf_archive *archive, int dirfd, int (*fn)(void *ctx, const char *name, mode_t type),
		    void *ctx)
{
	const int fd = dup(dirfd);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!stream) {
		err = hf_archive_error(errno);
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (errno = 0, entry = readdir(stream))) {
		const bool dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
		const mode_t type = dots ? 0 : type_of(archive, dirfd, entry);

		if (type)
			err = fn(ctx, entry->d_name, type);
	}
	if (!err && errno)
		err = hf_archive_error(errno);
	closedir(stream);
	return err;
}

int hf_archive_readlink(const struct hf_archive *archive, const char *path, char *buf, size_t size)
{
	int fd = open_beneath(archive, path, O_PATH);
	ssize_t n;
	int err = 0;

	if (fd < 0)
		return hf_archive_error(errno);
	n = readlinkat(fd, "", buf, size);
	if (n < 0)
		err = hf_archive_error(errno);
	else if ((size_t)n >= size)
		err = HF_ERR_LIMIT;
	else
		buf[n] = '\0';
	close(fd);
	return err;
}

int hf_archive_pread(int fd, uint8_t *bytes, size_t size, uint64_t offset, size_t *ret_n)
{
	*ret_n = 0;
	/* No file is as long as the largest offset. */
	while (*ret_n < size && offset <= INT64_MAX - size) {
		ssize_t n = pread(fd, bytes + *ret_n, size - *ret_n, (off_t)(offset + *ret_n));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hf_archive_error(errno);
		if (!n)
			break;
		*ret_n += (size_t)n;
	}
	return 0;
}
