/* SPDX-License-Identifier: Apache-2.0 */
/* hf_fs_find, for fs.c: of the captures of a file system; and what where/ counts. */
#ifndef HF_FIND_RUN_H
#define HF_FIND_RUN_H

#include "fs/find/find.h"

struct hf_captures;
struct hf_open;
int hf_find_run(struct hf_captures *all, const struct hf_find *find, uint64_t *ret_count, char *why, size_t size);

/* hf_find_run of an opened capture. */
int hf_find_opened(struct hf_open *open, const struct hf_find *find, char *why, size_t size);

#endif
