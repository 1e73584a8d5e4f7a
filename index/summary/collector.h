/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects what a summary has besides runs, in one pass over all events of a hart: what each chunk writes and reads,
 * its rare events, its registers. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_COLLECTOR_H
#define HF_INDEX_SUMMARY_COLLECTOR_H

#include "codecs/stretch.h"
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
/* To a file and back, into one that is as it was made. */
void hf_collector_keep(struct hf_collector *collector, struct hf_keep *keep);
/* At the end of the hart, after its last cut. */
int hf_collector_end(struct hf_collector *collector);

#endif
