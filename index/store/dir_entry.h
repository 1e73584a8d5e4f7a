/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands under a name of ours in an index directory, and getting it out of the way: whatever is not a valid index
 * is made again. Internal to index/.
 */
#ifndef HF_INDEX_DIR_ENTRY_H
#define HF_INDEX_DIR_ENTRY_H

#include <stdbool.h>
#include <sys/stat.h>

/* Removes what stands there, be it a file or an empty directory: an index is a cache. HF_ERR_INDEX_DIR: it stays. */
int hf_dir_entry_remove(int dirfd, const char *name);
/* Whether the file that is open as fd is the one that stands under that name. */
bool hf_dir_entry_is_named(int dirfd, const char *name, int fd);
/* Removes name if it still is the file that is open as fd. Where nothing can be removed, the file is remembered: this
 * process does not open it again. */
int hf_dir_entry_remove_open(int dirfd, const char *name, int fd);
/* Whether the file with that stat is remembered as one that should be gone. */
bool hf_dir_entry_is_condemned(const struct stat *st);

#endif
