/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by one element at a time. Internal to index/. */
#ifndef HF_INDEX_ARRAY_H
#define HF_INDEX_ARRAY_H

#include "codecs/base/err.h"

#include <stdlib.h>

/* Makes room for one more element behind count of them; array is the address of the pointer to the first. The room
 * doubles at every power of two. HF_ERR_NOMEM leaves all as it is. */
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

#endif
