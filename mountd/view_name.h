/* SPDX-License-Identifier: Apache-2.0 */
/* Which file of a capture is meant by a name that is none of them. */
#ifndef HF_MOUNTD_VIEW_NAME_H
#define HF_MOUNTD_VIEW_NAME_H

#include "fs/hartfs.h"

#include <stdbool.h>

/*
 * What name means among the files of the capture at path capture with that view directory: one file if its end, or its
 * end without the extension, is that of one file only ("flame.svg", "hart0/listing"). True: *ret_path is its path, owned
 * by the caller. False: *ret_words, owned, says what there is instead; NULL: there is nothing to say, or no memory.
 */
bool hf_view_name_find(struct hartfs_archive *archive, const char *capture, const char *view_dir, const char *name,
		       char **ret_path, char **ret_words);

#endif
