/* SPDX-License-Identifier: Apache-2.0 */
/* zstd for many small pieces, one after the other: what it needs of memory it gets once, and not with every piece. */
#ifndef HF_INDEX_SQUEEZE_H
#define HF_INDEX_SQUEEZE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed it is ready. */
struct hf_squeeze {
	struct ZSTD_CCtx_s *zstd;
};

/* bytes[n] to to[room], as *ret_n bytes. HF_ERR_NOMEM, also if there is no room. */
int hf_squeeze(struct hf_squeeze *squeeze, int level, const void *bytes, size_t n, void *to, size_t room,
	       uint32_t *ret_n);
void hf_squeeze_fini(struct hf_squeeze *squeeze);

#endif
