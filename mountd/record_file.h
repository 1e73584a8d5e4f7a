/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture that is being written, in compressed chunks: a .zstf if it is STF, and otherwise one zstd frame after
 * another. After an error, such as a full disk, it ends with the last chunk that is whole.
 */
#ifndef HF_MOUNTD_RECORD_FILE_H
#define HF_MOUNTD_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_record_file;

/* Makes the file, which must not exist yet; insns: how many a chunk has. NULL: errno says why. */
struct hf_record_file *hf_record_file_new(int dirfd, const char *name, bool zstf, uint64_t insns);
/* The same of an empty file that is open, and stays the caller's: it is neither closed nor removed. */
struct hf_record_file *hf_record_file_at(int fd, bool zstf, uint64_t insns);
/* What is written from now on is another chunk, and begins at pc. Of the first one too. 0 or an errno, for good. */
int hf_record_file_chunk(struct hf_record_file *file, uint64_t pc);
int hf_record_file_write(struct hf_record_file *file, const void *bytes, size_t size);
/* Frees it. A file without a chunk is removed. Returns the errno of whatever went wrong, or 0. *ret_chunks: how many are in
 * the file, which after an error may be fewer than were begun, and are whole. */
int hf_record_file_close(struct hf_record_file *file, uint64_t *ret_chunks);

#endif
