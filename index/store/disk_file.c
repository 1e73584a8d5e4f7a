/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/disk_file.h"

#include "codecs/base/errors.h"
#include "index/base/fault.h"
#include "index/base/libc.h"
#include "index/store/dir_entry.h"
#include "index/table/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a trusted group, and nobody else, writes to this directory. */
static bool is_the_groups(const struct hf_sharing *sharing, const struct stat *dir)
{
	return sharing->trust && dir->st_gid == sharing->trusted && !(dir->st_mode & S_IWOTH);
}

/*
 * In a directory that only we can write to every file is ours. Elsewhere it must belong to us or to root, and nobody else
 * may write to it. Of a trusted group are files that have it and that their owners alone may write to, in a directory
 * that has it and that none but its members may write to: elsewhere a setgid directory gives its group to anybody's.
 */
static bool trusted(int dirfd, const struct hf_sharing *sharing, const struct stat *st)
{
	const bool owners_alone = !(st->st_mode & (S_IWGRP | S_IWOTH));
	struct stat dir;

	if (!S_ISREG(st->st_mode))
		return false;
	if ((st->st_uid == geteuid() || st->st_uid == 0) && owners_alone)
		return true;
	if (fstat(dirfd, &dir) < 0)
		return false;
	if (dir.st_uid == geteuid() && !(dir.st_mode & (S_IRWXG | S_IRWXO)))
		return true;
	return sharing && is_the_groups(sharing, &dir) && st->st_gid == sharing->trusted && owners_alone;
}

/* What another user's file says is of no use, whether we may look into it or not; that we may not look into our own says
 * nothing about it. */
static bool is_of_others(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid != geteuid();
}

static int open_error(int dirfd, const char *name, int errnum)
{
	switch (errnum) {
	case EACCES:
	case EPERM:
		return is_of_others(dirfd, name) ? HF_ERR_NOT_FOUND : hf_fault_set("opening", name, errnum);
	case ENOENT:
	case ELOOP: /* a symbolic link */
	case ENXIO: /* a socket, or a device without a driver */
	case ENODEV:
		return HF_ERR_NOT_FOUND;
	default:
		return hf_fault_set("opening", name, errnum);
	}
}

struct flock hf_disk_use_lock(short type)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1};
}

/* look: its time of use stays, if it is ours. */
static int open_published(int dirfd, const struct hf_sharing *sharing, const char *name, bool look, int *ret_fd)
{
	struct stat st;
	int fd, err;

	*ret_fd = -1;
	/* There is no directory. */
	if (dirfd < 0)
		return HF_ERR_NOT_FOUND;
	fd = look ? openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOATIME) : -1;
	if (!look || (fd < 0 && errno == EPERM))
		fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return open_error(dirfd, name, errno);
	err = fstat(fd, &st) < 0 ? hf_fault_set("opening", name, errno) : 0;
	if (!err && (!trusted(dirfd, sharing, &st) || hf_dir_entry_is_condemned(&st)))
		err = HF_ERR_NOT_FOUND;
	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

int hf_disk_file_open(int dirfd, const struct hf_sharing *sharing, const char *name, int *ret_fd)
{
	struct flock use = hf_disk_use_lock(F_RDLCK);
	const int err = open_published(dirfd, sharing, name, false, ret_fd);

	/* Where there are no locks, nobody has a limit. */
	if (!err)
		fcntl(*ret_fd, F_OFD_SETLK, &use);
	return err;
}

int hf_disk_file_look(int dirfd, const struct hf_sharing *sharing, const char *name, int *ret_fd)
{
	return open_published(dirfd, sharing, name, true, ret_fd);
}

/* What is in the way of a private file is cleared away, or others remove it: so often that is gone through. */
enum { OPEN_TRIES = 100, AGAIN = 1 };

enum { COPY_SIZE = 256 << 10 };

/* A lock of the open file, not of the process: it holds against other threads too, and ends with its holder. */
static int lock(int fd)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};

	if (fcntl(fd, F_OFD_SETLK, &range) == 0)
		return 0;
	return errno == EAGAIN || errno == EACCES ? HF_ERR_BUSY : hf_fault_set_fd("locking", fd, errno);
}

static void journal_name(const struct hf_part *part, char journal[HF_FILE_NAME_SIZE + 16])
{
	snprintf(journal, HF_FILE_NAME_SIZE + 16, "%s-journal", part->part);
}

