/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view table while it is built. As with the decode index, what an interrupted build left is cut back to the start of
 * a chunk. Internal to index/.
 */
#ifndef HF_INDEX_VIEW_PART_H
#define HF_INDEX_VIEW_PART_H

#include "index/pass/view_join.h"
#include "index/read/times.h"
#include "index/store/store.h"

struct hf_view_part {
	const struct hf_view_key *key;
	struct hf_part file;
	struct hf_store *store;
	bool complete; /* only publishing is left */
	bool has_last; /* last is the id of its last chunk */
	uint64_t last;
	struct hf_view_chunk resume; /* offset and entry of the chunk to which it was cut back */
	struct hf_times_state times; /* of the times before it */
	struct hf_view_join join;    /* rows on their way into the table */
};

/* Locks, and opens or creates it. HF_ERR_BUSY. */
int hf_view_part_open(struct hf_view_part *part, int dirfd, const struct hf_identity *identity,
		      const struct hf_view_key *key, const struct hf_chunk_limits *limits);
/* Removes all rows. */
int hf_view_part_reset(struct hf_view_part *part, const struct hf_identity *identity,
		       const struct hf_chunk_limits *limits);
void hf_view_part_close(struct hf_view_part *part);

/* The chunk at or before id to which it can be cut back. HF_NOTE_END: it does not have chunk id. */
int hf_view_part_start(struct hf_view_part *part, uint64_t id, uint64_t *ret_id);
/* Cuts it back to the start of such a chunk; HF_NOTE_END: id is none. */
int hf_view_part_cut(struct hf_view_part *part, uint64_t id);

/* records.txt belongs to HF_HART_RECORDS, any other view to the other harts. */
static inline bool hf_view_part_is_for(const struct hf_view_part *part, uint32_t hart)
{
	return (part->key->ops == &hf_enc_records) == (hart == HF_HART_RECORDS);
}

int hf_view_part_add_chunk(struct hf_view_part *part, uint64_t id, const struct hf_view_chunk *chunk);
/* Adds a row of the chunk's times, before the chunk. number: 0, 1 ... */
int hf_view_part_add_times(struct hf_view_part *part, uint64_t id, uint64_t number, const struct hf_view_times *times);
/* Adds the hart, after its last chunk. size: bytes of the view. */
void hf_view_part_add_hart(struct hf_view_part *part, uint64_t slot, uint32_t hart, uint64_t size, uint64_t chunks);
/* To be called when the index has chunk id: rows up to there need not wait any more. */
int hf_view_part_settle(struct hf_view_part *part, uint64_t id);

int hf_view_part_commit(struct hf_view_part *part);
/* Writes meta as complete and closes the database; the file stays locked until it is published and closed. */
int hf_view_part_finish(struct hf_view_part *part, const struct hf_identity *identity,
			const struct hf_chunk_limits *limits);

#endif
