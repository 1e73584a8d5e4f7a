/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/held.h"

#include "fs/archive/stamp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hf_held {
	struct hf_held_files *files;
	char *path;
	struct hf_stamp stamp;
	enum hf_held_kind kind;
	/* the files' lock */
	int fd;       /* -1: closed for others */
	unsigned pins;
	bool opening; /* a thread is at it */
	struct hf_link link; /* of the idle ones */
};

void hf_held_init(struct hf_held_files *files, const struct hf_archive *archive, size_t max)
{
	*files = (struct hf_held_files){.archive = archive, .max = max};
	hf_link_init(&files->unread);
	pthread_mutex_init(&files->lock, NULL);
	pthread_cond_init(&files->opened, NULL);
}

void hf_held_fini(struct hf_held_files *files)
{
	pthread_mutex_destroy(&files->lock);
	pthread_cond_destroy(&files->opened);
}

static void link_idle(struct hf_held_files *files, struct hf_held *held)
{
	hf_link_add(&files->unread, &held->link);
	files->idle++;
}

static void unlink_idle(struct hf_held_files *files, struct hf_held *held)
{
	hf_link_remove(&held->link);
	files->idle--;
}

/* Closes the oldest as long as there are more than max. With the lock held, which it leaves meanwhile. */
static size_t close_surplus(struct hf_held_files *files, size_t max)
{
	size_t count = 0;

	while (files->idle > max) {
		struct hf_held *oldest = HF_OWNER(files->unread.prev, struct hf_held, link);
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

size_t hf_held_shed(struct hf_held_files *files)
{
	HF_LOCKED(&files->lock);
	return close_surplus(files, 0);
}

int hf_held_new(struct hf_held_files *files, const char *path, int fd, const struct stat *st, enum hf_held_kind kind,
		struct hf_held **ret_held)
{
	struct hf_held *held = calloc(1, sizeof *held);

	if (held)
		held->path = strdup(path);
	if (!held || !held->path) {
		free(held);
		close(fd);
		return HF_ERR_NOMEM;
	}
	held->files = files;
	held->stamp = hf_stamp_of(st);
	held->kind = kind;
	held->fd = fd;
	pthread_mutex_lock(&files->lock);
	link_idle(files, held);
	close_surplus(files, files->max);
	pthread_mutex_unlock(&files->lock);
	*ret_held = held;
	return 0;
}

void hf_held_free(struct hf_held *held)
{
	struct hf_held_files *files;

	if (!held)
		return;
	files = held->files;
	pthread_mutex_lock(&files->lock);
	if (held->fd >= 0)
		unlink_idle(files, held);
	pthread_mutex_unlock(&files->lock);
	if (held->fd >= 0)
		close(held->fd);
	free(held->path);
	free(held);
}

static bool is_same(const struct hf_held *held, const struct stat *st)
{
	const struct hf_stamp now = hf_stamp_of(st);

	return held->kind == HF_HELD_EXACT ? hf_stamp_same(&now, &held->stamp)
					   : now.dev == held->stamp.dev && now.ino == held->stamp.ino;
}

static int open_again(const struct hf_held *held, int *ret_fd)
{
	struct stat st;
	int err = hf_archive_open_file(held->files->archive, held->path, ret_fd, &st);

	if (err)
		return err == HF_ERR_NOT_FOUND ? HF_ERR_CHANGED : err;
	if (is_same(held, &st))
		return 0;
	close(*ret_fd);
	return HF_ERR_CHANGED;
}

int hf_held_pin(struct hf_held *held, int *ret_fd)
{
	struct hf_held_files *files = held->files;
	int fd, err;

	pthread_mutex_lock(&files->lock);
	while (held->opening)
		pthread_cond_wait(&files->opened, &files->lock);
	if (held->fd >= 0) {
		if (!held->pins++)
			unlink_idle(files, held);
		*ret_fd = held->fd;
		pthread_mutex_unlock(&files->lock);
		return 0;
	}
	held->opening = true;
	pthread_mutex_unlock(&files->lock);
	err = open_again(held, &fd);
	pthread_mutex_lock(&files->lock);
	held->opening = false;
	pthread_cond_broadcast(&files->opened);
	if (!err) {
		*ret_fd = held->fd = fd;
		held->pins = 1;
	}
	pthread_mutex_unlock(&files->lock);
	return err;
}

void hf_held_unpin(struct hf_held *held)
{
	struct hf_held_files *files = held->files;

	HF_LOCKED(&files->lock);
	if (!--held->pins) {
		link_idle(files, held);
		close_surplus(files, files->max);
	}
}

/* ---- as a source ---- */

struct held_src {
	struct hf_src src;
	struct hf_held *held;
};

static int held_read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	struct hf_held *held = ((struct held_src *)src)->held;
	int fd, err;

	*ret_n = 0;
	if (offset >= src->size || !n)
		return 0;
	err = hf_held_pin(held, &fd);
	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, offset, 0);
	err = hf_src_file_read(fd, src->size, offset, buf, n, ret_n, diag);
	hf_held_unpin(held);
	return err;
}

static void held_free(struct hf_src *src)
{
	hf_held_free(((struct held_src *)src)->held);
	free(src);
}

static const struct hf_src_ops held_ops = {.read_at = held_read_at, .free = held_free};

int hf_held_open_src(struct hf_held_files *files, const char *path, struct stat *ret_st, struct hf_src **ret_src)
{
	struct held_src *src;
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
	err = hf_held_new(files, path, fd, ret_st, HF_HELD_EXACT, &src->held);
	if (err) {
		free(src);
		return err;
	}
	*ret_src = &src->src;
	return 0;
}
