/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A span of a hart's summary: the contents of a run table as rows. A long hart has several, each of a part of the hart;
 * answers come from all of them. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_SPAN_H
#define HF_INDEX_SUMMARY_SPAN_H

#include "index/summary/run_table.h"
#include "index/table/row.h"

struct hf_span_writer;

int hf_span_writer_new(hf_summary_row_fn put, void *ctx, struct hf_span_writer **ret_writer);
void hf_span_writer_free(struct hf_span_writer *writer);
/* Writes and empties the table; an empty one is not written. */
int hf_span_writer_put(struct hf_span_writer *writer, struct hf_run_table *table);
/* To a file and back: what it has written. */
void hf_span_writer_keep(struct hf_span_writer *writer, struct hf_keep *keep);
/* At the end of the hart: writes its contexts, and sets the summary's members of *ret_hart. */
int hf_span_writer_end(struct hf_span_writer *writer, const struct hf_run_cutter *cutter,
		       struct hf_summary_hart *ret_hart);

#endif
