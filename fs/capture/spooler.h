/* SPDX-License-Identifier: Apache-2.0 */
/* Spools: copies of streams in the index directory, in a form that can be entered anywhere (index/store/spool.h). */
#ifndef HF_FS_SPOOLER_H
#define HF_FS_SPOOLER_H

struct hf_open;

/* Makes the spool of an opened capture whose stream is read again and again. */
void hf_spooler_make(struct hf_open *open);

#endif
