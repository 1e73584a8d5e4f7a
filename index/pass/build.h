/* SPDX-License-Identifier: Apache-2.0 */
/* Building what is missing of the index of a capture. */
#ifndef HF_INDEX_BUILD_H
#define HF_INDEX_BUILD_H

#include "index/pass/build_options.h"

/*
 * Builds what is missing of the decode index and the view tables and publishes each whole. Resumes what an earlier,
 * interrupted build left behind. A capture that cannot be decoded at all still gets an index, with its problem.
 * HF_ERR_BUSY if another process is building the same capture. HF_ERR_INDEX_DIR if the directory fails (hf_fault_last
 * says why); if it is full spools have gone before, and nothing private is left there.
 */
int hf_build_run(const struct hf_build *build, struct hf_diag *diag);

#endif
