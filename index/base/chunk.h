/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk of a hart, and a row of a view table, as the index has them. */
#ifndef HF_INDEX_CHUNK_H
#define HF_INDEX_CHUNK_H

#include "codecs/codec.h"
#include "index/base/digest.h"
#include "index/base/hart.h"
#include "index/base/prefix_digest.h"

#define HF_ENTRY_MAX (HF_MARK_SIZE + HF_STATE_MAX)

/* One chunk of one hart: what a decoder needs to make its events again. */
struct hf_chunk {
	uint64_t number;	/* from 0 within the hart */
	uint64_t ordinal;	/* of its first retired instruction */
	uint64_t insns;		/* retired instructions in it */
	uint64_t events;	/* events in it, all kinds */
	uint64_t stream_offset; /* where its first event's record or packet begins */
	uint64_t pc;		/* of its first instruction, 0 if it has none */
	uint64_t discard;	/* events to pass over after loading the entry */
	uint64_t attempts;	/* instructions in it that did not retire, */
	uint64_t problems;	/* and gaps, doubts and notes */
	struct hf_told told;
	struct hf_digest digest;
	struct hf_prefix_digest before; /* what the hart did before it; empty for the records */
	uint32_t entry_size;
	bool last; /* of its hart */
	uint8_t entry[HF_ENTRY_MAX];
};

/*
 * One row of a view table: one chunk, or several neighbours with few bytes, which are made together; then all bytes are
 * in the checksum. In a view that is counted (HF_ENC_COUNTS), and at the end of a hart, a row is one chunk.
 */
struct hf_view_chunk {
	uint64_t number;   /* of the row, from 0 within the hart */
	uint64_t chunk;	   /* number of its first chunk, */
	uint64_t chunks;   /*   and how many they are */
	uint64_t offset;   /* of its first byte in the view */
	uint64_t size;	   /* bytes; may be 0 */
	uint64_t checked;  /* so many of the last bytes are in the checksum */
	uint64_t checksum; /* XXH3-64 of these, and of the entry behind them; 0 if there are none. Of several chunks
			      hf_view_sum_join of them all */
	uint32_t entry_size;
	uint8_t entry[HF_ENTRY_MAX];
};

/* Joins the checksum of chunks with that of the chunk behind them. */
static inline uint64_t hf_view_sum_join(uint64_t sum, uint64_t behind)
{
	return sum * UINT64_C(0x9e3779b97f4a7c15) + behind;
}

/* Whether all its bytes are in the checksum. Others are checked by the events' digest and the encoder's state. */
static inline bool hf_view_chunk_is_whole(const struct hf_view_chunk *chunk)
{
	return chunk->checked == chunk->size;
}
/* Whether none is, so that a part is checked as well as all. Never at the end of a hart. */
static inline bool hf_view_chunk_has_parts(const struct hf_view_chunk *chunk)
{
	return !chunk->checked && chunk->size;
}

#endif
