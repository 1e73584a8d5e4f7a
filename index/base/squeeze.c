/* SPDX-License-Identifier: Apache-2.0 */
#include "index/base/squeeze.h"

#include "codecs/base/err.h"

#include <zstd.h>

int hf_squeeze(struct hf_squeeze *squeeze, int level, const void *bytes, size_t n, void *to, size_t room,
	       uint32_t *ret_n)
{
	size_t size;

	if (!squeeze->zstd)
		squeeze->zstd = ZSTD_createCCtx();
	if (!squeeze->zstd)
		return HF_ERR_NOMEM;
	size = ZSTD_compressCCtx(squeeze->zstd, to, room, bytes, n, level);
	if (ZSTD_isError(size))
		return HF_ERR_NOMEM;
	*ret_n = (uint32_t)size;
	return 0;
}

void hf_squeeze_fini(struct hf_squeeze *squeeze)
{
	ZSTD_freeCCtx(squeeze->zstd);
	squeeze->zstd = NULL;
}
