/* SPDX-License-Identifier: Apache-2.0 */
/* Few instructions more or less: the shortest way from one window to the other. Internal to fs/diff/. */
#ifndef HF_DIFF_EDIT_H
#define HF_DIFF_EDIT_H

#include "fs/diff/side.h"

/* Instructions that are on one side only, at most. */
#define HF_DIFF_EDITS 256

/*
 * The first place at which both are equal for as long as is wanted of it, with the fewest instructions before it that are
 * on one side only: at[2], counted from the beginning of the windows. end: both windows end with their harts, and their
 * ends are such a place. false: there is none with HF_DIFF_EDITS of them.
 */
bool hf_diff_edit(const struct hf_diff_item *a, size_t a_count, const struct hf_diff_item *b, size_t b_count, bool end,
		  uint64_t (*wanted)(uint64_t passed), uint64_t ret_at[2]);

#endif
