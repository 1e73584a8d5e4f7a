/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree: what stands under which name, and with which attributes. The archive's own entries are passed through; a
 * capture's view directory stands beside it.
 */
#ifndef HF_FS_TREE_H
#define HF_FS_TREE_H

#include "fs/archive/open_files.h"
#include "fs/base/callbacks.h"
#include "fs/bytes/read.h"
#include "fs/bytes/slice.h"
#include "fs/find/hart_states.h"
#include "fs/find/where.h"
#include "fs/profile/profile.h"
#include "fs/tree/control.h"
#include "fs/tree/kind.h"
#include "fs/tree/opened.h"
#include "fs/tree/shared.h"
#include "fs/tree/tree_names.h"

/* The borrowed ones are set. To be ended also after an error. */
int hf_tree_init(struct hf_tree *tree);
void hf_tree_fini(struct hf_tree *tree);

/* Tells the kernel to forget what it knows of the files of a capture; ctx: a struct hf_tree. */
void hf_tree_tell_change(void *ctx, struct hf_capture *capture);

/* What fs/fs.h has of the same names, with hf_fs_ before them. */
int hf_tree_lookup(struct hf_tree *tree, uint64_t parent, const char *name, struct hf_attr *ret_attr);
void hf_tree_forget(struct hf_tree *tree, uint64_t ino, uint64_t count);
int hf_tree_getattr(struct hf_tree *tree, uint64_t ino, struct hf_attr *ret_attr);
int hf_tree_check(struct hf_tree *tree, uint64_t ino, struct hf_attr *ret_attr);
int hf_tree_readlink(struct hf_tree *tree, uint64_t ino, char *buf, size_t size);
int hf_tree_xattr(struct hf_tree *tree, uint64_t ino, const char *name, char buf[HF_FS_XATTR_SIZE], size_t *ret_size);
int hf_tree_xattr_list(struct hf_tree *tree, uint64_t ino, char buf[HF_FS_XATTR_SIZE], size_t *ret_size);
void hf_tree_unseen(struct hf_tree *tree, uint64_t ino);
int hf_tree_open_dir(struct hf_tree *tree, uint64_t ino, struct hf_dir **ret_dir, bool *ret_keep);
int hf_tree_open_file(struct hf_tree *tree, uint64_t ino, struct hf_file **ret_file, bool *ret_keep);
int hf_tree_resolve(struct hf_tree *tree, const char *path, uint64_t *ret_ino);
int hf_tree_each_capture(struct hf_tree *tree, const char *under, hf_wanted_fn wanted, hf_capture_fn fn, void *ctx);
int hf_tree_each_file(struct hf_tree *tree, const char *view_dir, hf_file_fn fn, void *ctx);
int hf_tree_capture_of(struct hf_tree *tree, const char *path, char ret_capture[PATH_MAX], char ret_view_dir[PATH_MAX]);
void hf_file_read(struct hf_read *read);
int hf_file_read_each(struct hf_file *file, uint64_t offset, uint64_t size, hf_bytes_fn fn, void *ctx, uint64_t *ret_n);
int hf_file_read_wait(struct hf_file *file, uint64_t offset, void *buf, size_t size, size_t *ret_n);

/* A reference to the node of key and its attributes: st is the entry's own, or the capture's. */
int hf_tree_enter(struct hf_tree *tree, const struct hf_node_key *key, const struct stat *st, uint64_t size,
		  struct hf_attr *ret_attr);

/* A view directory or its part: whether it is there, with what is known of it (NULL: not indexed yet) and the
 * capture's stat. wait_ms: so long the index may be waited for. HF_ERR_CHANGED: a file of another version. */
int hf_tree_look(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts, struct stat *ret_st);
int hf_tree_look_on(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts);
/* The same before bytes are given: HF_ERR_CHANGED also if the kernel must look anew who may read them. */
int hf_tree_look_to_read(const struct hf_node *node, unsigned wait_ms, struct hf_facts **ret_facts,
			 struct stat *ret_st);

/* Notes the rights in st (owner, group, permissions) as those that the kernel has of node, or asks whether it may go on
 * with these: whether none was taken away since. */
void hf_tree_tell_rights(struct hf_node *node, const struct stat *st);
bool hf_tree_told_rights(const struct hf_node *node, const struct stat *st);

/* How long a look into the view directory may wait for the index: at most that long, not at all if it is hopeless. */
unsigned hf_tree_patience(struct hf_capture *capture, bool only_small);

#endif
