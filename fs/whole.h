/* SPDX-License-Identifier: Apache-2.0 */
/* struct hf_fs: one of each floor. For fs.c, which puts them together, and for tests that look inside. */
#ifndef HF_FS_WHOLE_H
#define HF_FS_WHOLE_H

#include "fs/bytes/request.h"
#include "fs/capture/captures.h"
#include "fs/tree/tree.h"

struct hf_fs {
	struct hf_common common;
	struct hf_archive archive;
	struct hf_descriptors descriptors;
	struct hf_open_files open_files;
	struct hf_captures captures;
	struct hf_slices slices;
	struct hf_profiles profiles;
	struct hf_mades wheres, channels;
	struct hf_mades hart_states;
	struct hf_tree tree;
	struct hf_job search; /* of the archive for captures */
	bool opened; /* the four above */
};

#endif
