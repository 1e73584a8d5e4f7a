/* SPDX-License-Identifier: Apache-2.0 */
/* A capture's stream for one reader, who sets how far it will read. */
#ifndef HF_FS_READ_LIMIT_H
#define HF_FS_READ_LIMIT_H

#include "codecs/source/source.h"

/* The same bytes as blocks, for one thread at a time. It sets src.until, a hint: reads may go beyond. */
struct hf_read_limit {
	struct hf_src src;     /* first: cast back */
	struct hf_src *blocks; /* block_source.h; borrowed */
	bool through;	       /* it reads many places, each once */
};

void hf_read_limit_init(struct hf_read_limit *limit, struct hf_src *blocks);

#endif
