/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree: what stands under which name, and with which attributes. The archive's own entries are passed through; a
 * capture's view directory stands beside it.
 */
#ifndef HF_FS_TREE_H
#define HF_FS_TREE_H

#include "fs/tree/kind.h"

#include <limits.h>

/* Seconds for which the kernel may believe names and attributes; the short one is of what waits for an index. */
#define HF_TIMEOUT_LONG 5.0
#define HF_TIMEOUT_SHORT 0.25

/* The longest path, as shown: the kernel has no longer ones. */
#define HF_PATH_SIZE PATH_MAX

/* "dir/name", or "name" in the root. HF_ERR_PATH_LENGTH if it is too long. */
int hf_path_join(char buf[HF_PATH_SIZE], const char *dir, const char *name);
/* The directory part of a path into buf, "" for one in the root; returns the last component. */
const char *hf_path_split(char buf[HF_PATH_SIZE], const char *path);

/* Whether a name exists in the archive's directory dir. */
typedef bool (*hf_exists_fn)(void *ctx, const char *dir, const char *name);
/* Asks the archive itself; ctx is the fs. */
bool hf_tree_exists(void *ctx, const char *dir, const char *name);

/* The last component of the view directory of a capture dir/name. HF_ERR_NOT_FOUND if no name is free. */
int hf_tree_view_name(struct hf_fs *fs, const char *dir, const char *name, struct hf_capture *capture,
		      hf_exists_fn exists, void *ctx, char buf[NAME_MAX + 1]);
/* The capture whose view directory is dir/view, a name that the archive does not have; NULL if there is none. An error:
 * HF_ERR_NOMEM, or what kept it from reading dir. */
int hf_tree_find_viewed(struct hf_fs *fs, const char *dir, const char *view, struct hf_capture **ret_capture);
/* The name of the control directory: another one if the archive has that. */
const char *hf_tree_control_name(struct hf_fs *fs, hf_exists_fn exists, void *ctx);

/* A reference to the node of key and its attributes: st is the entry's own, or the capture's. */
int hf_tree_enter(struct hf_fs *fs, const struct hf_node_key *key, const struct stat *st, uint64_t size,
		  struct hf_attr *ret_attr);

/* A view directory or its part: whether it is there, with what is known of it (NULL: not indexed yet) and the
 * capture's stat. wait_ms: so long the index may be waited for. HF_ERR_CHANGED: a file of another version. */
int hf_tree_look(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts, struct stat *ret_st);
/* The same before bytes are given: HF_ERR_CHANGED also if the kernel must look anew who may read them. */
int hf_tree_check(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts, struct stat *ret_st);

/* Notes the rights in st (owner, group, permissions) as those that the kernel has of node, or asks whether it may go on
 * with these: whether none was taken away since. */
void hf_tree_tell_rights(struct hf_node *node, const struct stat *st);
bool hf_tree_told_rights(const struct hf_node *node, const struct stat *st);

/* How long a look into the view directory may wait for the index: at most that long, not at all if it is hopeless. */
unsigned hf_tree_patience(struct hf_capture *capture, bool only_small);

#endif
