/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scan of a container for several readers, on any threads: what one of them unpacks the others find. As much as
 * HF_SHARED_BYTES is kept for those that are behind. A reader that is left further behind reads the container on its
 * own from then on: it gets the same blocks, for twice the work. Internal to index/.
 */
#ifndef HF_INDEX_SHARED_SCAN_H
#define HF_INDEX_SHARED_SCAN_H

#include "codecs/source/source.h"

/* Of blocks that are kept, besides the newest. */
#define HF_SHARED_BYTES (UINT64_C(4) << 20)

struct hf_shared_scan;

/* For that container in base, which is borrowed. */
int hf_shared_scan_new(const struct hf_box *box, struct hf_src *base, struct hf_shared_scan **ret_shared,
		       struct hf_diag *diag);
/* Its readers may live longer. */
void hf_shared_scan_release(struct hf_shared_scan *shared);

/*
 * A reader that begins at the beginning, for hf_shared_scan_box of shared. *ret_scan is NULL if the beginning is not
 * kept any more: it takes another scan.
 */
int hf_shared_scan_join(struct hf_shared_scan *shared, struct hf_scan **ret_scan, struct hf_diag *diag);
/* The container as its readers see it, as long as there is one of them. */
const struct hf_box *hf_shared_scan_box(const struct hf_shared_scan *shared);

#endif
