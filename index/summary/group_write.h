/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sections of groups (group.h). Internal to index/. */
#ifndef HF_INDEX_SUMMARY_GROUP_WRITE_H
#define HF_INDEX_SUMMARY_GROUP_WRITE_H

#include "index/summary/group.h"
#include "index/summary/summary_tables.h"

/* Gets a row of a table of a summary, with its number within the hart. */
typedef int (*hf_summary_row_fn)(void *ctx, const struct hf_table *table, uint64_t number, const void *row);

struct hf_group_writer;

/* HF_ERR_NOMEM. */
int hf_group_writer_new(hf_summary_row_fn put, void *ctx, struct hf_group_writer **ret_writer);
void hf_group_writer_free(struct hf_group_writer *writer);
/* Writes and empties the section; an empty one is not written. HF_ERR_LIMIT: it is too large. */
int hf_group_write(struct hf_group_writer *writer, uint64_t group, enum hf_section section, struct hf_raw *raw);

#endif
