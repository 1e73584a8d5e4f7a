/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a capture: its index is looked for, asked for and waited for. */
#ifndef HF_FS_INDEX_WAIT_H
#define HF_FS_INDEX_WAIT_H

#include "fs/facts/capture.h"

/*
 * What is known of the indexed capture, with a reference. While it is not indexed HF_ERR_BUSY: its indexing is
 * started (unless the options forbid it) and waited for at most wait_ms.
 */
int hf_capture_facts(struct hf_capture *capture, unsigned wait_ms, struct hf_facts **ret_facts);

/* Exchanges facts that were only recalled for those of the index, before bytes are read that must fit them: opens it,
 * or waits for it as hf_capture_facts does. HF_ERR_CHANGED if it does not come; *facts is NULL after an error. */
int hf_capture_confirm(struct hf_capture *capture, unsigned wait_ms, struct hf_facts **facts);

#endif
