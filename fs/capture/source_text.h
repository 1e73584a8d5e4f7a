/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a source file, if it lies beside the capture, in x.d, or in the debug directory. */
#ifndef HF_FS_SOURCE_TEXT_H
#define HF_FS_SOURCE_TEXT_H

#include "fs/facts/opened.h"

/* A longer one is not shown: each line gets columns in front of it. */
#define HF_SOURCE_TEXT_MAX (UINT64_C(16) << 20)
#define HF_SOURCE_LINES_MAX (UINT32_C(1) << 20)

struct hf_source_text {
	char *bytes; /* owned; NULL: there is none */
	size_t size;
	char *path;	 /* owned: from the archive's root, or with that of the debug directory before it */
	unsigned others; /* further files of that name */
	bool too_long;	 /* that is why there is none, */
	bool too_many;	 /*   or that: its lines */
};

/*
 * The text of the file with that name (no slash): the first one in x.d, or else in the debug directory. To be freed
 * after success; that there is none is no error. HF_ERR_CHANGED, and what reading returns.
 */
int hf_source_text_read(const struct hf_open *open, const char *name, struct hf_source_text *ret_text);
void hf_source_text_free(struct hf_source_text *text);

#endif
