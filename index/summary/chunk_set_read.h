/* SPDX-License-Identifier: Apache-2.0 */
/* Chunk sets out of lists. Internal to index/. */
#ifndef HF_INDEX_SUMMARY_CHUNK_SET_READ_H
#define HF_INDEX_SUMMARY_CHUNK_SET_READ_H

#include "index/summary/chunk_set.h"
#include "index/summary/inverse_read.h"

/* An empty one for the chunks of the hart. HF_ERR_NOT_FOUND: there is no such hart. HF_ERR_STATE: no hart has as many
 * chunks as it says. */
int hf_chunk_set_begin(struct hf_chunk_set *set, struct hf_summary *summary, uint32_t hart);
/* Adds the places of a list, each of which is 1 << shift chunks. reader: as of hf_inverse_list_by; may be NULL. */
int hf_chunk_set_add_list(struct hf_chunk_set *set, struct hf_summary *summary, struct hf_list_reader *reader,
			  enum hf_inverse_part part, const struct hf_inverse_found *found, unsigned shift);

#endif
