/* SPDX-License-Identifier: Apache-2.0 */
/* Dropping the files of an index. */
#ifndef HF_INDEX_DISCARD_H
#define HF_INDEX_DISCARD_H

#include "index/base/identity.h"
#include "index/base/view_key.h"
#include "index/store/dir.h"

/* Removes the decode index, these views' tables and the spool, if they are there and ours: they gave other bytes than
 * they promise, and the next build makes them anew. Who has them open keeps them. */
void hf_index_discard(const struct hf_store_dir *dir, const struct hf_identity *identity,
		      const struct hf_view_key *views, size_t view_count);
/* The directory fails, which says nothing of them: they stay, and are not found any more where files can be in memory
 * (index/store/memdir.h), until others take their place. */
void hf_index_hide(const struct hf_store_dir *dir, const struct hf_identity *identity, const struct hf_view_key *views,
		   size_t view_count);

#endif