static void remove_journal(const struct hf_part *part)
{
	char journal[HF_FILE_NAME_SIZE + 16];

	journal_name(part, journal);
	unlinkat(part->dirfd, journal, 0);
}

/* Whether the private file's name still stands for the file that is open. */
static bool is_named(const struct hf_part *part)
{
	return hf_dir_entry_is_named(part->dirfd, part->part, part->fd);
}

void hf_disk_part_remove(const struct hf_part *part)
{
	remove_journal(part);
	if (is_named(part))
		unlinkat(part->dirfd, part->part, 0);
}

/* A journal is believed when it is rolled back: it must be one that only we can have written. */
static int check_journal(const struct hf_part *part)
{
	char journal[HF_FILE_NAME_SIZE + 16];
	struct stat st;

	journal_name(part, journal);
	if (fstatat(part->dirfd, journal, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : hf_fault_set("opening", journal, errno);
	return trusted(part->dirfd, NULL, &st) ? 0 : hf_dir_entry_remove(part->dirfd, journal);
}

/* With the lock: 0, or AGAIN if it was of no use and is gone. */
static int check_part(const struct hf_part *part)
{
	struct stat st;
	int err;

	if (fstat(part->fd, &st) < 0)
		return hf_fault_set("opening", part->part, errno);
	if (trusted(part->dirfd, NULL, &st))
		return check_journal(part);
	err = hf_dir_entry_remove(part->dirfd, part->part);
	return err ? err : AGAIN;
}

bool hf_disk_part_is_left(int dirfd, const char *name)
{
	struct flock range = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
	const int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	const bool left = fd >= 0 && fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type == F_UNLCK;

	if (fd >= 0)
		close(fd);
	return left;
}

/* Another user's file has the name: it goes if nobody works on it any more, else ours gets another name. */
static int evade(struct hf_part *part)
{
	const int n = (int)strlen(part->name);

	if (hf_disk_part_is_left(part->dirfd, part->part) && unlinkat(part->dirfd, part->part, 0) == 0)
		return AGAIN;
	if (snprintf(part->part, sizeof part->part, ".%.*s.%u.part", n, part->name, (unsigned)geteuid()) >=
	    (int)sizeof part->part)
		return HF_ERR_LIMIT;
	return AGAIN;
}

/* 0, or AGAIN: to be tried again. */
static int open_once(struct hf_part *part)
{
	const mode_t mode = part->sharing.publish ? 0640 : 0600;
	struct stat st;
	int err, why;

	part->fd = openat(part->dirfd, part->part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
	why = part->fd < 0 ? errno : 0;
	if ((why == EACCES || why == EPERM) && is_of_others(part->dirfd, part->part))
		return evade(part);
	if (why && why != EISDIR && why != ELOOP && why != ENXIO && why != ENODEV)
		return hf_fault_set("creating", part->part, why);
	if (part->fd < 0 || fstat(part->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		err = hf_dir_entry_remove(part->dirfd, part->part);
		if (err && is_of_others(part->dirfd, part->part))
			err = evade(part);
	} else {
		err = lock(part->fd);
		/* Whoever held the lock may have published or removed the file that we had opened. */
		if (!err)
			err = is_named(part) ? check_part(part) : (int)AGAIN;
		if (!err)
			return 0;
	}
	/* Not hf_disk_part_close: without the lock an empty file is not ours to remove. */
	if (part->fd >= 0)
		close(part->fd);
	part->fd = -1;
	return err ? err : (int)AGAIN;
}

int hf_part_name(struct hf_part *part, int dirfd, const char *name)
{
	*part = (struct hf_part){.dirfd = dirfd, .fd = -1};
	if (snprintf(part->name, sizeof part->name, "%s", name) + 6 >= (int)sizeof part->part)
		return HF_ERR_LIMIT;
	snprintf(part->part, sizeof part->part, ".%.*s.part", HF_FILE_NAME_SIZE - 7, name);
	return 0;
}

int hf_disk_part_open(struct hf_part *part, int dirfd, const struct hf_sharing *sharing, const char *name)
{
	int err = hf_part_name(part, dirfd, name) ? HF_ERR_LIMIT : (int)AGAIN;

	if (sharing)
		part->sharing = *sharing;
	for (int tries = 0; err == AGAIN && tries < OPEN_TRIES; tries++)
		err = open_once(part);
	if (!err && fstatat(dirfd, name, &part->before, AT_SYMLINK_NOFOLLOW) < 0)
		part->before = (struct stat){.st_ino = 0};
	/* Others publish and remove it again and again. */
	return err == AGAIN ? HF_ERR_BUSY : err;
}

void hf_disk_part_close(struct hf_part *part)
{
	struct stat st;

	/* Nothing to resume: no litter. The lock is still ours. */
	if (fstat(part->fd, &st) == 0 && st.st_size == 0 && st.st_nlink)
		hf_disk_part_remove(part);
	close(part->fd);
	part->fd = -1;
}

int hf_disk_part_reset(const struct hf_part *part)
{
	remove_journal(part);
	return ftruncate(part->fd, 0) < 0 ? hf_fault_set("writing", part->part, errno) : 0;
}

static int copy(int from, int to, const char *name)
{
	uint8_t *buf = malloc(COPY_SIZE);
	off_t at = 0;
	int err = buf ? 0 : HF_ERR_NOMEM;

	while (!err) {
		ssize_t n = pread(from, buf, COPY_SIZE, at);

		if (n <= 0)
			break;
		for (ssize_t done = 0; done < n && !err;) {
			ssize_t r = pwrite(to, buf + done, (size_t)(n - done), at + done);

			if (r < 0 && errno != EINTR)
				err = hf_fault_set("writing", name, errno);
			done += r > 0 ? r : 0;
		}
		at += n;
	}
	free(buf);
	return err;
}

int hf_disk_part_copy(const struct hf_part *part, int from)
{
	int err = hf_disk_part_reset(part);

	if (!err)
		err = copy(from, part->fd, part->part);
	/* Where reading is what fails it would soon be back. */
	return err ? err : hf_vfs_verify(part->fd);
}

/* Where several users write who do not trust each other it stays: each would remove the others' without end. */
static bool is_another_users(const struct hf_part *part, const struct stat *st)
{
	struct stat dir;

	return S_ISREG(st->st_mode) && st->st_uid != geteuid() && fstat(part->dirfd, &dir) == 0 &&
	       (dir.st_mode & (S_IWGRP | S_IWOTH)) && !is_the_groups(&part->sharing, &dir);
}

/* What stood under the name when this was begun was of no use, and goes, unless it is to be replaced. HF_NOTE_END:
 * another one is there since. */
static int make_way(const struct hf_part *part)
{
	struct stat st;

	if (fstatat(part->dirfd, part->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : hf_fault_set("publishing", part->name, errno);
	if (is_another_users(part, &st)) {
		unlinkat(part->dirfd, part->part, 0);
		return hf_fault_set("publishing", part->name, EEXIST);
	}
	if (st.st_ino != part->before.st_ino || st.st_dev != part->before.st_dev)
		return HF_NOTE_END;
	return part->replaces && S_ISREG(st.st_mode) ? 0 : hf_dir_entry_remove(part->dirfd, part->name);
}

/* No file with a name is replaced: who has it open, on whatever machine, keeps it. A file system that cannot see to
 * that leaves a moment in which one may be; link() would not, but is closed to a confined process. A catalogue is
 * replaced, for a kill between two calls would take the old one away. */
static int give_name(const struct hf_part *part)
{
	int err = 0;

	while (!err && renameat2(part->dirfd, part->part, part->dirfd, part->name, RENAME_NOREPLACE) < 0) {
		const bool cannot = errno == EINVAL || errno == ENOSYS || (errno == EEXIST && part->replaces);

		if (!cannot && errno != EEXIST)
			return hf_fault_set("publishing", part->name, errno);
		err = make_way(part);
		if (!err && cannot)
			return renameat(part->dirfd, part->part, part->dirfd, part->name) < 0
				       ? hf_fault_set("publishing", part->name, errno)
				       : 0;
	}
	/* What another one made meanwhile is as good. */
	if (err > 0)
		unlinkat(part->dirfd, part->part, 0);
	return err < 0 ? err : 0;
}

int hf_disk_part_publish(const struct hf_part *part)
{
	int err;

	/* Only what was written here may get the name. */
	if (!is_named(part))
		return hf_fault_set("publishing", part->part, ENOENT);
	if (fsync(part->fd) < 0)
		return hf_fault_set("writing", part->part, errno);
	remove_journal(part);
	err = give_name(part);
	if (err)
		return err;
	/* Not every file system can sync a directory; the name is there all the same. */
	fsync(part->dirfd);
	return 0;
}
