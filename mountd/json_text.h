/* SPDX-License-Identifier: Apache-2.0 */
/* Text as a string of JSON on standard output, for commands that print an object a line. */
#ifndef HF_MOUNTD_JSON_TEXT_H
#define HF_MOUNTD_JSON_TEXT_H

#include <stddef.h>

void hf_print_json_text(const char *text, size_t size);

#endif
