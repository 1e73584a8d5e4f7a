/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects what a summary has besides runs, in one pass over all events of a hart: what each chunk writes and reads,
 * its rare events, its registers. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_COLLECTOR_H
#define HF_INDEX_SUMMARY_COLLECTOR_H

#include "codecs/stretch.h"
#include "index/summary/group_read.h"
#include "index/summary/run_table.h"

struct hf_collector;

/* room NULL: the usual one. The writer is borrowed. HF_ERR_NOMEM. */
int hf_collector_new(const struct hf_run_table_room *room, struct hf_group_writer *writer,
		     struct hf_collector **ret_collector);
void hf_collector_free(struct hf_collector *collector);
/* Adds the next events of the hart. */
int hf_collector_put(struct hf_collector *collector, const struct hf_event *ev, size_t n);
/* The same; stretch[count]: the stretches among them, in order. */
int hf_collector_put_known(struct hf_collector *collector, const struct hf_event *ev, size_t n,
			   const struct hf_stretch *stretch, size_t count);
/* A chunk ends here. */
void hf_collector_cut(struct hf_collector *collector);
/* Before an instruction: what has ended is complete. */
int hf_collector_settle(struct hf_collector *collector);
/* Of all chunks so far: what the hart has (group.h, KEYS). */
int hf_collector_put_keys(struct hf_collector *collector);
/* Before anything else: goes on at that chunk, which begins groups of filters, and its ordinal, with these keys, which it takes. */
void hf_collector_resume(struct hf_collector *collector, uint64_t chunk, uint64_t insns, struct hf_group_keys *keys);
/* The hart is complete: it ends behind the last chunk that was cut. */
int hf_collector_end(struct hf_collector *collector);

#endif
