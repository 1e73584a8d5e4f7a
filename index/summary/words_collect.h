/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects which memory a hart touches, and in which chunks: for ranges of units that were touched in one and the same
 * chunk, a list of chunks. A unit is a word of 8 bytes or a line of 64, and becomes a line, a page, 1 MiB, 1 GiB, and
 * all memory, where the summary would have too many bytes otherwise (inverse_span.h). Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_WORDS_COLLECT_H
#define HF_INDEX_SUMMARY_WORDS_COLLECT_H

#include "codecs/event.h"
#include "index/summary/inverse_span.h"
#include "index/summary/touched.h"

struct hf_words_collector {
	struct hf_inverse_writer writer;
	struct hf_touched touched;
	unsigned least, level; /* a unit has 1 << level bytes; HF_WORDS_ALL: it is all memory */
	uint64_t chunk;
	bool any; /* such an access was met */
};

/* As hf_inverse_writer_init: into a zeroed one, to be finished in any case. part: of WRITES to ATTEMPT_READS. */
int hf_words_collector_init(struct hf_words_collector *c, enum hf_inverse_part part, const struct hf_inverse_room *room,
			    hf_summary_row_fn put, void *ctx);
void hf_words_collector_fini(struct hf_words_collector *c);
/* An access. Without a size it counts as 1 byte. */
int hf_words_collector_put(struct hf_words_collector *c, const struct hf_event *mem);
/* The same, if it is close to the last one; false, with nothing done, if not. */
static inline bool hf_words_collector_again(struct hf_words_collector *c, const struct hf_event *mem)
{
	const uint64_t first = mem->mem.address, last = first + mem->mem.size - 1;
	const uint64_t block = c->touched.last->number;

	if (!c->any || c->level >= 58 || mem->flags & HF_EVF_NO_ADDRESS || last < first ||
	    first >> (c->level + 6) != block || last >> (c->level + 6) != block)
		return false;
	return hf_touched_add(&c->touched, first >> c->level, last >> c->level);
}
/* So many chunks end here. insns: of the hart so far. */
int hf_words_collector_cut(struct hf_words_collector *c, uint64_t chunks, uint64_t insns);
/* To a file and back, into one that is as it was made. */
void hf_words_collector_keep(struct hf_words_collector *c, struct hf_keep *keep);
int hf_words_collector_end(struct hf_words_collector *c, bool known);

#endif
