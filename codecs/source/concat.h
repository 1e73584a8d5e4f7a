/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several sources end to end as one: the trace files of a capture with a description. A piece may be a part of its
 * source.
 */
#ifndef HF_SOURCE_CONCAT_H
#define HF_SOURCE_CONCAT_H

#include "codecs/source/source.h"

struct hf_concat_piece {
	struct hf_src *src;    /* of known size; owned by the concatenation */
	uint64_t offset, size; /* in it */
};

/* Takes the sources also on failure. HF_ERR_CORRUPT if a piece is not in its source or all are too long together. */
int hf_src_concat_new(const struct hf_concat_piece *pieces, size_t count, struct hf_src **ret_src);

/* The same of pieces whose sources are owned[owned_count], each any number of times: they are freed once. */
int hf_src_pieces_new(struct hf_src *const *owned, size_t owned_count, const struct hf_concat_piece *pieces, size_t count,
		      struct hf_src **ret_src);

#endif
