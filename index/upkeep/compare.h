/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing an index with one that is made again. */
#ifndef HF_INDEX_COMPARE_H
#define HF_INDEX_COMPARE_H

#include "index/pass/build_options.h"
#include "index/upkeep/examine.h"

/*
 * Makes all of it again, in memory (as much as the files have bytes), and compares every row with the decode index and
 * those of build->views whose tables are in build->dirfd. fn hears of each file that says something else, as of
 * hf_index_examine, and it is removed. build->limits and tap do not count. 0 if there is no index.
 */
int hf_index_compare(const struct hf_build *build, hf_examine_fn fn, void *ctx, struct hf_diag *diag);

#endif
