/* SPDX-License-Identifier: Apache-2.0 */
/* What every view of a capture holds, from a file system that nothing disturbs, with chunks of the usual size. */
#ifndef HF_SIM_TRUTH_H
#define HF_SIM_TRUTH_H

#include "tests/sim/captures.h"

#include "fs/fs.h"

/* Of both versions. The capture's files are all that there is in the archive then. */
void sim_truth_make(struct sim_capture *capture);

/* Names of a directory, in their order; "" is HF_OK. For whoever compares, too. */
struct sim_names {
	char (*name)[256];
	bool *is_dir;
	size_t n;
	int err;
};
void sim_names_read(struct hf_fs *fs, uint64_t ino, bool plus, struct sim_names *ret_names);
void sim_names_free(struct sim_names *names);

#endif
