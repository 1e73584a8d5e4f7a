/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries behind the codecs, with the versions that run, for --version. */
#ifndef HF_BASE_LIBRARIES_H
#define HF_BASE_LIBRARIES_H

#include <stddef.h>

/* "liblzma 5.4.1, zlib 1.2.13, ..."; the result and what does not fit are as with snprintf. */
int hf_codecs_libraries(char *buf, size_t size);

#endif
