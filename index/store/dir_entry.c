/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/dir_entry.h"

#include "codecs/base/errors.h"
#include "index/base/fault.h"
#include "index/base/libc.h"
#include "index/base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int hf_dir_entry_remove(int dirfd, const char *name)
{
	struct stat st;
	const bool is_dir = fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);

	return unlinkat(dirfd, name, is_dir ? AT_REMOVEDIR : 0) == 0 || errno == ENOENT
		       ? 0
		       : hf_fault_set("removing", name, errno);
}

bool hf_dir_entry_is_named(int dirfd, const char *name, int fd)
{
	struct stat st, named;
	struct statx stx;

	/* A client of NFS believes for seconds that a name stands where another machine took it away, unless it asks the
	 * server for the directory. */
	statx(dirfd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &stx);
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
