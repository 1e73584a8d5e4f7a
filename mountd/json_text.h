/* SPDX-License-Identifier: Apache-2.0 */
/* Text as a string of JSON on standard output, for commands that print an object a line. */
#ifndef HF_MOUNTD_JSON_TEXT_H
#define HF_MOUNTD_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

void hf_print_json_text(const char *text, size_t size);

/* ,"NAME":"TEXT", without the comma if it is the first of its object. */
void hf_print_json_member(const char *name, const char *text, bool first);

#endif
