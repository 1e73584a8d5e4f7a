/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of /proc/PID/maps: which files a process had mapped as code, and where. */
#ifndef HF_SETUP_MAPS_H
#define HF_SETUP_MAPS_H

#include "codecs/setup/read.h"

/* What stands in maps, and in rows of MAPPED until the description says which file it is, for the code of the kernel. */
#define HF_MAPS_VDSO "[vdso]"

/* Whether what was mapped under that name is a file that may be there, or the vdso: no memory of a JIT compiler. */
bool hf_maps_is_file(const char *name);

/*
 * Adds a row of kind MAPPED for each mapping of code in the text, which is written to: of first's hart and context, with
 * the files beneath root. first->name names the text in errors.
 */
int hf_maps_read(struct hf_setup *setup, const struct hf_setup_file *first, const char *root, char *text, size_t size,
		 struct hf_setup_error *error);

#endif
