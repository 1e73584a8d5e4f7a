/* SPDX-License-Identifier: Apache-2.0 */
/* What the tree gives out: attributes, open directories, open files. */
#ifndef HF_FS_OPENED_H
#define HF_FS_OPENED_H

#include "codecs/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#define HF_FS_ROOT 1
/* The st_ino, in a directory, of what has a longer path than there are: hf_fs_lookup says HF_ERR_PATH_LENGTH of it. */
#define HF_FS_UNREACHABLE 2

/* What lookup and getattr give: a stat with st_ino set, plus how long the kernel may believe it (seconds). */
struct hf_attr {
	struct stat st;
	double entry_timeout, attr_timeout;
};

#define HF_FS_XATTR_SIZE 8192

/*
 * A directory as it was when opened, so that a cookie stays valid. emit returns false when it has no more room; the
 * entry is then given again next time. Never blocks on an index. attr has st_ino and the type bits of st_mode; with
 * plus, entries are looked up: attr is complete and a reference is held for each entry that emit took, ".", ".." and
 * HF_FS_UNREACHABLE excepted.
 */
struct hf_dir;
typedef bool (*hf_emit_fn)(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie);
/* Says what hf_fs_check has just found of the directory: a read at once, with plus, does not look at the capture again. */
void hf_dir_checked(struct hf_dir *dir, const struct hf_attr *attr);
/* So many names it had when it was opened. */
size_t hf_dir_count(const struct hf_dir *dir);
/* Whether all of them were given out with their attributes so short a time ago that the kernel still believes these. */
bool hf_dir_is_told(const struct hf_dir *dir);
int hf_dir_read(struct hf_dir *dir, uint64_t cookie, bool plus, hf_emit_fn emit, void *ctx);
void hf_dir_close(struct hf_dir *dir);

struct hf_file;
void hf_file_close(struct hf_file *file);
/* The kernel is not to cache it, nor to ask for more than somebody reads: a reply may have fewer bytes, but not none. */
bool hf_file_is_direct(const struct hf_file *file);

/*
 * The instructions of the hart that a view is of, and which of them a byte of it belongs to: hartfs_view_events and
 * hartfs_view_ordinal of fs/hartfs.h. Decodes on the caller's thread, or waits. HF_ERR_UNSUPPORTED: it has none.
 */
struct hartfs_event;
int hf_file_events(struct hf_file *file, uint64_t ordinal, struct hartfs_event *ev, size_t max, size_t *ret_n,
		   struct hf_diag *diag);
int hf_file_ordinal(struct hf_file *file, uint64_t offset, uint64_t *ret_ordinal);

#endif
