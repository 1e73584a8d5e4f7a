/* SPDX-License-Identifier: Apache-2.0 */
/* The room that spools take: what there is, and what goes when it is too much. */
#include "index/store/spool_room.h"

#include "codecs/base/array.h"
#include "index/store/spool_format.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Other users of the disk keep so much of it. */
#define DISK_RESERVE (UINT64_C(64) << 20)

struct spool_file {
	char name[HF_FILE_NAME_SIZE];
	uint64_t size;
	int64_t used_ns;
};

struct spool_files {
	struct spool_file *file;
	size_t count;
	uint64_t bytes;
};

static bool ends_with(const char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

/* Published ones, and private ones that a killed process has left: those in the making are locked. */
static bool is_spool_name(const char *name)
{
	return strlen(name) < HF_FILE_NAME_SIZE &&
	       ((name[0] != '.' && ends_with(name, ".hfs")) || (name[0] == '.' && ends_with(name, ".hfs.part")));
}

static bool add(struct spool_files *files, const char *name, const struct stat *st)
{
	struct spool_file *f;

	if (hf_array_room(&files->file, files->count, sizeof *files->file))
		return false;
	f = &files->file[files->count++];
	memcpy(f->name, name, strlen(name) + 1);
	f->size = (uint64_t)st->st_size;
	f->used_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	files->bytes += f->size;
	return true;
}

static void list(int dirfd, const char *except, struct spool_files *files)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (is_spool_name(entry->d_name) && (!except || strcmp(entry->d_name, except) != 0) &&
		    fstatat(dirfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		    !add(files, entry->d_name, &st))
			break;
	closedir(dir);
}

static int by_age(const void *a, const void *b)
{
	const struct spool_file *x = a, *y = b;

	return (x->used_ns > y->used_ns) - (x->used_ns < y->used_ns);
}

static bool disk_has(int dirfd, uint64_t need)
{
	struct statvfs fs;

	return fstatvfs(dirfd, &fs) < 0 || (uint64_t)fs.f_bavail * fs.f_frsize >= need + DISK_RESERVE;
}

/* Removes a published spool; or a private one, if its lock is free. */
static bool drop(int dirfd, const struct spool_file *f)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
	int fd = openat(dirfd, f->name, (f->name[0] == '.' ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	bool ours;

	if (fd < 0)
		return false;
	ours = hf_spool_is_ours(fd, f->size) && (f->name[0] != '.' || fcntl(fd, F_OFD_SETLK, &range) == 0) &&
	       unlinkat(dirfd, f->name, 0) == 0;
	close(fd);
	return ours;
}

int hf_spool_make_room(int dirfd, const char *except, uint64_t have, uint64_t need, uint64_t limit)
{
	struct spool_files files = {0};
	bool enough = false;

	if (have + need > limit)
		return HF_ERR_LIMIT;
	list(dirfd, except, &files);
	if (files.count)
		qsort(files.file, files.count, sizeof *files.file, by_age);
	for (size_t i = 0;; i++) {
		enough = files.bytes + have + need <= limit && disk_has(dirfd, need);
		if (enough || i == files.count)
			break;
		if (drop(dirfd, &files.file[i]))
			files.bytes -= files.file[i].size;
	}
	free(files.file);
	return enough ? 0 : HF_ERR_LIMIT;
}

bool hf_spool_give_way(int dirfd)
{
	struct spool_files files = {0};
	bool dropped = false;

	list(dirfd, NULL, &files);
	if (files.count)
		qsort(files.file, files.count, sizeof *files.file, by_age);
	for (size_t i = 0; i < files.count && !dropped; i++)
		dropped = drop(dirfd, &files.file[i]);
	free(files.file);
	return dropped;
}

void hf_spool_count(int dirfd, uint64_t *ret_count, uint64_t *ret_bytes)
{
	struct spool_files files = {0};

	list(dirfd, NULL, &files);
	*ret_count = files.count;
	*ret_bytes = files.bytes;
	free(files.file);
}
