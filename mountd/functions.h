/* SPDX-License-Identifier: Apache-2.0 */
/* What the harts of a capture ran: the text of profile/functions.txt, or another one there, hart by hart. */
#ifndef HF_MOUNTD_FUNCTIONS_H
#define HF_MOUNTD_FUNCTIONS_H

#include "fs/hartfs.h"

/* text is valid during the call; NULL: diag says why there is none. False ends it. */
typedef bool (*hf_functions_fn)(void *ctx, uint32_t hart, const char *text, const struct hartfs_diag *diag);

/* File, as "functions.txt", of the capture at path capture with that view directory, which is indexed first if need be. The error of
 * hartfs_each_file, or of want of memory. */
int hf_functions_each(struct hartfs_archive *archive, const char *capture, const char *view_dir,
		      const char *name, hf_functions_fn fn, void *ctx, struct hartfs_diag *diag);

#endif
