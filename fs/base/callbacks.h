/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the caller that fs.h calls, and that its floors pass on to each other. */
#ifndef HF_FS_CALLBACKS_H
#define HF_FS_CALLBACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hartfs_file;

/* Whether a path, which may be one of a capture, is to be looked at: asked before it is. */
typedef bool (*hf_wanted_fn)(void *ctx, const char *path);
/* A capture that was found. False stops. */
typedef bool (*hf_capture_fn)(void *ctx, const char *path, const char *view_dir);
/* A file of a view directory. False stops. */
typedef bool (*hf_file_fn)(void *ctx, const struct hartfs_file *file);
/* Bytes in order, where they lie. False ends it. */
typedef bool (*hf_bytes_fn)(void *ctx, const uint8_t *bytes, size_t n);
/* Bytes of a view as they are made: hf_fs_index_tapped. */
typedef void (*hf_tap_fn)(void *ctx, uint64_t offset, const uint8_t *bytes, size_t n);

#endif
