/* SPDX-License-Identifier: Apache-2.0 */
/* hf_fs_diff, for fs.c: of captures of two file systems, or of one. */
#ifndef HF_DIFF_RUN_H
#define HF_DIFF_RUN_H

#include "fs/diff/diff.h"

struct hf_captures;
int hf_diff_run(struct hf_captures *all[2], const struct hf_diff *diff, struct hf_diff_told *ret_told,
		unsigned *ret_which, char *why, size_t size);

#endif
