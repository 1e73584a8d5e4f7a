/* SPDX-License-Identifier: Apache-2.0 */
/* Two halves of a text at the same time. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_PARALLEL_PAIR_H
#define HF_FS_PROFILE_PARALLEL_PAIR_H

#include "fs/profile/texts.h"

/* Calls fn with each, on this thread and, if a seat is free, on another one meanwhile. They may share only what is not
 * changed. Both have ended when it returns: the first error of one, then of other. */
int hf_profile_parallel_pair(const struct hf_profile_source *source, int (*fn)(void *ctx), void *one, void *other);

#endif
