/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From where a summary that was interrupted goes on: rows of a hart that is whole, as if it ended there, in a slot of its
 * own. Such a place is before the first instruction of a chunk where a group begins, and groups of filters: nothing of
 * these is at hand. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_CHECKPOINT_H
#define HF_INDEX_SUMMARY_CHECKPOINT_H

#include "index/summary/call_write.h"
#include "index/summary/collector.h"
#include "index/summary/span.h"

/* Chunks whose numbers are multiples of it: 67 million instructions, decoded in some seconds. */
#define HF_CHECKPOINT_CHUNKS ((uint64_t)HF_GROUP_CHUNKS * HF_GROUP_FILTERS)
/* Where its rows are: no hart is there. */
#define HF_SLOT_CHECKPOINT (HF_SLOT_RECORDS + 1)

/* What makes the summary of a hart. */
struct hf_summary_makers {
	struct hf_run_cutter *cutter;
	struct hf_run_table *table;
	struct hf_span_writer *spans;
	struct hf_group_writer *groups;
	struct hf_call_writer *calls;
	struct hf_collector *collector;
};

/* Before that instruction, whether all that is known can be had from rows. */
bool hf_checkpoint_is_possible(const struct hf_summary_makers *m);
/* Then, but for the hart's row, which says from which chunk on; it is to follow. The stacks so far are flushed. */
int hf_checkpoint_put(const struct hf_summary_makers *m, struct hf_summary_hart *hart);
/* Into makers that are new, of what is in the store; hart: its row. HF_ERR_STATE: it cannot be. */
int hf_checkpoint_load(const struct hf_summary_makers *m, struct hf_store *store, const struct hf_summary_hart *hart);

#endif
