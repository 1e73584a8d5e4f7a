/* SPDX-License-Identifier: Apache-2.0 */
/* A capture's stream as one reader sees it who can say how he will read. */
#ifndef HF_FS_READ_LIMIT_H
#define HF_FS_READ_LIMIT_H

#include "codecs/source/source.h"

/* The same bytes as those of blocks; one thread at a time, which sets src.until. Nothing is cut there. */
struct hf_read_limit {
	struct hf_src src;     /* first: cast back */
	struct hf_src *blocks; /* block_source.h; borrowed */
	bool through;	       /* he looks at many places once each */
};

void hf_read_limit_init(struct hf_read_limit *limit, struct hf_src *blocks);

#endif
