/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/dir_entry.h"

#include "codecs/base/errors.h"
#include "index/base/fault.h"
#include "index/base/libc.h"
#include "index/base/lock.h"
#include "index/store/file_name.h"
#include "index/store/spool_format.h"
#include "index/table/db.h"
#include "index/table/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many pages are looked at for a right checksum. */
#define PAGES_LOOKED_AT 16

static int open_to_look(int dirfd, const char *name)
{
	return openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

static bool has_header(int fd, int *ret_err)
{
	for (int kind = HF_DB_INDEX; kind <= HF_DB_PACK; kind++)
		switch (hf_db_look(fd, (enum hf_db_kind)kind)) {
		case HF_LOOK_UNREADABLE:
			*ret_err = HF_ERR_INDEX_DIR;
			return false;
		case HF_LOOK_FOREIGN:
			break;
		default:
			return true;
		}
	return false;
}

/* Packs were no databases before schema 13. */
static bool is_old_pack(int fd)
{
	uint8_t magic[8];

	return hf_spool_read_at(fd, 0, magic, sizeof magic) == 0 && memcmp(magic, "HARTPACK", sizeof magic) == 0;
}

bool hf_dir_entry_is_ours(int fd, const char *name, int *ret_err)
{
	struct stat st;

	*ret_err = 0;
	if (fstat(fd, &st) < 0) {
		*ret_err = hf_fault_set("opening", name, errno);
		return false;
	}
	if (has_header(fd, ret_err) || (strstr(name, ".hfs") && hf_spool_is_ours(fd, (uint64_t)st.st_size)) ||
	    (strstr(name, ".hfp") && is_old_pack(fd)))
		return true;
	for (uint64_t i = 0; !*ret_err && i < PAGES_LOOKED_AT && (i + 1) * HF_PAGE_SIZE <= (uint64_t)st.st_size; i++) {
		int err = hf_vfs_verify_page(fd, i * HF_PAGE_SIZE);

		if (!err)
			return true;
		if (err != HF_ERR_STATE)
			*ret_err = err;
	}
	return false;
}

bool hf_dir_entry_is_aside(const char *name)
{
	const char *tail = strstr(name, HF_ASIDE_TAIL);

	return tail && tail[strlen(HF_ASIDE_TAIL)] >= '1' && tail[strlen(HF_ASIDE_TAIL)] <= '0' + HF_ASIDE_MAX &&
	       !tail[strlen(HF_ASIDE_TAIL) + 1];
}

/* Without replacing anything, as far as the file system can see to that. */
static int rename_to_free(int dirfd, const char *name, const char *to)
{
	struct stat st;

	if (renameat2(dirfd, name, dirfd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (fstatat(dirfd, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(dirfd, name, dirfd, to) < 0 ? errno : 0;
}

static int put_aside(int dirfd, const char *name, bool directory)
{
	char to[HF_FILE_NAME_SIZE + 16];
	int errnum = EEXIST;

	for (int n = 1; n <= HF_ASIDE_MAX && errnum == EEXIST; n++) {
		snprintf(to, sizeof to, "%s" HF_ASIDE_TAIL "%d", name, n);
		errnum = rename_to_free(dirfd, name, to);
	}
	if (errnum == EEXIST && !directory)
		errnum = unlinkat(dirfd, name, 0) < 0 ? errno : 0;
	return !errnum || errnum == ENOENT ? 0 : hf_fault_set("putting aside", name, errnum);
}

static int make_way_of_directory(int dirfd, const char *name)
{
	if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return errno == ENOTEMPTY || errno == EEXIST ? put_aside(dirfd, name, true)
						     : hf_fault_set("removing", name, errno);
}

int hf_dir_entry_make_way(int dirfd, const char *name)
{
	struct stat st;
	bool ours;
	int fd, err;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : hf_fault_set("opening", name, errno);
	if (S_ISDIR(st.st_mode))
		return make_way_of_directory(dirfd, name);
	if (!S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	fd = open_to_look(dirfd, name);
	if (fd < 0)
		return errno == ENOENT ? 0 : hf_fault_set("opening", name, errno);
	ours = hf_dir_entry_is_ours(fd, name, &err);
	close(fd);
	if (err)
		return err;
	return ours ? 0 : put_aside(dirfd, name, false);
}

int hf_dir_entry_remove(int dirfd, const char *name)
{
	int err = hf_dir_entry_make_way(dirfd, name);

	if (err)
		return err;
	return unlinkat(dirfd, name, 0) == 0 || errno == ENOENT ? 0 : hf_fault_set("removing", name, errno);
}

bool hf_dir_entry_is_named(int dirfd, const char *name, int fd)
{
	struct stat st, named;

	return fstat(fd, &st) == 0 && fstatat(dirfd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_dev == named.st_dev && st.st_ino == named.st_ino;
}

/* Damaged files that could not be removed, because the directory is read-only for example: the last so many. A file that is
 * forgotten is found damaged again. */
static struct {
	pthread_mutex_t lock;
	struct condemned {
		dev_t dev;
		ino_t ino;
		struct timespec ctim; /* mending it, or another one with its number, changes that */
	} file[256];
	size_t count;
} condemned = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void condemn(const struct stat *st)
{
	HF_LOCKED(&condemned.lock);
	condemned.file[condemned.count++ % (sizeof condemned.file / sizeof condemned.file[0])] =
		(struct condemned){.dev = st->st_dev, .ino = st->st_ino, .ctim = st->st_ctim};
}

bool hf_dir_entry_is_condemned(const struct stat *st)
{
	const size_t room = sizeof condemned.file / sizeof condemned.file[0];
	bool found = false;

	HF_LOCKED(&condemned.lock);
	for (size_t i = 0; i < condemned.count && i < room && !found; i++)
		found = condemned.file[i].dev == st->st_dev && condemned.file[i].ino == st->st_ino &&
			condemned.file[i].ctim.tv_sec == st->st_ctim.tv_sec &&
			condemned.file[i].ctim.tv_nsec == st->st_ctim.tv_nsec;
	return found;
}

int hf_dir_entry_remove_open(int dirfd, const char *name, int fd)
{
	struct stat st;
	int err = 0;

	/* Another one may have taken its place. */
	if (fstat(fd, &st) == 0 && hf_dir_entry_is_named(dirfd, name, fd))
		err = hf_dir_entry_remove(dirfd, name);
	if (err)
		condemn(&st);
	return err;
}
