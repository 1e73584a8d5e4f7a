/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the runs of a hart: how often each was executed, and in which chunks. It has so much memory; when that is
 * full, what it has becomes a span of the summary (span.h), and it begins anew. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_TALLY_H
#define HF_INDEX_SUMMARY_TALLY_H

#include "index/summary/inverse.h"
#include "index/summary/run.h"

/* Runs that one span can have, bytes of their code, and of the lists while they grow. Together with the table of runs
 * that is 23 MiB, of which what is not used costs nothing. */
struct hf_tally_room {
	uint32_t runs, code, lists;
	struct hf_inverse_room inverse; /* of each other part; without keys: as usual */
};
extern const struct hf_tally_room hf_tally_room_default;

/* A run with what is known of it. */
struct hf_tally_run {
	struct hf_run_key key;
	uint32_t insns, bytes;
	uint64_t hash;
	uint32_t code; /* where it is */
	struct hf_growing list;
};

struct hf_tally {
	struct hf_tally_room room;
	struct hf_tally_run *runs;
	uint32_t *slots, slot_mask; /* number of a run plus 1, or 0 */
	uint8_t *code;
	struct hf_growing_lists lists;
	uint32_t run_count, code_size;
	uint64_t first_chunk, chunk; /* of the span; at hand */
	uint64_t insns;
};

int hf_tally_new(const struct hf_tally_room *room, struct hf_tally **ret_tally);
void hf_tally_free(struct hf_tally *tally);

/* One more run in the chunk at hand. HF_ERR_LIMIT: there is no room, and nothing has changed. */
int hf_tally_put(struct hf_tally *tally, const struct hf_run *run);
static inline void hf_tally_next_chunk(struct hf_tally *tally)
{
	tally->chunk++;
}

/* *ret_order, for free(): the runs in the order of their keys and code. */
int hf_tally_sort(struct hf_tally *tally, const struct hf_tally_run ***ret_order);
/* Empties it: the next span begins in the chunk at hand. */
void hf_tally_reset(struct hf_tally *tally);

/* To a file and back, into an empty one. */
void hf_tally_keep(struct hf_tally *tally, struct hf_keep *keep);

/* What a list of the run says. */
void hf_tally_facts(const struct hf_tally *tally, const struct hf_tally_run *run, struct hf_list_facts *ret_facts);

#endif
