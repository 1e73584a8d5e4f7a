/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as programmers wrote them, from those that C++ and Rust compilers make of them. Mangled names come from hostile
 * files, and a short one can stand for gigabytes: both the name and what becomes of it have a limit.
 */
#ifndef HF_IMAGE_DEMANGLE_H
#define HF_IMAGE_DEMANGLE_H

#include <stddef.h>

#define HF_DEMANGLE_MAX 4096 /* bytes of either */

struct hf_demangler {
	unsigned stopped; /* names whose making was stopped where that may cost memory; 0 to start */
	char text[HF_DEMANGLE_MAX];
};

/*
 * The name in demangler->text, terminated, and its length; 0 if it is not mangled, or beyond a limit. What follows an
 * '@' (a version, plt) stays as it is. Takes some 100 KiB of stack.
 */
size_t hf_demangle(struct hf_demangler *demangler, const char *name);

#endif
