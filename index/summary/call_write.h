/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the calls of a hart as rows: the stacks of its chunks as they come, the tree at the end. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_CALL_WRITE_H
#define HF_INDEX_SUMMARY_CALL_WRITE_H

#include "index/base/squeeze.h"
#include "index/summary/call_page.h"
#include "index/summary/calls.h"
#include "index/summary/span.h"

struct hf_call_writer {
	hf_summary_row_fn put;
	void *ctx;
	struct hf_calls *calls;
	uint64_t stack_pages, node_pages;
	struct hf_squeeze squeeze;
	struct hf_call_stacked stack;
	struct hf_call_page_writer page; /* of stacks, then of nodes */
	struct hf_summary_call_page row;
};

int hf_call_writer_new(const struct hf_call_room *room, hf_summary_row_fn put, void *ctx,
		       struct hf_call_writer **ret_writer);
void hf_call_writer_free(struct hf_call_writer *writer);
/* The stacks so far, so that those to come begin a page. */
int hf_call_writer_flush(struct hf_call_writer *writer);
/* Behind that, before the first instruction of a chunk: the tree, and in place of stacks of chunks those of so many contexts. */
int hf_call_writer_put_all(struct hf_call_writer *writer, uint64_t chunk, size_t contexts);
/* The hart ends, with so many instructions. */
int hf_call_writer_end(struct hf_call_writer *writer, uint64_t insns);

#endif
