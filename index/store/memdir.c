/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/memdir.h"

#include "codecs/base/errors.h"
#include "index/base/fault.h"
#include "index/base/lock.h"
#include "index/store/disk_file.h"
#include "index/store/memory_file.h"
#include "index/store/spool_room.h"
#include "index/table/db.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A complete file, one being made, or both: somebody makes it anew. */
struct memfile {
	struct memfile *next;
	char name[HF_FILE_NAME_SIZE];
	int fd, making_fd;     /* -1: none */
	uint64_t bytes, making_bytes;
	bool hides;            /* the directory's own of that name */
	bool moving;           /* being copied to the directory */
};

struct hf_memdir {
	int dirfd;
	uint64_t limit;
	pthread_mutex_t lock;   /* from here on */
	struct memfile *files;
	uint64_t bytes;
	bool keep;
};

int hf_memdir_new(int dirfd, uint64_t limit, struct hf_memdir **ret_memdir)
{
	struct hf_memdir *memdir = calloc(1, sizeof *memdir);

	*ret_memdir = NULL;
	if (!memdir)
		return HF_ERR_NOMEM;
	memdir->dirfd = dirfd;
	memdir->limit = limit;
	pthread_mutex_init(&memdir->lock, NULL);
	*ret_memdir = memdir;
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void hf_memdir_free(struct hf_memdir *memdir)
{
	if (!memdir)
		return;
	for (struct memfile *f = memdir->files, *next; f; f = next) {
		next = f->next;
		close_fd(&f->fd);
		close_fd(&f->making_fd);
		free(f);
	}
	pthread_mutex_destroy(&memdir->lock);
	free(memdir);
}

void hf_memdir_get_stats(struct hf_memdir *memdir, struct hf_memdir_stats *ret_stats)
{
	HF_LOCKED(&memdir->lock);
	*ret_stats = (struct hf_memdir_stats){.limit = memdir->limit, .bytes = memdir->bytes};
	for (const struct memfile *f = memdir->files; f; f = f->next)
		ret_stats->files += f->fd >= 0;
}

/* With the lock held, as the static functions up to the next line of dashes. */
static struct memfile **find(struct hf_memdir *memdir, const char *name)
{
	struct memfile **at = &memdir->files;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

static struct memfile *get(struct hf_memdir *memdir, const char *name)
{
	struct memfile *f = *find(memdir, name);

	if (f)
		return f;
	f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	memcpy(f->name, name, strnlen(name, sizeof f->name - 1));
	f->fd = f->making_fd = -1;
	f->next = memdir->files;
	memdir->files = f;
	return f;
}

/* Lets go of what is of no use any more. */
static void tidy(struct hf_memdir *memdir, const char *name)
{
	struct memfile **at = find(memdir, name), *f = *at;

	if (!f || f->fd >= 0 || f->making_fd >= 0 || f->hides || f->moving)
		return;
	*at = f->next;
	free(f);
}

static bool is_same(int a, int b)
{
	struct stat x, y;

	return a >= 0 && fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

static void drop_complete(struct hf_memdir *memdir, struct memfile *f)
{
	memdir->bytes -= f->bytes;
	f->bytes = 0;
	close_fd(&f->fd);
}

/* ---- */

int hf_memdir_open(struct hf_memdir *memdir, const char *name, int *ret_fd)
{
	struct memfile *f;
	int err = HF_ERR_NOT_FOUND;

	*ret_fd = -1;
	HF_LOCKED(&memdir->lock);
	f = *find(memdir, name);
	if (f && f->fd >= 0) {
		*ret_fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
		err = *ret_fd < 0 ? hf_fault_set("opening", name, errno) : 0;
	}
	return err;
}

bool hf_memdir_hides(struct hf_memdir *memdir, const char *name)
{
	struct memfile *f;

	HF_LOCKED(&memdir->lock);
	f = *find(memdir, name);
	return f && f->hides;
}

void hf_memdir_hide(struct hf_memdir *memdir, const char *name)
{
	struct memfile *f;

	HF_LOCKED(&memdir->lock);
	f = get(memdir, name);
	if (f)
		f->hides = true;
}

void hf_memdir_keep(struct hf_memdir *memdir, bool keep)
{
	HF_LOCKED(&memdir->lock);
	memdir->keep = keep;
}

bool hf_memdir_keeps(struct hf_memdir *memdir)
{
	HF_LOCKED(&memdir->lock);
	return memdir->keep;
}

void hf_memdir_show(struct hf_memdir *memdir, const char *name)
{
	struct memfile *f;

	HF_LOCKED(&memdir->lock);
	f = *find(memdir, name);
	if (f) {
		f->hides = false;
		tidy(memdir, name);
	}
}

int hf_memdir_begin(struct hf_memdir *memdir, const char *name, int *ret_fd)
{
	struct memfile *f;
	int err = 0;

	*ret_fd = -1;
	HF_LOCKED(&memdir->lock);
	f = get(memdir, name);
	if (!f)
		err = HF_ERR_NOMEM;
	else if (f->making_fd >= 0)
		err = HF_ERR_BUSY;
	else if (memdir->bytes >= memdir->limit)
		err = hf_fault_set("keeping in memory", name, ENOSPC);
	else if ((f->making_fd = hf_memory_file_new()) < 0)
		err = hf_fault_set("keeping in memory", name, errno);
	else
		*ret_fd = f->making_fd;
	tidy(memdir, name);
	return err;
}

int hf_memdir_count(struct hf_memdir *memdir, const char *name)
{
	struct memfile *f;
	struct stat st;
	int err = HF_ERR_BUG;

	HF_LOCKED(&memdir->lock);
	f = *find(memdir, name);
	if (f && f->making_fd >= 0 && fstat(f->making_fd, &st) == 0) {
		memdir->bytes += (uint64_t)st.st_size - f->making_bytes;
		f->making_bytes = (uint64_t)st.st_size;
		err = memdir->bytes > memdir->limit ? hf_fault_set("keeping in memory", name, ENOSPC) : 0;
	}
	return err;
}

int hf_memdir_finish(struct hf_memdir *memdir, const char *name)
{
	struct memfile *f;
	int err = hf_memdir_count(memdir, name);

	if (err)
		return err;
	HF_LOCKED(&memdir->lock);
	f = *find(memdir, name);
	drop_complete(memdir, f);
	f->fd = f->making_fd;
	f->bytes = f->making_bytes;
	f->making_fd = -1;
	f->making_bytes = 0;
	return 0;
}

void hf_memdir_end(struct hf_memdir *memdir, const char *name)
{
	struct memfile *f;

	HF_LOCKED(&memdir->lock);
	f = *find(memdir, name);
	if (f) {
		memdir->bytes -= f->making_bytes;
		f->making_bytes = 0;
		close_fd(&f->making_fd);
		tidy(memdir, name);
	}
}

bool hf_memdir_remove(struct hf_memdir *memdir, const char *name, int fd)
{
	struct memfile *f;
	bool found;

	HF_LOCKED(&memdir->lock);
	f = *find(memdir, name);
	found = f && f->fd >= 0 && (fd < 0 || is_same(f->fd, fd));
	if (found) {
		drop_complete(memdir, f);
		tidy(memdir, name);
	}
	return found;
}

/* ---- moving to the directory ---- */

uint64_t hf_memdir_room(int dirfd)
{
	struct statvfs fs;

	if (fstatvfs(dirfd, &fs) < 0 || !fs.f_blocks)
		return UINT64_MAX;
	return (uint64_t)fs.f_bavail * fs.f_frsize;
}

static enum hf_db_kind kind_of(const char *name)
{
	const char *end = strrchr(name, '.');

	return end && strcmp(end, ".hfv") == 0	 ? HF_DB_VIEW
	       : end && strcmp(end, ".hfq") == 0 ? HF_DB_SUMMARY
						 : HF_DB_INDEX;
}

static int move(struct hf_memdir *memdir, const char *name, int fd)
{
	struct hf_part part;
	int err = hf_disk_part_open(&part, memdir->dirfd, NULL, name);

	if (err)
		return err;
	/* Whatever a build began there is less than what we have. */
	err = hf_disk_part_copy(&part, fd);
	if (!err)
		err = hf_disk_part_publish(&part);
	if (err)
		hf_disk_part_remove(&part);
	hf_disk_part_close(&part);
	return err;
}

/* The next file to be moved, which stays until end_move: view tables first. skip: so many of them. */
static struct memfile *next_to_move(struct hf_memdir *memdir, enum hf_db_kind kind, size_t skip, int *ret_fd,
				    uint64_t *ret_bytes)
{
	struct memfile *f;

	*ret_fd = -1;
	HF_LOCKED(&memdir->lock);
	for (f = memdir->files; f; f = f->next)
		if (f->fd >= 0 && kind_of(f->name) == kind && skip-- == 0)
			break;
	if (f) {
		f->moving = true;
		*ret_bytes = f->bytes;
		*ret_fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	}
	return f;
}

static void end_move(struct hf_memdir *memdir, struct memfile *f, int fd, bool moved)
{
	pthread_mutex_lock(&memdir->lock);
	f->moving = false;
	if (moved) {
		f->hides = false;
		/* Another one may have been made since. */
		if (is_same(f->fd, fd))
			drop_complete(memdir, f);
	}
	tidy(memdir, f->name);
	pthread_mutex_unlock(&memdir->lock);
	close(fd);
}

int hf_memdir_try(int dirfd)
{
	static const uint8_t zeros[512];
	struct hf_part part;
	int err = hf_disk_part_open(&part, dirfd, NULL, "try");

	if (err)
		return err;
	if (pwrite(part.fd, zeros, sizeof zeros, 0) != sizeof zeros || fsync(part.fd) < 0)
		err = hf_fault_set("writing", part.part, errno);
	hf_disk_part_remove(&part);
	hf_disk_part_close(&part);
	return err;
}

/* Whether it says nothing of other files. */
static bool is_of_one(int err)
{
	const struct hf_fault *fault = hf_fault_last();

	return err == HF_ERR_BUSY ||
	       (err == HF_ERR_INDEX_DIR && (hf_fault_is_room(fault) || hf_fault_is_of_file(fault)));
}

/* All of a kind; *err keeps the first error. False: there is no use in going on. */
static bool move_kind(struct hf_memdir *memdir, enum hf_db_kind kind, size_t *moved, int *err)
{
	size_t skip = 0;
	struct memfile *f;
	uint64_t bytes;
	int fd;

	while ((f = next_to_move(memdir, kind, skip, &fd, &bytes))) {
		int failed;

		if (fd < 0)
			failed = hf_fault_set("opening", f->name, errno);
		else if (bytes > hf_memdir_room(memdir->dirfd))
			failed = hf_fault_set("writing", f->name, ENOSPC);
		else
			failed = move(memdir, f->name, fd);
		end_move(memdir, f, fd, !failed);
		if (!failed) {
			(*moved)++;
			continue;
		}
		if (failed == HF_ERR_INDEX_DIR && hf_fault_is_room(hf_fault_last()) &&
		    hf_spool_give_way(memdir->dirfd))
			continue;
		*err = *err && *err != HF_ERR_BUSY ? *err : failed;
		skip++;
		if (!is_of_one(failed))
			return false;
	}
	return true;
}

int hf_memdir_publish(struct hf_memdir *memdir, size_t *ret_moved)
{
	int err = 0;

	*ret_moved = 0;
	if (move_kind(memdir, HF_DB_VIEW, ret_moved, &err) && move_kind(memdir, HF_DB_SUMMARY, ret_moved, &err))
		move_kind(memdir, HF_DB_INDEX, ret_moved, &err);
	return err;
}
