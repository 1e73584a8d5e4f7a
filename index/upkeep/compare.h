/* SPDX-License-Identifier: Apache-2.0 */
/* Compares an index with one that is made again. */
#ifndef HF_INDEX_COMPARE_H
#define HF_INDEX_COMPARE_H

#include "index/pass/build_options.h"
#include "index/upkeep/examine.h"

/*
 * Makes all of it again, in memory (as many bytes as the files have), and compares every row of the decode index and of
 * those tables of build->views that are in build->dirfd. A file that differs is removed, and fn is called as by
 * hf_index_examine. build->limits and tap are not used. 0 if there is no index.
 */
int hf_index_compare(const struct hf_build *build, hf_examine_fn fn, void *ctx, struct hf_diag *diag);

#endif
