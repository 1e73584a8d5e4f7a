/* SPDX-License-Identifier: Apache-2.0 */
/* Making the index of a capture. */
#ifndef HF_FS_BUILD_H
#define HF_FS_BUILD_H

#include "fs/facts/capture.h"

#include <stdatomic.h>

struct hf_builder {
	struct hf_chunk_limits limits;
	_Atomic(struct hf_disasm *) spare_disasm[2]; /* of finished builds: what they remember helps the next */
};

void hf_builder_init(struct hf_builder *builder, uint64_t chunk_insns);
void hf_builder_fini(struct hf_builder *builder);

/* Indexes on the calling thread. If another thread does so, waits for it, or HF_ERR_BUSY without wait. tap: who gets
 * the bytes of a view meanwhile, or NULL. */
int hf_capture_index(struct hf_capture *capture, bool wait, const struct hf_tap *tap,
		     bool (*fn)(void *ctx, double percent, uint64_t insns), void *ctx, struct hf_diag *diag);

#endif
