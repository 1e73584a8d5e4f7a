/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scan of a container for several readers, on any threads: a block that one of them decompresses is there for all.
 * HF_SHARED_BYTES are kept for readers that are behind. One that is further behind reads the container by itself from
 * then on: it gets the same blocks, for twice the work. Internal to index/.
 */
#ifndef HF_INDEX_SHARED_SCAN_H
#define HF_INDEX_SHARED_SCAN_H

#include "codecs/source/source.h"

/* Bytes of blocks that are kept, besides the newest one. */
#define HF_SHARED_BYTES (UINT64_C(4) << 20)

struct hf_shared_scan;

/* For that container in base, which is borrowed. */
int hf_shared_scan_new(const struct hf_box *box, struct hf_src *base, struct hf_shared_scan **ret_shared,
		       struct hf_diag *diag);
/* Readers may live longer. */
void hf_shared_scan_release(struct hf_shared_scan *shared);

/*
 * A reader at the beginning, with the operations of hf_shared_scan_box. *ret_scan is NULL if the beginning is not kept
 * any more: then another scan is needed.
 */
int hf_shared_scan_join(struct hf_shared_scan *shared, struct hf_scan **ret_scan, struct hf_diag *diag);
/* The container for its readers; valid as long as one of them lives. */
const struct hf_box *hf_shared_scan_box(const struct hf_shared_scan *shared);

#endif
