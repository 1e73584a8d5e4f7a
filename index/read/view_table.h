/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A published view table, opened: where each chunk lies in one view. It is read-only and may be used by any number of
 * threads.
 */
#ifndef HF_INDEX_VIEW_TABLE_H
#define HF_INDEX_VIEW_TABLE_H

#include "index/base/chunk.h"
#include "index/base/identity.h"
#include "index/base/limits.h"
#include "index/base/view_key.h"

struct hf_index;

struct hf_view_table;

int hf_view_table_open(int dirfd, const struct hf_identity *identity, const struct hf_view_key *key,
		       struct hf_view_table **ret_table);
void hf_view_table_close(struct hf_view_table *table);
/* As of an index. */
bool hf_view_table_is_damaged(const struct hf_view_table *table);
void hf_view_table_remove(const struct hf_view_table *table);
/* Its name in the index directory. */
const char *hf_view_table_name(const struct hf_view_table *table);
/* 0 if it has no such hart; the table of hf_enc_records has HF_HART_RECORDS alone. */
uint64_t hf_view_table_size(const struct hf_view_table *table, uint32_t hart);
/* How many rows that hart has; 0 if it is not there. */
uint64_t hf_view_table_rows(const struct hf_view_table *table, uint32_t hart);
/* The row with that number. Of a view that is counted it is that of the chunk with that number. */
int hf_view_table_chunk(struct hf_view_table *table, uint32_t hart, uint64_t number, struct hf_view_chunk *ret_chunk);
/* The row that holds byte offset < size of the view. */
int hf_view_table_chunk_of(struct hf_view_table *table, uint32_t hart, uint64_t offset,
			   struct hf_view_chunk *ret_chunk);

/* Of all harts' views together, merged by time (merge.h): its size, HF_NOWHERE if it does not exist, because fewer than
 * two harts have times, or there are more than HF_MERGED_HARTS. */
uint64_t hf_view_table_merged(const struct hf_view_table *table);
/* Its runs, from one at or before that offset, below its size, on: for hf_merge_free, before the table is closed. */
struct hf_merge;
int hf_view_table_merge(struct hf_view_table *table, uint64_t offset, struct hf_merge **ret_merge);

/* A chunk with that sum of its bytes is served. false: it was before, with other bytes, as far as is remembered. */
bool hf_view_table_serves(struct hf_view_table *table, uint32_t hart, uint64_t number, uint64_t sum);

/* Whether its chunks were cut by these limits. */
bool hf_view_table_has_limits(const struct hf_view_table *table, const struct hf_chunk_limits *limits);
/* Whether the table was made with the same chunks as the index: if not, hf_build_run makes it anew. */
bool hf_view_table_fits(const struct hf_view_table *table, const struct hf_index *index);

/* Bytes of memory that it holds now: it grows while it is used, up to a few hundred KiB. */
uint64_t hf_view_table_memory(struct hf_view_table *table);
/* Bytes of its file, for info.json and budgets; or of its rows, if it is in a pack. */
uint64_t hf_view_table_file_size(const struct hf_view_table *table);

#endif
