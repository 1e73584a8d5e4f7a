/* SPDX-License-Identifier: Apache-2.0 */
/* Codecs for tests of descriptions, whatever is built in: "toy" with parameters, "ete" and "rv" with a machine. */
#ifndef HF_TEST_SETUPTEST_H
#define HF_TEST_SETUPTEST_H

#include "codecs/codec.h"
#include "codecs/setup/read.h"

/* For hf_setup_opener.codecs. */
extern const struct hf_codec *const hf_setup_codecs[];

/* Reads the files that data holds (tests/lib/files.h), the one called name first: an error has its text, and what is read
 * holds together. Aborts if not. */
typedef int (*hf_setup_reader)(const struct hf_setup_opener *opener, const char *name, struct hf_setup **ret_setup,
			       struct hf_setup_error *error);
void hf_setup_fuzz(hf_setup_reader read, const char *name, const void *data, size_t size);

#endif
