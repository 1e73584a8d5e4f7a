/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the calls of a hart as rows: the stacks of its chunks as they come, the tree at the end. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_CALL_WRITE_H
#define HF_INDEX_SUMMARY_CALL_WRITE_H

#include "index/summary/calls.h"
#include "index/summary/span.h"

struct hf_call_writer;

int hf_call_writer_new(const struct hf_call_room *room, hf_summary_row_fn put, void *ctx,
		       struct hf_call_writer **ret_writer);
void hf_call_writer_free(struct hf_call_writer *writer);
/* The hart's calls, which it follows. */
struct hf_calls *hf_call_writer_calls(struct hf_call_writer *writer);
/* To a file and back, into one that is as it was made; at most so many chunks wait for their stacks. */
void hf_call_writer_keep(struct hf_call_writer *writer, uint64_t chunks, struct hf_keep *keep);
/* At the end of the hart, which has so many instructions. */
int hf_call_writer_end(struct hf_call_writer *writer, uint64_t insns);

#endif
