/* SPDX-License-Identifier: Apache-2.0 */
/* A capture's stream as one reader sees it who can say how he will read. */
#ifndef HF_FS_REACH_H
#define HF_FS_REACH_H

#include "codecs/source/source.h"

/* The same bytes as those of blocks; one thread at a time, which sets src.until. Nothing is cut there. */
struct hf_reach {
	struct hf_src src;     /* first: cast back */
	struct hf_src *blocks; /* block_source.h; borrowed */
	bool through;	       /* he looks at many places once each */
};

void hf_reach_init(struct hf_reach *reach, struct hf_src *blocks);

#endif
