/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of an index directory, on disk (disk_file.h), in a pack (packs.h) or in memory (memdir.h): opening published
 * ones, dropping them, and the private file that a build writes until it is published. Internal to index/.
 */
#ifndef HF_INDEX_FILE_H
#define HF_INDEX_FILE_H

#include "index/store/dir.h"
#include "index/store/disk_file.h"
#include "index/table/db.h"

/* Opens a published file for reading, one in memory before one on disk, without waiting for anything: HF_ERR_NOT_FOUND
 * if it is not there, not a regular file, or not to be trusted, because neither we nor root own it or others may write
 * to it; HF_ERR_INDEX_DIR or a shortage if that cannot be told. */
int hf_index_file_open(const struct hf_store_dir *dir, const char *name, int *ret_fd);
/* One that has no file of its own, but is in a pack: HF_ERR_NOT_FOUND. Give its reference back with hf_pack_close. */
int hf_index_file_find(const struct hf_store_dir *dir, const char *name, struct hf_packed *ret_file);
/* Removes a published file, in memory too; what is not to be trusted stays. While nothing may go (hf_memdir_keep), or
 * if it cannot, it is not found any more. */
void hf_index_file_drop(const struct hf_store_dir *dir, const char *name);
/* The same of the file that is open as fd, if it still stands under its name. -1: it is in a pack. */
void hf_index_file_drop_open(const struct hf_store_dir *dir, const char *name, int fd);
/* What is in the directory under that name is not found any more, where files can be in memory instead. */
void hf_index_file_hide(const struct hf_store_dir *dir, const char *name);

/* Creates or opens it and locks it against other processes and threads: HF_ERR_BUSY. What stands in the way
 * of the private file is removed; HF_ERR_INDEX_DIR if that cannot be done or the directory fails, as with the functions
 * below. */
int hf_part_open(const struct hf_store_dir *dir, const char *name, struct hf_part *ret_part);
/* Whether it has no byte yet. */
bool hf_part_is_empty(const struct hf_part *part);
/* Its descriptor if it is one to be resumed after a kill, or -1. */
int hf_part_journaled(const struct hf_part *part);
/* Of one in memory: whether what it has grown to is within the limit. */
int hf_part_count(const struct hf_part *part);
/* Unlocks; the file stays, unless it is empty, in memory, or to go into a pack. */
void hf_part_close(struct hf_part *part);
/* Makes it empty, to begin anew. */
int hf_part_reset(struct hf_part *part);
/* Makes it durable under its name. What stood there when it was begun goes; another one that got the name since stays.
 * The database on it must be closed. */
int hf_part_publish(struct hf_part *part);
/* Removes it. */
void hf_part_remove(struct hf_part *part);

#endif
