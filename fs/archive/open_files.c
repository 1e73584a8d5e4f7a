/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/open_files.h"

#include "fs/archive/stamp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hf_open_file {
	struct hf_open_files *files;
	char *path;
	struct hf_stamp stamp;
	enum hf_open_file_kind kind;
	/* the files' lock */
	int fd;       /* -1: closed for others */
	unsigned pins;
	bool opening; /* a thread is at it */
	struct hf_link link; /* of the idle ones */
};

void hf_open_files_init(struct hf_open_files *files, const struct hf_archive *archive, size_t max)
{
	*files = (struct hf_open_files){.archive = archive, .max = max};
	hf_link_init(&files->unread);
	pthread_mutex_init(&files->lock, NULL);
	pthread_cond_init(&files->opened, NULL);
}

void hf_open_files_fini(struct hf_open_files *files)
{
	pthread_mutex_destroy(&files->lock);
	pthread_cond_destroy(&files->opened);
}

static void link_idle(struct hf_open_files *files, struct hf_open_file *file)
{
	hf_link_add(&files->unread, &file->link);
	files->idle++;
}

static void unlink_idle(struct hf_open_files *files, struct hf_open_file *file)
{
	hf_link_remove(&file->link);
	files->idle--;
}

/* Closes the oldest as long as there are more than max. With the lock held, which it leaves meanwhile. */
static size_t close_surplus(struct hf_open_files *files, size_t max)
{
	size_t count = 0;

	while (files->idle > max) {
		struct hf_open_file *oldest = HF_OWNER(files->unread.prev, struct hf_open_file, link);
		const int fd = oldest->fd;

		unlink_idle(files, oldest);
		oldest->fd = -1;
		pthread_mutex_unlock(&files->lock);
		close(fd);
		count++;
		pthread_mutex_lock(&files->lock);
	}
	return count;
}

size_t hf_open_files_shed(struct hf_open_files *files)
{
	HF_LOCKED(&files->lock);
	return close_surplus(files, 0);
}

int hf_open_file_new(struct hf_open_files *files, const char *path, int fd, const struct stat *st,
		     enum hf_open_file_kind kind, struct hf_open_file **ret_file)
{
	struct hf_open_file *file = calloc(1, sizeof *file);

	if (file)
		file->path = strdup(path);
	if (!file || !file->path) {
		free(file);
		close(fd);
		return HF_ERR_NOMEM;
	}
	file->files = files;
	file->stamp = hf_stamp_of(st);
	file->kind = kind;
	file->fd = fd;
	pthread_mutex_lock(&files->lock);
	link_idle(files, file);
	close_surplus(files, files->max);
	pthread_mutex_unlock(&files->lock);
	*ret_file = file;
	return 0;
}

void hf_open_file_free(struct hf_open_file *file)
{
	struct hf_open_files *files;

	if (!file)
		return;
	files = file->files;
	pthread_mutex_lock(&files->lock);
	if (file->fd >= 0)
		unlink_idle(files, file);
	pthread_mutex_unlock(&files->lock);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file);
}

static bool is_same(const struct hf_open_file *file, const struct stat *st)
{
	const struct hf_stamp now = hf_stamp_of(st);

	return file->kind == HF_OPEN_FILE_EXACT ? hf_stamp_same(&now, &file->stamp)
						: now.dev == file->stamp.dev && now.ino == file->stamp.ino;
}

static int open_again(const struct hf_open_file *file, int *ret_fd)
{
	struct stat st;
	int err = hf_archive_open_file(file->files->archive, file->path, ret_fd, &st);

	if (err)
		return err == HF_ERR_NOT_FOUND ? HF_ERR_CHANGED : err;
	if (is_same(file, &st))
		return 0;
	close(*ret_fd);
	return HF_ERR_CHANGED;
}

int hf_open_file_pin(struct hf_open_file *file, int *ret_fd)
{
	struct hf_open_files *files = file->files;
	int fd, err;

	pthread_mutex_lock(&files->lock);
	while (file->opening)
		pthread_cond_wait(&files->opened, &files->lock);
	if (file->fd >= 0) {
		if (!file->pins++)
			unlink_idle(files, file);
		*ret_fd = file->fd;
		pthread_mutex_unlock(&files->lock);
		return 0;
	}
	file->opening = true;
	pthread_mutex_unlock(&files->lock);
	err = open_again(file, &fd);
	pthread_mutex_lock(&files->lock);
	file->opening = false;
	pthread_cond_broadcast(&files->opened);
	if (!err) {
		*ret_fd = file->fd = fd;
		file->pins = 1;
	}
	pthread_mutex_unlock(&files->lock);
	return err;
}

void hf_open_file_unpin(struct hf_open_file *file)
{
	struct hf_open_files *files = file->files;

	HF_LOCKED(&files->lock);
	if (!--file->pins) {
		link_idle(files, file);
		close_surplus(files, files->max);
	}
}

/* ---- as a source ---- */

struct file_src {
	struct hf_src src;
	struct hf_open_file *file;
};

static int held_read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	struct hf_open_file *file = ((struct file_src *)src)->file;
	int fd, err;

	*ret_n = 0;
	if (offset >= src->size || !n)
		return 0;
	err = hf_open_file_pin(file, &fd);
	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, offset, 0);
	err = hf_src_file_read(fd, src->size, offset, buf, n, ret_n, diag);
	hf_open_file_unpin(file);
	return err;
}

static void held_free(struct hf_src *src)
{
	hf_open_file_free(((struct file_src *)src)->file);
	free(src);
}

static const struct hf_src_ops held_ops = {.read_at = held_read_at, .free = held_free};

int hf_open_file_as_src(struct hf_open_files *files, const char *path, struct stat *ret_st, struct hf_src **ret_src)
{
	struct file_src *src;
	int fd, err = hf_archive_open_file(files->archive, path, &fd, ret_st);

	*ret_src = NULL;
	if (err)
		return err;
	src = calloc(1, sizeof *src);
	if (!src) {
		close(fd);
		return HF_ERR_NOMEM;
	}
	src->src = (struct hf_src){
		.ops = &held_ops, .size = (uint64_t)ret_st->st_size, .stop = files->archive->stop};
	err = hf_open_file_new(files, path, fd, ret_st, HF_OPEN_FILE_EXACT, &src->file);
	if (err) {
		free(src);
		return err;
	}
	*ret_src = &src->src;
	return 0;
}
