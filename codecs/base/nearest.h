/* SPDX-License-Identifier: Apache-2.0 */
/* Words that were misspelt: which of the known ones was meant. */
#ifndef HF_BASE_NEAREST_H
#define HF_BASE_NEAREST_H

#include <stddef.h>

#define HF_NEAREST_SIZE 80

/*
 * " (did you mean 'trace'?)" in buf, if one of words (ending with NULL) differs from word[n] by few enough letters that
 * were left out, added, changed or swapped; else "". Returns buf.
 */
const char *hf_nearest_hint(const char *word, size_t n, const char *const *words, char buf[HF_NEAREST_SIZE]);

#endif
