/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When spools are made: a stream that cannot be entered in the middle and is read again and again asks for one, which a
 * job makes.
 */
#ifndef HF_FS_SPOOLER_H
#define HF_FS_SPOOLER_H

/* The stream of an open capture (ctx: a struct hf_open) is to have a spool: hf_spooling.wanted. */
void hf_spooler_want(void *ctx);

#endif
