/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the rare events of a hart (rare.h). Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_RARE_COLLECT_H
#define HF_INDEX_SUMMARY_RARE_COLLECT_H

#include "codecs/event.h"
#include "index/summary/inverse_span.h"
#include "index/summary/rare.h"

/* A key: kind << 8 | detail, value. Levels: bits of an ordinal that are not kept. */
#define HF_RARE_DETAIL_BITS 8
#define HF_RARE_LEVEL_STEP 4u
#define HF_RARE_LEVEL_MAX 60u
/* From this level on values are not kept. */
#define HF_RARE_LEVEL_MAYBE 8u

struct hf_rare_collector {
	struct hf_inverse_writer writer;
	uint8_t level[HF_RARE_KINDS];
};

/* As hf_inverse_writer_init: into a zeroed one, to be finished in any case. */
int hf_rare_collector_init(struct hf_rare_collector *c, const struct hf_inverse_room *room, hf_summary_row_fn put,
			   void *ctx);
void hf_rare_collector_fini(struct hf_rare_collector *c);
/* Any event; insns: instructions of the hart that have retired, with it. */
int hf_rare_collector_put(struct hf_rare_collector *c, const struct hf_event *ev, uint64_t insns);
/* A chunk ends here. */
int hf_rare_collector_cut(struct hf_rare_collector *c, uint64_t insns);
/* To a file and back, into one that is as it was made. */
void hf_rare_collector_keep(struct hf_rare_collector *c, struct hf_keep *keep);
int hf_rare_collector_end(struct hf_rare_collector *c, uint64_t insns);

#endif
