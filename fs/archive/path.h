/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, relative to the root of the archive or of the mount: "" is that itself. */
#ifndef HF_FS_PATH_H
#define HF_FS_PATH_H

#include <limits.h>

/* The longest path, as shown: the kernel has no longer ones. */
#define HF_PATH_SIZE PATH_MAX

/* "dir/name", or "name" in the root. HF_ERR_PATH_LENGTH if it is too long. */
int hf_path_join(char buf[HF_PATH_SIZE], const char *dir, const char *name);
/* The directory part of a path into buf, "" for one in the root; returns the last component. */
const char *hf_path_split(char buf[HF_PATH_SIZE], const char *path);

#endif
