/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of /proc/kallsyms, in which Linux lists the names of its code and of its modules, as the ELF file it is not. */
#ifndef HF_IMAGE_KALLSYMS_H
#define HF_IMAGE_KALLSYMS_H

#include "codecs/source/source.h"

/* Bytes of the text that are read. */
#define HF_KALLSYMS_MAX (UINT64_C(128) << 20)

/*
 * *ret_elf is an AArch64 file with a symbol for each name of code in [address, address + size), which is its one segment; the
 * bytes of the code are not in it. A symbol reaches to the next name, be that of code or data; a line that makes no sense
 * names nothing. Takes text, also on failure. HF_ERR_NOMEM, and what reading returns.
 */
int hf_kallsyms_elf(struct hf_src *text, uint64_t address, uint64_t size, struct hf_src **ret_elf);

#endif
