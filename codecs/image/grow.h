/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow up to a limit: what a hostile file can make of them is bounded. */
#ifndef HF_IMAGE_GROW_H
#define HF_IMAGE_GROW_H

#include "codecs/image/errors.h"

#include <stddef.h>
#include <stdlib.h>

/* Room for one more row at *rows (a pointer to the array). HF_ERR_ELF_LIMIT if max are there, HF_ERR_NOMEM. */
static inline int hf_grow(void *rows, size_t count, size_t *cap, size_t max, size_t size)
{
	void **at = rows, *bigger;
	const size_t want = *cap ? *cap * 2 : 64;

	if (count < *cap)
		return 0;
	if (count >= max)
		return HF_ERR_ELF_LIMIT;
	bigger = realloc(*at, want * size);
	if (!bigger)
		return HF_ERR_NOMEM;
	*at = bigger;
	*cap = want;
	return 0;
}

/* Gives back what is not used. */
static inline void hf_shrink(void *rows, size_t count, size_t *cap, size_t size)
{
	void **at = rows, *smaller = count && count < *cap ? realloc(*at, count * size) : NULL;

	if (smaller) {
		*at = smaller;
		*cap = count;
	}
}

#endif
