/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index files that turn out damaged, or are gone, while a capture is served are made again in the background, and the
 * facts of the capture stay. A new version begins only if bytes differ from what an undamaged index promises
 * (hf_capture_drop_index), or if the index directory cannot be read.
 */
#ifndef HF_FS_REPAIR_H
#define HF_FS_REPAIR_H

#include "fs/facts/opened.h"

/* So long an open or a read waits for that. */
enum { HF_REPAIR_MS = 2000 };

/*
 * hf_open_get of a capture that is READY, with the table of that view unless view is negative. What is missing is made
 * again, and waited for at most wait_ms. HF_ERR_STATE: it is not there yet.
 */
int hf_capture_reopen(struct hf_capture *capture, uint64_t version, int view, unsigned wait_ms,
		      struct hf_open **ret_open);

/* After err, when something was made with open. HF_ERR_STATE, HF_ERR_MISMATCH: what is damaged of the index is removed
 * and made again. HF_ERR_INDEX_DIR: its files stay, and another one is made. Other errors do not concern the index. */
void hf_open_blame(struct hf_open *open, int err);

#endif
