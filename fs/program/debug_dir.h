/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory outside the archive that --debug-dir names: files in it may name the places of every capture, and what
 * lies in its .build-id is found by build id. What fewer may read than the directory itself is not used, so that only
 * the directory and those above it say who may read the views.
 */
#ifndef HF_FS_DEBUG_DIR_H
#define HF_FS_DEBUG_DIR_H

#include "fs/archive/open_files.h"
#include "fs/program/debug_file.h"
#include "fs/stream/elf_nearby.h"

struct hf_debug_dir {
	char *path;		   /* in messages; NULL: there is no such directory, and the rest is nothing */
	struct hf_archive archive; /* its descriptor is borrowed */
	struct hf_open_files open_files;
	struct hf_access above; /* of the directories above it, when it was opened */
	pthread_mutex_t lock;
	/* The lock's: what there was at that time. */
	int64_t looked_ns; /* 0: nobody looked yet */
	struct hf_access access;
	struct hf_elf_nearby files;
	uint64_t stamp;
};

/* like: the archive, which gives its way of making room. held: descriptors of files that nobody is reading. To be ended
 * also after an error. */
int hf_debug_dir_init(struct hf_debug_dir *dir, const struct hf_archive *like, size_t open_files,
		      const struct hf_fs_options *options);
void hf_debug_dir_fini(struct hf_debug_dir *dir);

/* One number for what is in it, as of a second ago at most; 0: there is no such directory. Errors are shortages. */
int hf_debug_dir_look(struct hf_debug_dir *dir, uint64_t *ret_stamp);
/* Who may read what is made of its files. */
void hf_debug_dir_join_access(struct hf_debug_dir *dir, struct hf_access *access);

/* The files that lie in it while it has that stamp, else HF_ERR_CHANGED. To be freed after success. */
int hf_debug_dir_list(struct hf_debug_dir *dir, uint64_t stamp, struct hf_elf_nearby *ret_files);
/* A file, by its path in the directory; HF_ERR_NOT_FOUND also if fewer may read it than the directory. */
int hf_debug_dir_open(struct hf_debug_dir *dir, const char *path, struct stat *ret_st, struct hf_src **ret_src);

/* Where the debug file of a file with that id may lie: 0 by build id, 1 by the name that it says. False: nowhere. */
enum { HF_DEBUG_DIR_PLACES = 2 };
bool hf_debug_dir_place(const struct hf_debug_id *id, unsigned which, char *buf, size_t size);

#endif
