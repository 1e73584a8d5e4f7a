/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A span of a hart's summary: the contents of a run table as rows. A long hart has several, each of a part of the hart;
 * answers come from all of them. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_SPAN_H
#define HF_INDEX_SUMMARY_SPAN_H

#include "index/base/squeeze.h"
#include "index/summary/run_table.h"
#include "index/table/row.h"

struct hf_span_writer {
	hf_summary_row_fn put;
	void *ctx;
	uint64_t spans, pages, runs; /* of the hart so far */
	int level;		     /* of compression: 0 is as usual */
	struct hf_squeeze squeeze;
	struct hf_page_writer page;
	struct hf_summary_page page_row;
};

int hf_span_writer_new(hf_summary_row_fn put, void *ctx, struct hf_span_writer **ret_writer);
void hf_span_writer_free(struct hf_span_writer *writer);
/* All that the table holds, unless that is nothing; it stays there. */
int hf_span_writer_put(struct hf_span_writer *writer, struct hf_run_table *table);
/* The hart is complete: which contexts its runs are of. Adds to *ret_hart what is the summary's. */
int hf_span_writer_end(struct hf_span_writer *writer, const struct hf_run_cutter *cutter,
		       struct hf_summary_hart *ret_hart);

#endif
