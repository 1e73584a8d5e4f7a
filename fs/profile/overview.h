/* SPDX-License-Identifier: Apache-2.0 */
/* The overview as a part of other files. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_OVERVIEW_H
#define HF_FS_PROFILE_OVERVIEW_H

#include "fs/profile/texts.h"

/* links: to slices, for a file that lies in hartN/profile/. Errors as hf_timeline_make. */
int hf_overview_put(const struct hf_profiled *of, bool links, struct hf_sink *sink);

#endif
