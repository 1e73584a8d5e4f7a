/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/source.h"

void hf_src_free(struct hf_src *src)
{
	if (src)
		src->ops->free(src);
}
