/* SPDX-License-Identifier: Apache-2.0 */
#include "index/file.h"
#include "index/stand.h"

#include "codecs/base/bytes.h"
#include "index/fault.h"
#include "index/memdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

const struct hf_codec *const *hf_index_codecs = hf_codecs_all;

const struct hf_codec *hf_index_codec_named(const char *name)
{
	for (size_t i = 0; hf_index_codecs[i]; i++)
		if (hf_index_codecs[i]->dec && strcmp(hf_index_codecs[i]->name, name) == 0)
			return hf_index_codecs[i];
	return NULL;
}

static void add_text(uint8_t **p, const uint8_t *end, const char *text)
{
	size_t n = strlen(text) + 1;

	if (n <= (size_t)(end - *p)) {
		memcpy(*p, text, n);
		*p += n;
	}
}

/*
 * Versions of all decoders go in, not only of the one that will be used: which one that is shows only when the
 * capture is opened, and a capture nobody recognises may be recognised by a later version.
 */
void hf_idx_file_hex(const struct hf_identity *identity, char hex[HF_HEX_SIZE])
{
	uint8_t buf[2048], *p = buf;
	XXH128_hash_t hash;

	hf_put64(p, HF_SCHEMA_VERSION);
	hf_put64(p + 8, identity->size);
	hf_put64(p + 16, (uint64_t)identity->mtime_ns);
	hf_put64(p + 24, identity->print[0]);
	hf_put64(p + 32, identity->print[1]);
	p += 40;
	for (size_t i = 0; hf_index_codecs[i] && p < buf + sizeof buf - 8; i++) {
		if (!hf_index_codecs[i]->dec)
			continue;
		hf_put32(p, hf_index_codecs[i]->version);
		p += 4;
		add_text(&p, buf + sizeof buf - 8, hf_index_codecs[i]->name);
	}
	hash = XXH3_128bits(buf, (size_t)(p - buf));
	snprintf(hex, HF_HEX_SIZE, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

void hf_idx_file_name_index(const struct hf_identity *identity, char name[HF_FILE_NAME_SIZE])
{
	char hex[HF_HEX_SIZE];

	hf_idx_file_hex(identity, hex);
	snprintf(name, HF_FILE_NAME_SIZE, "%s.hfi", hex);
}

static XXH128_hash_t hash_key(const struct hf_view_key *key)
{
	XXH3_state_t *state = XXH3_createState();
	XXH128_hash_t hash = {0, 0};
	uint32_t version = key->ops->version;

	if (!state)
		return hash;
	XXH3_128bits_reset(state);
	XXH3_128bits_update(state, &version, sizeof version);
	XXH3_128bits_update(state, key->ops->view, strlen(key->ops->view) + 1);
	XXH3_128bits_update(state, key->params, strlen(key->params) + 1);
	hash = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	return hash;
}

int hf_idx_file_name_view(const struct hf_identity *identity, const struct hf_view_key *key, char name[HF_FILE_NAME_SIZE])
{
	char hex[HF_HEX_SIZE], view[96];
	XXH128_hash_t hash = hash_key(key);

	if (strlen(key->ops->view) >= sizeof view)
		return HF_ERR_LIMIT;
	snprintf(view, sizeof view, "%s", key->ops->view);
	for (char *s = view; *s; s++)
		if (*s == '/')
			*s = '_';
	hf_idx_file_hex(identity, hex);
	snprintf(name, HF_FILE_NAME_SIZE, "%s.%s.%016llx%016llx.hfv", hex, view, (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	return 0;
}

/* In a directory that only we can write to every file is ours; elsewhere it must belong to us or to root, and nobody else
 * may write to it. */
static bool trusted(int dirfd, const struct stat *st)
{
	struct stat dir;

	if (!S_ISREG(st->st_mode))
		return false;
	if ((st->st_uid == geteuid() || st->st_uid == 0) && !(st->st_mode & (S_IWGRP | S_IWOTH)))
		return true;
	return fstat(dirfd, &dir) == 0 && dir.st_uid == geteuid() && !(dir.st_mode & (S_IRWXG | S_IRWXO));
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

static int open_on_disk(int dirfd, const char *name, int *ret_fd)
{
	struct stat st;
	int fd, err;

	*ret_fd = -1;
	/* There is no directory. */
	if (dirfd < 0)
		return HF_ERR_NOT_FOUND;
	fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return open_error(dirfd, name, errno);
	err = fstat(fd, &st) < 0 ? hf_fault_set("opening", name, errno) : 0;
	if (!err && (!trusted(dirfd, &st) || hf_stand_is_condemned(&st)))
		err = HF_ERR_NOT_FOUND;
	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

int hf_idx_file_open(int dirfd, const char *name, int *ret_fd)
{
	bool own;
	struct hf_memdir *memdir = hf_memdir_of(dirfd, &own);
	int err = memdir ? hf_memdir_open(memdir, name, ret_fd) : HF_ERR_NOT_FOUND;

	if (err != HF_ERR_NOT_FOUND || (memdir && hf_memdir_hides(memdir, name)))
		return err;
	return open_on_disk(memdir ? hf_memdir_dirfd(memdir) : dirfd, name, ret_fd);
}

/* Of the file on disk that is open as fd. */
static void drop_on_disk(struct hf_memdir *memdir, int dirfd, const char *name, int fd)
{
	if (memdir && hf_memdir_keeps(memdir)) {
		if (hf_stand_is_named(dirfd, name, fd))
			hf_memdir_hide(memdir, name);
		return;
	}
	/* What can neither be read nor removed must not be met again. */
	if (hf_stand_remove_open(dirfd, name, fd) && memdir)
		hf_memdir_hide(memdir, name);
}

void hf_idx_file_drop_open(int dirfd, const char *name, int fd)
{
	bool own;
	struct hf_memdir *memdir = hf_memdir_of(dirfd, &own);

	if (memdir && hf_memdir_remove(memdir, name, fd))
		return;
	drop_on_disk(memdir, memdir ? hf_memdir_dirfd(memdir) : dirfd, name, fd);
}

void hf_idx_file_drop(int dirfd, const char *name)
{
	bool own;
	struct hf_memdir *memdir = hf_memdir_of(dirfd, &own);
	int fd;

	if (memdir) {
		hf_memdir_remove(memdir, name, -1);
		dirfd = hf_memdir_dirfd(memdir);
	}
	if (open_on_disk(dirfd, name, &fd) == HF_ERR_INDEX_DIR && memdir)
		hf_memdir_hide(memdir, name);
	if (fd >= 0) {
		drop_on_disk(memdir, dirfd, name, fd);
		close(fd);
	}
}

void hf_idx_file_hide(int dirfd, const char *name)
{
	bool own;
	struct hf_memdir *memdir = hf_memdir_of(dirfd, &own);

	if (memdir)
		hf_memdir_hide(memdir, name);
}

/* What is in the way of a private file is cleared away, or others remove it: so often that is gone through. */
enum { OPEN_TRIES = 100, AGAIN = 1 };

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
	return hf_stand_is_named(part->dirfd, part->part, part->fd);
}

void hf_part_remove(struct hf_part *part)
{
	/* Closing it lets go of one in memory. */
	if (part->memory)
		return;
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
	return trusted(part->dirfd, &st) ? 0 : hf_stand_remove(part->dirfd, journal);
}

/* With the lock: 0, or AGAIN if it was of no use and is gone. */
static int check_part(const struct hf_part *part)
{
	struct stat st;
	bool ours;
	int err = 0;

	if (fstat(part->fd, &st) < 0)
		return hf_fault_set("opening", part->part, errno);
	ours = trusted(part->dirfd, &st) && (!st.st_size || hf_stand_is_ours(part->fd, part->part, &err));
	/* One that cannot be read is ours by its name, owner and lock: who resumes it fails, who begins it anew does not. */
	if (ours || err == HF_ERR_INDEX_DIR)
		return check_journal(part);
	if (!err)
		err = hf_stand_remove(part->dirfd, part->part);
	return err ? err : AGAIN;
}

/* 0, or AGAIN: to be tried again. */
static int open_once(struct hf_part *part)
{
	struct stat st;
	int err;

	part->fd = openat(part->dirfd, part->part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (part->fd < 0 && errno != EISDIR && errno != ELOOP && errno != ENXIO && errno != ENODEV)
		return hf_fault_set("creating", part->part, errno);
	if (part->fd < 0 || fstat(part->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		err = hf_stand_remove(part->dirfd, part->part);
	} else {
		err = lock(part->fd);
		/* Whoever held the lock may have published or removed the file that we had opened. */
		if (!err)
			err = is_named(part) ? check_part(part) : (int)AGAIN;
		if (!err)
			return 0;
	}
	/* Not hf_part_close: without the lock an empty file is not ours to remove. */
	if (part->fd >= 0)
		close(part->fd);
	part->fd = -1;
	return err ? err : (int)AGAIN;
}

int hf_part_open(int dirfd, const char *name, struct hf_part *ret_part)
{
	struct hf_part *part = ret_part;
	struct hf_memdir *memdir;
	int err = AGAIN;
	bool own;

	*part = (struct hf_part){.dirfd = dirfd, .fd = -1};
	if (snprintf(part->name, sizeof part->name, "%s", name) + 6 >= (int)sizeof part->part)
		return HF_ERR_LIMIT;
	snprintf(part->part, sizeof part->part, ".%.*s.part", HF_FILE_NAME_SIZE - 7, name);
	memdir = hf_memdir_of(dirfd, &own);
	if (own) {
		part->memory = memdir;
		return hf_memdir_begin(memdir, part->name, &part->fd);
	}
	for (int tries = 0; err == AGAIN && tries < OPEN_TRIES; tries++)
		err = open_once(part);
	/* Others publish and remove it again and again. */
	return err == AGAIN ? HF_ERR_BUSY : err;
}

int hf_part_journaled(const struct hf_part *part)
{
	return part->memory ? -1 : part->fd;
}

int hf_part_count(const struct hf_part *part)
{
	return part->memory ? hf_memdir_count(part->memory, part->name) : 0;
}

void hf_part_close(struct hf_part *part)
{
	struct stat st;

	if (part->fd < 0)
		return;
	if (part->memory) {
		hf_memdir_end(part->memory, part->name);
		part->fd = -1;
		return;
	}
	/* Nothing to resume: no litter. The lock is still ours. */
	if (fstat(part->fd, &st) == 0 && st.st_size == 0 && st.st_nlink)
		hf_part_remove(part);
	close(part->fd);
	part->fd = -1;
}

int hf_part_reset(struct hf_part *part)
{
	if (!part->memory)
		remove_journal(part);
	return ftruncate(part->fd, 0) < 0 ? hf_fault_set("writing", part->part, errno) : 0;
}

int hf_part_publish(struct hf_part *part)
{
	struct hf_memdir *memdir;
	bool own;
	int err;

	if (part->memory)
		return hf_memdir_finish(part->memory, part->name);
	err = hf_stand_make_way(part->dirfd, part->name);
	if (err)
		return err;
	/* Only what was written here may get the name. */
	if (!is_named(part))
		return hf_fault_set("publishing", part->part, ENOENT);
	if (fsync(part->fd) < 0)
		return hf_fault_set("writing", part->part, errno);
	remove_journal(part);
	if (renameat(part->dirfd, part->part, part->dirfd, part->name) < 0)
		return hf_fault_set("publishing", part->name, errno);
	memdir = hf_memdir_of(part->dirfd, &own);
	if (memdir)
		hf_memdir_show(memdir, part->name);
	/* Not every file system can sync a directory; the name is there all the same. */
	fsync(part->dirfd);
	return 0;
}
