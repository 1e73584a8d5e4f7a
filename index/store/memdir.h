/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in place of the index directory, for as long as that cannot be written: files made here (memfd_create(2)) have
 * the names that they would have there, are found wherever files of the directory are opened, and go there when it can
 * be written again. Bounded in bytes. Thread-safe.
 */
#ifndef HF_INDEX_MEMDIR_H
#define HF_INDEX_MEMDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_memdir;

/* dirfd: the index directory, borrowed; -1 if there is none. */
int hf_memdir_new(int dirfd, uint64_t limit, struct hf_memdir **ret_memdir);
void hf_memdir_free(struct hf_memdir *memdir);

struct hf_memdir_stats {
	uint64_t limit, bytes; /* bytes: also of files that are being made */
	size_t files;          /* complete ones */
};
void hf_memdir_get_stats(struct hf_memdir *memdir, struct hf_memdir_stats *ret_stats);

/*
 * Moves the files to the directory, those of decode indexes last. What has no room there is passed over and stays.
 * 0 if none is left; otherwise HF_ERR_INDEX_DIR (hf_fault_take says why), HF_ERR_BUSY or HF_ERR_NOMEM. *ret_moved
 * counts the files that were moved.
 */
int hf_memdir_publish(struct hf_memdir *memdir, size_t *ret_moved);
/* Whether a file can be made and written in that directory at all. Errors as above; it leaves nothing there. */
int hf_memdir_try(int dirfd);

/* While the directory fails nothing of it is removed: what is no good is only not used any more. */
void hf_memdir_keep(struct hf_memdir *memdir, bool keep);

/* Bytes that can be written to the directory, as far as the system tells; UINT64_MAX if it does not. */
uint64_t hf_memdir_room(int dirfd);

/* The rest is for file.c. */

/* A complete file, with a descriptor of the caller's: HF_ERR_NOT_FOUND, or a shortage (none is left). */
int hf_memdir_open(struct hf_memdir *memdir, const char *name, int *ret_fd);
/* Whether the directory's file of that name is not to be used: it could not be read, nor removed. */
bool hf_memdir_hides(struct hf_memdir *memdir, const char *name);
void hf_memdir_hide(struct hf_memdir *memdir, const char *name);
/* The directory has got another one. */
void hf_memdir_show(struct hf_memdir *memdir, const char *name);
bool hf_memdir_keeps(struct hf_memdir *memdir);
/* Begins a file; *ret_fd is borrowed until hf_memdir_end. HF_ERR_BUSY: somebody else makes it. HF_ERR_INDEX_DIR: no
 * room. */
int hf_memdir_begin(struct hf_memdir *memdir, const char *name, int *ret_fd);
/* Counts what it has grown to: HF_ERR_INDEX_DIR beyond the limit. */
int hf_memdir_count(struct hf_memdir *memdir, const char *name);
/* It is complete. */
int hf_memdir_finish(struct hf_memdir *memdir, const char *name);
/* Ends making it: what was not finished goes. */
void hf_memdir_end(struct hf_memdir *memdir, const char *name);
/* Removes a complete file; only if it is the one that is open as fd, unless that is -1. False: it is not there. Who has it
 * open keeps it. */
bool hf_memdir_remove(struct hf_memdir *memdir, const char *name, int fd);

#endif
