/* SPDX-License-Identifier: Apache-2.0 */
/* Files for readers of descriptions: those of a directory, and those that exist in a test's text alone, where "@NAME" on a
 * line of its own begins one. */
#ifndef HF_TEST_FILES_H
#define HF_TEST_FILES_H

#include "codecs/setup/read.h"

struct hf_files {
	const char *text; /* borrowed */
	size_t size;
};

/* An opener of the files below a directory, which is borrowed. */
struct hf_setup_opener hf_files_in(const char *dir, const struct hf_codec *const *codecs);

/* An opener of these files. */
struct hf_setup_opener hf_files_opener(struct hf_files *files, const struct hf_codec *const *codecs);

#endif
