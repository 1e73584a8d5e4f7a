/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When spools are made: a stream that cannot be entered in the middle and is read again and again asks for one, and they
 * are made one after another. Internal to this folder.
 */
#ifndef HF_FS_SPOOLER_H
#define HF_FS_SPOOLER_H

struct hf_open;

/* Lets the source of a capture that is being opened use spools, if the options allow them. */
void hf_spooler_attach(struct hf_open *open);

#endif
