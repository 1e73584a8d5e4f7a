/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities: root gives up all of them but the one that reads the files of others.
 */
#ifndef HF_MOUNTD_CAPABILITIES_H
#define HF_MOUNTD_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * For the calling thread and those it makes afterwards. overriding: where the process may not have dac_read_search, as
 * root of a container, it keeps dac_override to read with; that one also writes, so something else has to confine
 * writing. ret_kept: what is left, for a person ("none", "dac_read_search"). 0 or a negative errno.
 */
int hf_capabilities_drop(bool overriding, const char **ret_kept);

#endif
