/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands under a name of ours in an index directory, and getting it out of the way. Whatever is not a valid index is
 * made again, so it must never stay in the way; and what somebody else may have meant to keep is never destroyed.
 * Internal to index/.
 */
#ifndef HF_INDEX_DIR_ENTRY_H
#define HF_INDEX_DIR_ENTRY_H

#include <stdbool.h>
#include <sys/stat.h>

/* So many things are kept for one name, as "<name>.damaged-<n>", n from 1. */
#define HF_ASIDE_MAX 9
#define HF_ASIDE_TAIL ".damaged-"

/* Whether hartfs made that regular file, whole or damaged: it has the header of one of our databases or a page with the
 * right checksum, or, under the name of a spool, the first or last bytes of one. false also if it cannot be read: then
 * *ret_err says so. */
bool hf_dir_entry_is_ours(int fd, const char *name, int *ret_err);

/*
 * Makes sure that a regular file can be renamed to name: what hartfs made, and links, FIFOs, sockets and devices may stay,
 * for they are replaced then. Empty directories are removed. Directories and files with a content that hartfs did not
 * make are renamed to the first free "<name>.damaged-<n>"; a file for which there is none is removed. HF_ERR_INDEX_DIR or a
 * shortage: it cannot be looked into or moved, and stays.
 */
int hf_dir_entry_make_way(int dirfd, const char *name);
/* The same, and nothing stands there any more. */
int hf_dir_entry_remove(int dirfd, const char *name);
/* Whether the file that is open as fd is the one that stands under that name. */
bool hf_dir_entry_is_named(int dirfd, const char *name, int fd);
/* Removes name if it still is the file that is open as fd. Where nothing can be removed, the file is remembered: this
 * process does not open it again. */
int hf_dir_entry_remove_open(int dirfd, const char *name, int fd);
/* Whether the file with that stat is remembered as one that should be gone. */
bool hf_dir_entry_is_condemned(const struct stat *st);

/* Whether name is that of a thing that was put aside. */
bool hf_dir_entry_is_aside(const char *name);

#endif
