/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of libraries. */
#ifndef HF_INDEX_LIBRARIES_H
#define HF_INDEX_LIBRARIES_H

#include <stddef.h>

/* Names and versions of the libraries that index/ and codecs/ use; returns as snprintf does. */
int hf_index_libraries(char *buf, size_t size);

#endif
