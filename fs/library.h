/* SPDX-License-Identifier: Apache-2.0 */
/* What the program asks of an archive that hartfs.h does not say. Not installed. */
#ifndef HF_FS_LIBRARY_H
#define HF_FS_LIBRARY_H

#include "fs/hartfs_errors.h"

/* The file system behind an archive. */
struct hf_fs *hf_library_fs(const struct hartfs_archive *archive);

/* hartfs_view_open; a capture that is indexed meanwhile tells progress of it, and gives put the view's bytes as
 * hf_fs_index_tapped does. Both may be NULL. */
int hf_library_view_open(struct hartfs_archive *archive, const char *path, hf_tap_fn put,
			 bool (*progress)(void *ctx, double percent, uint64_t insns), void *ctx,
			 struct hartfs_view **ret_view, struct hartfs_diag *diag);
/* hartfs_view_read without copying: hf_fs_read_each. What is wrong is in *diag (may be NULL). */
int hf_library_view_give(struct hartfs_view *view, uint64_t offset, uint64_t size, hf_bytes_fn fn, void *ctx,
			 struct hartfs_diag *diag);

#endif
