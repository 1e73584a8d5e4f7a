/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of an index that turn out damaged, or are gone, while a capture is served: they are made again behind those who
 * read, and what was known of the capture stays. Only bytes that come out otherwise than an undamaged index promises
 * cost the capture its version (hf_capture_drop_index); and so does a directory that cannot be read, which damages
 * nothing.
 */
#ifndef HF_FS_REPAIR_H
#define HF_FS_REPAIR_H

#include "fs/facts/opened.h"

/* That long somebody who opens or reads waits for it. */
enum { HF_REPAIR_MS = 2000 };

/*
 * hf_open_get of a capture that is READY, with the table of that view if view is not negative. If something is not
 * there it is made again, and waited for at most wait_ms. HF_ERR_STATE: it is not there yet.
 */
int hf_capture_reopen(struct hf_capture *capture, uint64_t version, int view, unsigned wait_ms,
		      struct hf_open **ret_open);

/* After err, when something was made with open: if that is the fault of the index, as much of it as is damaged goes and
 * is made again. HF_ERR_INDEX_DIR: all of it stays and another one is made. What turns out as another error is no
 * concern of the index. */
void hf_open_blame(struct hf_open *open, int err);

#endif
