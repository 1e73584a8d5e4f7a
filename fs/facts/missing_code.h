/* SPDX-License-Identifier: Apache-2.0 */
/* What of a capture with processes was lost because a file is not there: errors.txt names each once. */
#ifndef HF_FS_MISSING_CODE_H
#define HF_FS_MISSING_CODE_H

#include "codecs/base/sink.h"

struct hf_open;

/* Lines of errors.txt; none if the capture has no processes. path is the capture's. */
void hf_missing_code_put(struct hf_sink *sink, const char *path, const struct hf_open *open);

/* "'/bin/sort' is not known: no file has its build id ...", of code at that address; false: none was mapped there. */
bool hf_missing_code_text(const struct hf_open *open, uint64_t address, char *buf, size_t size);
/* The same of the first code that the trace comes to and that is missing. */
bool hf_missing_code_first(const struct hf_open *open, char *buf, size_t size);

#endif
