/* SPDX-License-Identifier: Apache-2.0 */
/* Words that were misspelt: which of the known ones was meant. */
#ifndef HF_BASE_NEAREST_H
#define HF_BASE_NEAREST_H

#include <stddef.h>

#define HF_NEAREST_SIZE 80

/* The nearest of the names that were offered for word[n]: {.word = WORD, .n = N} to begin with. All borrowed. */
struct hf_nearest {
	const char *word;
	size_t n;
	const char *name; /* of size bytes; NULL: none is near */
	size_t size;
	unsigned distance;
};

/* Takes name[size] if it differs from the word by few enough letters that were left out, added, changed or swapped, and
 * by fewer than the one before. */
void hf_nearest_offer(struct hf_nearest *nearest, const char *name, size_t size);
/* " (did you mean 'trace'?)" in buf, or "". Returns buf. */
const char *hf_nearest_text(const struct hf_nearest *nearest, char buf[HF_NEAREST_SIZE]);
/* The same of words, which end with NULL. */
const char *hf_nearest_hint(const char *word, size_t n, const char *const *words, char buf[HF_NEAREST_SIZE]);

#endif
