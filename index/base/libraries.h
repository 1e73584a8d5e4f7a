/* SPDX-License-Identifier: Apache-2.0 */
/* Which libraries these are. */
#ifndef HF_INDEX_LIBRARIES_H
#define HF_INDEX_LIBRARIES_H

#include <stddef.h>

/* Names and versions of the libraries from here down, as snprintf gives them. */
int hf_index_libraries(char *buf, size_t size);

#endif
