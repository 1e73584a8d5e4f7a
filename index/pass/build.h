/* SPDX-License-Identifier: Apache-2.0 */
/* Building what is missing of the index of a capture. */
#ifndef HF_INDEX_BUILD_H
#define HF_INDEX_BUILD_H

#include "index/pass/build_options.h"

/*
 * Builds what is missing of the decode index and the view tables, and publishes each whole. Resumes an interrupted
 * build. A capture that cannot be decoded at all still gets an index, with its problem. HF_ERR_BUSY: another process is
 * building the same capture. HF_ERR_INDEX_DIR: the directory failed (hf_fault_last). If it is full, spools were removed
 * before, and no private files are left there.
 */
int hf_build_run(const struct hf_build *build, struct hf_diag *diag);

#endif
