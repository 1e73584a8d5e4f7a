/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A .zstf that is being written: STF in compressed chunks of so many instructions each, and the table of them. After an
 * error, such as a full disk, it ends with the last chunk that is whole.
 */
#ifndef HF_MOUNTD_RECORD_FILE_H
#define HF_MOUNTD_RECORD_FILE_H

#include <stddef.h>
#include <stdint.h>

struct hf_record_file;

/* Makes the file, which must not exist yet; insns: how many a chunk has. NULL: errno says why. */
struct hf_record_file *hf_record_file_new(int dirfd, const char *name, uint64_t insns);
/* The same of an empty file that is open, and stays the caller's: it is neither closed nor removed. NULL: no memory. */
struct hf_record_file *hf_record_file_at(int fd, uint64_t insns);
/* The next bytes of the stream, which may end inside a record. 0 or an errno, for good; EILSEQ: what follows is no
 * record, and those before it are written. */
int hf_record_file_write(struct hf_record_file *file, const void *bytes, size_t size);
/* Where the instruction after those written lies, unless a record says otherwise. */
uint64_t hf_record_file_pc(const struct hf_record_file *file);
/* Bytes of a record that is not whole yet, and not written. */
size_t hf_record_file_left(const struct hf_record_file *file);
/* Frees it. A file without a chunk is removed. Returns the errno of whatever went wrong, or 0; EILSEQ: the stream ends
 * inside a record, which is left out. *ret_insns: how many are in the file. */
int hf_record_file_close(struct hf_record_file *file, uint64_t *ret_insns);

#endif
