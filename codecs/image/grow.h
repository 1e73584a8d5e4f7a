/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow up to a limit: what a hostile file can make of them is bounded. */
#ifndef HF_IMAGE_GROW_H
#define HF_IMAGE_GROW_H

#include "codecs/base/array.h"
#include "codecs/image/errors.h"

/* Room for one more row at *rows (a pointer to the array). HF_ERR_ELF_LIMIT if max are there, HF_ERR_NOMEM. */
static inline int hf_grow(void *rows, size_t count, size_t *cap, size_t max, size_t size)
{
	return count < *cap || count < max ? hf_array_reserve(rows, count + 1, cap, size) : HF_ERR_ELF_LIMIT;
}

/* Gives back what is not used. */
static inline void hf_shrink(void *rows, size_t count, size_t *cap, size_t size)
{
	hf_array_fit(rows, count, size);
	*cap = count;
}

#endif
