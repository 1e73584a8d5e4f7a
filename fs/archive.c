#include "fs/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int hf_archive_init(struct hf_archive *archive, int fd, const struct hf_fs_place *skip, size_t skip_count)
{
	*archive = (struct hf_archive){.fd = fd, .skip_count = skip_count};
	if (!skip_count)
		return 0;
	archive->skip = malloc(skip_count * sizeof *skip);
	if (!archive->skip) {
		close(fd);
		archive->fd = -1;
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
	archive->skip = NULL;
	archive->fd = -1;
}

int hf_archive_error(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP: /* a symbolic link in the path: not ours to follow */
	case EXDEV: /* RESOLVE_BENEATH: out of the archive */
	case ENAMETOOLONG:
		return HF_ERR_NOT_FOUND;
	case ENOMEM:
		return HF_ERR_NOMEM;
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

static int open_beneath(int dirfd, const char *path, int flags)
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
		if (archive->skip[i].ino == stx.stx_ino &&
		    archive->skip[i].dev == makedev(stx.stx_dev_major, stx.stx_dev_minor))
			return true;
	return false;
}

int hf_archive_stat_at(const struct hf_archive *archive, int dirfd, const char *name, struct stat *ret_st)
{
	if (skipped(archive, dirfd, name))
		return HF_ERR_NOT_FOUND;
	if (fstatat(dirfd, name, ret_st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT))
		return hf_archive_error(errno);
	return 0;
}

int hf_archive_stat(const struct hf_archive *archive, const char *path, struct stat *ret_st)
{
	int fd = open_beneath(archive->fd, path, O_PATH);
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
	fd = open_beneath(archive->fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return hf_archive_error(errno);
	if (fstat(fd, ret_st) || !S_ISREG(ret_st->st_mode)) {
		close(fd);
		return HF_ERR_CHANGED;
	}
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
	int fd = open_beneath(archive->fd, path, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return hf_archive_error(errno);
	if (skipped(archive, fd, "")) {
		close(fd);
		return HF_ERR_NOT_FOUND;
	}
	*ret_fd = fd;
	return 0;
}

int hf_archive_readlink(const struct hf_archive *archive, const char *path, char *buf, size_t size)
{
	int fd = open_beneath(archive->fd, path, O_PATH);
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
