/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table image of a decode index: the code that each hart executed (codecs/image/collect.h), compressed and cut into
 * rows. Internal to index/.
 */
#ifndef HF_INDEX_IMAGE_H
#define HF_INDEX_IMAGE_H

#include "codecs/image/collect.h"
#include "index/store/store.h"

#include <zstd.h>

/* Stores the image of the first events of the hart in that slot, in place of an older one. */
int hf_index_image_put(struct hf_store *store, ZSTD_CCtx *zstd, uint64_t slot, uint64_t events, const struct hf_image *image);

/* HF_NOTE_END if there is none, HF_ERR_STATE if it is damaged. */
int hf_index_image_get(struct hf_store *store, uint64_t slot, uint64_t *ret_events, struct hf_image **ret_image);

int hf_index_image_drop(struct hf_store *store, uint64_t slot);
/* Removes the images of all slots from slot on. */
int hf_index_image_cut(struct hf_store *store, uint64_t slot);

#endif
