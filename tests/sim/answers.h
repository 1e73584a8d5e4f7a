/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an answer can be right: of one version of the capture that was there, or an error that has a reason. */
#ifndef HF_SIM_ANSWERS_H
#define HF_SIM_ANSWERS_H

#include "tests/sim/truth.h"
#include "tests/sim/world.h"

/* Each fails the schedule. versions are the bits of those that it may be of, and become those that it is of. */
void sim_check_size(const struct sim_chosen *chosen, const char *view, unsigned *versions, const struct hf_attr *attr);
void sim_check_bytes(const struct sim_chosen *chosen, const char *view, unsigned *versions, const struct hf_read *read);
void sim_check_names(const struct sim_chosen *chosen, const char *dir, unsigned versions, const struct sim_names *names,
		     bool all);
void sim_check_error(const struct sim_chosen *chosen, const char *what, const char *view, int err, unsigned versions);
/* One of these versions has no such view. */
bool sim_may_lack(const struct sim_chosen *chosen, const char *view, unsigned versions);
/* The kernel may keep what it has cached under that inode: of the same version. */
void sim_check_keep(uint64_t ino, unsigned versions, bool keep);

#endif
