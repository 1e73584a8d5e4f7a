/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a capture, for the pool. */
#ifndef HF_FS_OPEN_CAPTURE_H
#define HF_FS_OPEN_CAPTURE_H

#include "fs/facts/opened.h"

/* Opens it, without a reference. Errors as hf_open_get, or for want of descriptors. want_spool: called with the opened
 * capture when its stream is to be spooled. */
int hf_open_new(struct hf_capture *capture, uint64_t version, void (*want_spool)(void *open), struct hf_open **ret_open);
void hf_open_close(struct hf_open *open);
void hf_open_discard_files(const struct hf_open *open, int why);
/* Bytes of memory that it has now; its descriptors. */
uint64_t hf_open_memory(const struct hf_open *open);
unsigned hf_open_files(const struct hf_open *open);

/* Removes those of its index files that turned out damaged. Returns whether there were any. */
bool hf_open_remove_damaged(struct hf_open *open);

#endif
