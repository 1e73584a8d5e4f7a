/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the registers of a hart (registers.h). Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_REGISTERS_COLLECT_H
#define HF_INDEX_SUMMARY_REGISTERS_COLLECT_H

#include "codecs/event.h"
#include "index/summary/inverse_span.h"

/* A key: class << 16 | number, enum hf_registers_what. Levels: bits of the number of a chunk that are not kept. */
#define HF_REGISTERS_NUMBER_BITS 16
#define HF_REGISTERS_LEVEL_STEP 4u
#define HF_REGISTERS_LEVEL_MAX 40u

enum { HF_REGISTERS_RECENT = 256 };

struct hf_registers_collector {
	struct hf_inverse_writer writer;
	unsigned level;
	uint64_t chunk;
	bool any;
	/* Those put in this chunk, as far as they do not push each other out: key plus 1 and the chunk. */
	struct {
		uint64_t key, chunk;
	} recent[HF_REGISTERS_RECENT];
};

/* As hf_inverse_writer_init: into a zeroed one, to be finished in any case. */
int hf_registers_collector_init(struct hf_registers_collector *c, const struct hf_inverse_room *room,
				hf_summary_row_fn put, void *ctx);
void hf_registers_collector_fini(struct hf_registers_collector *c);
/* Of an instruction that retired. */
int hf_registers_collector_put(struct hf_registers_collector *c, const struct hf_event *reg);
/* So many chunks end here. insns: of the hart so far. */
void hf_registers_collector_cut(struct hf_registers_collector *c, uint64_t chunks, uint64_t insns);
/* To a file and back, into one that is as it was made. */
void hf_registers_collector_keep(struct hf_registers_collector *c, struct hf_keep *keep);
int hf_registers_collector_end(struct hf_registers_collector *c);

#endif
