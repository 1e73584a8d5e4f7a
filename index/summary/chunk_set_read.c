/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/chunk_set_read.h"

#include "index/summary/summary_internal.h"

#include <stdlib.h>

/* 128 MiB of bits. */
#define CHUNKS_MAX (UINT64_C(1) << 30)

int hf_chunk_set_begin(struct hf_chunk_set *set, struct hf_summary *summary, uint32_t hart)
{
	const struct hf_summary_hart *h = hf_summary_find_hart(summary, hart);

	*set = (struct hf_chunk_set){0};
	if (!h)
		return HF_ERR_NOT_FOUND;
	return h->chunks > CHUNKS_MAX ? HF_ERR_STATE : hf_chunk_set_init(set, h->chunks);
}

int hf_chunk_set_add_list(struct hf_chunk_set *set, struct hf_summary *summary, struct hf_list_reader *reader,
			  enum hf_inverse_part part, const struct hf_inverse_found *found, unsigned shift)
{
	struct hf_posting posting;
	struct hf_list list;
	uint8_t *bytes = NULL;
	int err;

	/* Most lists are that short. */
	if (found->facts.postings == 1) {
		hf_chunk_set_add(set, found->place << shift, UINT64_C(1) << shift);
		return 0;
	}
	err = reader ? hf_inverse_list_by(summary, reader, part, found, &list)
		     : hf_inverse_list(summary, part, found, &list, &bytes);

	while (!err && !(err = hf_list_next(&list, &posting)))
		hf_chunk_set_add(set, posting.chunk << shift, UINT64_C(1) << shift);
	free(bytes);
	return err == HF_NOTE_END ? 0 : err;
}
