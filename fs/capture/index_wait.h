/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a capture: its index is looked for, queued and waited for. */
#ifndef HF_FS_INDEX_WAIT_H
#define HF_FS_INDEX_WAIT_H

#include "fs/facts/capture.h"

/*
 * The facts of the indexed capture, with a reference. If it is not indexed, that is started (unless the options forbid
 * it) and waited for at most wait_ms; then HF_ERR_BUSY.
 */
int hf_capture_facts(struct hf_capture *capture, unsigned wait_ms, struct hf_facts **ret_facts);

/* Replaces facts that were only recalled by those of the index, which it opens, or waits for as hf_capture_facts does.
 * To be called before bytes are read. HF_ERR_CHANGED: there is no index in time. After an error *facts is NULL. */
int hf_capture_confirm(struct hf_capture *capture, unsigned wait_ms, struct hf_facts **facts);

#endif
