/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as they are shown: as the linker has them, or as the programmer wrote them. */
#ifndef HF_IMAGE_FUNCTION_NAME_H
#define HF_IMAGE_FUNCTION_NAME_H

#include "codecs/image/demangle.h"
#include "codecs/image/names.h"

/*
 * A name of the linker in to[HF_SYMBOL_NAME_MAX + 1]: as the file has it, or what the demangler, which may be NULL, makes
 * of it. Returns its length. Every character is printable, and without a demangler none is a blank, '<' or '>'.
 */
size_t hf_function_name(char *to, const char *name, struct hf_demangler *demangler);

#endif
