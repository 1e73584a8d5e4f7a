/* SPDX-License-Identifier: Apache-2.0 */
/* A file into which the bytes of a view go, as they are or compressed: hartfs convert. */
#ifndef HF_MOUNTD_PACKED_FILE_H
#define HF_MOUNTD_PACKED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hf_packing {
	HF_PACKING_NONE,
	HF_PACKING_ZSTD,
	HF_PACKING_XZ,
	HF_PACKING_GZ,
	HF_PACKING_ZSTF, /* an STF stream, in chunks of instructions with a table */
	HF_PACKINGS
};

/* ".zst"; "" of HF_PACKING_NONE and HF_PACKING_ZSTF. */
const char *hf_packing_suffix(enum hf_packing packing);
/* By the name that --compress has; false: there is none of that name. */
bool hf_packing_find(const char *name, enum hf_packing *ret_packing);

struct hf_packed_file;

/* fd: of an empty file, borrowed, for reading and writing. Compresses with so many threads where that is possible. NULL: no
 * memory. */
struct hf_packed_file *hf_packed_file_new(int fd, enum hf_packing packing, unsigned threads);
/* 0 or an errno, for good; EILSEQ: these are no records of STF. */
int hf_packed_file_write(struct hf_packed_file *file, const uint8_t *bytes, size_t size);
/* Frees it (may be NULL): all is written then, or the same errno. */
int hf_packed_file_close(struct hf_packed_file *file);

#endif
