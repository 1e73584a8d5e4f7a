/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A span of a hart's summary: what a run table holds, as rows. A hart of which there is much has several, each of all
 * that was executed from one place to the next; what is asked is asked of all of them. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_SPAN_H
#define HF_INDEX_SUMMARY_SPAN_H

#include "index/summary/run_table.h"
#include "index/table/row.h"

struct hf_span_writer;

int hf_span_writer_new(hf_summary_row_fn put, void *ctx, struct hf_span_writer **ret_writer);
void hf_span_writer_free(struct hf_span_writer *writer);
/* All that it holds, unless that is nothing; the table is empty then. */
int hf_span_writer_put(struct hf_span_writer *writer, struct hf_run_table *table);
/* To a file and back: what it has written. */
void hf_span_writer_keep(struct hf_span_writer *writer, struct hf_keep *keep);
/* The hart is complete: which contexts its runs are of. Adds to *ret_hart what is the summary's. */
int hf_span_writer_end(struct hf_span_writer *writer, const struct hf_run_cutter *cutter,
		       struct hf_summary_hart *ret_hart);

#endif
