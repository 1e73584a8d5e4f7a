/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory outside the archive that --debug-dir names. The files in it may have symbols of every capture, and
 * those in its .build-id are found by build id. A file that fewer may read than the directory itself is not used, so
 * who may read the views depends on the directory and those above it only.
 */
#ifndef HF_FS_DEBUG_DIR_H
#define HF_FS_DEBUG_DIR_H

#include "fs/archive/open_files.h"
#include "fs/program/debug_file.h"
#include "fs/stream/elf_nearby.h"

struct hf_debug_dir {
	char *path;		   /* for messages; NULL: there is no such directory, and the rest is unused */
	struct hf_archive archive; /* its descriptor is borrowed */
	struct hf_open_files open_files;
	struct hf_access above; /* of the directories above it, when it was opened */
	pthread_mutex_t lock;
	/* Under the lock: what was in it at looked_ns. */
	int64_t looked_ns; /* 0: nobody looked yet */
	struct hf_access access;
	struct hf_elf_nearby files;
	uint64_t stamp;
};

/* like: the archive, which has the callback that frees descriptors. open_files: most descriptors of files that nobody
 * is reading. To be ended also after an error. */
int hf_debug_dir_init(struct hf_debug_dir *dir, const struct hf_archive *like, size_t open_files,
		      const struct hf_fs_options *options);
void hf_debug_dir_fini(struct hf_debug_dir *dir);

/* A number for its contents, at most a second old; 0: there is no such directory. Errors are shortages. */
int hf_debug_dir_look(struct hf_debug_dir *dir, uint64_t *ret_stamp);
/* Leaves in *access who may also read its files. */
void hf_debug_dir_join_access(struct hf_debug_dir *dir, struct hf_access *access);

/* The files in it, or HF_ERR_CHANGED if it has another stamp by now. To be freed after success. */
int hf_debug_dir_list(struct hf_debug_dir *dir, uint64_t stamp, struct hf_elf_nearby *ret_files);
/* A file, by its path in the directory; HF_ERR_NOT_FOUND also if fewer may read it than the directory. */
int hf_debug_dir_open(struct hf_debug_dir *dir, const char *path, struct stat *ret_st, struct hf_src **ret_src);

/* The path where the debug file of that id may be: which 0 by build id, 1 by name. False: id does not tell. */
enum { HF_DEBUG_DIR_PLACES = 2 };
bool hf_debug_dir_place(const struct hf_debug_id *id, unsigned which, char *buf, size_t size);

#endif
