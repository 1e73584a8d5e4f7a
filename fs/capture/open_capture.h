/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a capture, for the pool. */
#ifndef HF_FS_OPEN_CAPTURE_H
#define HF_FS_OPEN_CAPTURE_H

#include "fs/capture/opened.h"

/* Without a reference. Errors as hf_open_get, or for want of descriptors. want_spool: who is told, with the
 * opened capture, that its stream is to be spooled. */
int hf_open_new(struct hf_capture *capture, uint64_t version, void (*want_spool)(void *open), struct hf_open **ret_open);
void hf_open_close(struct hf_open *open);
void hf_open_discard_files(const struct hf_open *open, int why);
/* What it holds: bytes of memory now, and descriptors. */
uint64_t hf_open_memory(const struct hf_open *open);
unsigned hf_open_files(const struct hf_open *open);

/* Takes away those of its files that have turned out damaged; whether there are any. */
bool hf_open_remove_damaged(struct hf_open *open);

#endif
