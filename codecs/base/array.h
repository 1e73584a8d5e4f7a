/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow. Room doubles; who needs a limit asks before. HF_ERR_NOMEM leaves an array as it is. */
#ifndef HF_BASE_ARRAY_H
#define HF_BASE_ARRAY_H

#include "codecs/base/err.h"

#include <stddef.h>
#include <stdlib.h>

/*
 * Makes room for one more element behind count of them, in an array that is filled once. array is the address of the
 * pointer to the first element, for free(). The count alone says when there is no room: at every power of two.
 */
static inline int hf_array_room(void *array, size_t count, size_t size)
{
	void **at = array, *bigger;

	if (count & (count - 1))
		return 0;
	bigger = realloc(*at, (count ? 2 * count : 1) * size);
	if (!bigger)
		return HF_ERR_NOMEM;
	*at = bigger;
	return 0;
}

/* Makes room for need elements, in an array that keeps its *room when it is emptied. */
static inline int hf_array_reserve(void *array, size_t need, size_t *room, size_t size)
{
	void **at = array, *bigger;
	size_t more = *room ? *room : 64;

	if (need <= *room)
		return 0;
	while (more < need && more)
		more *= 2;
	bigger = more && more <= PTRDIFF_MAX / size ? realloc(*at, more * size) : NULL;
	if (!bigger)
		return HF_ERR_NOMEM;
	*at = bigger;
	*room = more;
	return 0;
}

/* Gives back what is not used. */
static inline void hf_array_fit(void *array, size_t count, size_t size)
{
	void **at = array, *smaller = count ? realloc(*at, count * size) : NULL;

	if (smaller)
		*at = smaller;
}

#endif
