/* SPDX-License-Identifier: Apache-2.0 */
/* An index that gave wrong bytes. */
#ifndef HF_FS_DROP_INDEX_H
#define HF_FS_DROP_INDEX_H

#include "fs/facts/capture.h"

/* Throws the index of that version away, because it gave wrong bytes, and builds it anew. why = HF_ERR_INDEX_DIR: it
 * cannot be read; then its files stay, and another one is built. */
void hf_capture_drop_index(struct hf_capture *capture, uint64_t version, int why);

#endif
