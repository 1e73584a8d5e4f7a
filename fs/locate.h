/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A path as the user gives it, of a capture: in which directory its archive begins. That is the one that holds it, or a
 * higher one if the capture has a description that names files there.
 */
#ifndef HF_FS_LOCATE_H
#define HF_FS_LOCATE_H

#include <stdbool.h>

/* Whether path is a directory, and not one that is a capture itself (capture.ini, snapshot.ini, the data of perf). */
bool hf_locate_is_directory(const char *path);

/* What hf_fs_reach says of a description, or what a caller says who asks it elsewhere: nobody vouches for one. */
typedef unsigned (*hf_reach_fn)(void *ctx, int dir_fd, const char *ini);

/* The directory where the archive of path begins, and path's name in it, both malloc'ed; false: out of memory or no
 * such path. as_capture: a capture.ini that describes the directory in which it lies means that directory. reach NULL:
 * asks hf_fs_reach itself. */
bool hf_locate(const char *path, bool as_capture, hf_reach_fn reach, void *ctx, char **ret_directory, char **ret_name);

#endif
