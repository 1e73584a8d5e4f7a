/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF files that a recorded program had in its memory: copies in the directory NAME.d beside the captures, and
 * in addresses.txt there where they were, in the words of a description.
 */
#ifndef HF_MOUNTD_RECORD_LOADS_H
#define HF_MOUNTD_RECORD_LOADS_H

#include <stdint.h>

struct hf_record_loads;

/* Copies a regular file to name in the directory, where there must be none of that name. Returns 0 or an errno; then there is
 * no copy. */
int hf_record_copy(const char *path, int dirfd, const char *name);

/* NAME.d is there, in dirfd. NULL: there is no memory. */
struct hf_record_loads *hf_record_loads_new(int dirfd, const char *name);
/* address: of the byte that is the file's first; NULL: the file's own addresses hold. The first failure is told. */
void hf_record_loads_add(struct hf_record_loads *loads, const char *path, const uint64_t *address);
/* Returns the errno of the first failure, or 0. */
int hf_record_loads_free(struct hf_record_loads *loads);

#endif
