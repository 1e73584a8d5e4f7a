/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of the archive that are in use for long and read now and then: the members of descriptions, files that somebody
 * has open. Not each of them has a descriptor all the time: those that nobody is reading have a bounded number of them
 * together, the file read longest ago loses its own first. It is opened again when it is read, and must then be the
 * same file. Thread-safe.
 */
#ifndef HF_FS_OPEN_FILES_H
#define HF_FS_OPEN_FILES_H

#include "codecs/source/source.h"
#include "fs/archive/archive.h"
#include "fs/base/list.h"
#include "index/base/lock.h"

struct hf_open_file;

/* lock is a leaf. */
struct hf_open_files {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	const struct hf_archive *archive;
	struct hf_link unread; /* open, and nobody is reading */
	size_t idle, max; /* idle: of these */
};

/* archive is borrowed. max: descriptors of files that nobody is reading. */
void hf_open_files_init(struct hf_open_files *files, const struct hf_archive *archive, size_t max);
/* All files must have been closed. */
void hf_open_files_fini(struct hf_open_files *files);
/* Closes the descriptors of all that nobody is reading. Returns how many those were. */
size_t hf_open_files_shed(struct hf_open_files *files);

enum hf_open_file_kind {
	HF_OPEN_FILE_EXACT, /* opened again it must have the size and time that it had */
	HF_OPEN_FILE_SAME,  /* it may have been written to: only the same file it must be */
};

/* The file at path, which was just opened as fd with that stat. fd is taken, also on failure (HF_ERR_NOMEM). */
int hf_open_file_new(struct hf_open_files *files, const char *path, int fd, const struct stat *st,
		     enum hf_open_file_kind kind, struct hf_open_file **ret_file);
void hf_open_file_free(struct hf_open_file *file);

/* A descriptor to read from, until hf_open_file_unpin. HF_ERR_CHANGED if another file stands at the path by now, or
 * none. */
int hf_open_file_pin(struct hf_open_file *file, int *ret_fd);
void hf_open_file_unpin(struct hf_open_file *file);

/* Opens the file at path, which must be a regular one, as a source. *ret_st: its stat. */
int hf_open_file_as_src(struct hf_open_files *files, const char *path, struct stat *ret_st, struct hf_src **ret_src);

#endif
