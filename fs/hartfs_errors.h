/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of fs.h as those of hartfs.h. */
#ifndef HF_FS_HARTFS_ERRORS_H
#define HF_FS_HARTFS_ERRORS_H

#include "fs/fs.h"
#include "fs/hartfs.h"

/* The public error of err, and in *diag (may be NULL) all that is known of it. capture: that it is about, or NULL; own:
 * where it is, if that is of err, or NULL. fs may be NULL. */
int hf_library_fail(struct hf_fs *fs, const char *capture, int err, const struct hf_diag *own,
		    struct hartfs_diag *diag);

/* The public error of one of codecs/base/err.h, and misuse in words. */
int hf_library_error(int err);
int hf_library_misuse(struct hartfs_diag *diag, const char *text);

#endif
