/* SPDX-License-Identifier: Apache-2.0 */
/* An index that gave wrong bytes. */
#ifndef HF_FS_DROP_INDEX_H
#define HF_FS_DROP_INDEX_H

#include "fs/facts/capture.h"

/* The index of that version gave wrong bytes: throw it away and build it anew. Or (HF_ERR_INDEX_DIR) it cannot be read:
 * leave it as it is, and build another. */
void hf_capture_drop_index(struct hf_capture *capture, uint64_t version, int why);

#endif
