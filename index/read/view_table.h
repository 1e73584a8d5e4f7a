/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A published view table, opened: where each chunk of one view is. It is read-only and may be used by any number of
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
/* As for an index (decode_index.h). */
bool hf_view_table_is_damaged(const struct hf_view_table *table);
void hf_view_table_remove(const struct hf_view_table *table);
/* Its name in the index directory. */
const char *hf_view_table_name(const struct hf_view_table *table);
/* 0: there is no such hart. The table of hf_enc_records has only HF_HART_RECORDS. */
uint64_t hf_view_table_size(const struct hf_view_table *table, uint32_t hart);
/* How many rows the hart has; 0: there is no such hart. */
uint64_t hf_view_table_rows(const struct hf_view_table *table, uint32_t hart);
/* The row with that number. In a view that is counted (HF_ENC_COUNTS) rows are numbered as chunks. */
int hf_view_table_chunk(struct hf_view_table *table, uint32_t hart, uint64_t number, struct hf_view_chunk *ret_chunk);
/* The row that holds byte offset < size of the view. */
int hf_view_table_chunk_of(struct hf_view_table *table, uint32_t hart, uint64_t offset,
			   struct hf_view_chunk *ret_chunk);

/* The size of the merged view of all harts (merge.h). HF_NOWHERE: there is none, because fewer than two harts have
 * times, or there are more than HF_MERGED_HARTS. */
uint64_t hf_view_table_merged(const struct hf_view_table *table);
/* The merged runs from one at or before that offset, which is below the size. To be freed before the table is. */
struct hf_merge;
int hf_view_table_merge(struct hf_view_table *table, uint64_t offset, struct hf_merge **ret_merge);

/* Notes that a chunk with that checksum of its bytes is served. False: it was served before with another one. */
bool hf_view_table_serves(struct hf_view_table *table, uint32_t hart, uint64_t number, uint64_t sum);

/* Whether its chunks have these limits. */
bool hf_view_table_has_limits(const struct hf_view_table *table, const struct hf_chunk_limits *limits);
/* Whether its chunks are those of the index. If not, hf_build_run makes the table anew. */
bool hf_view_table_fits(const struct hf_view_table *table, const struct hf_index *index);

/* Its present bytes of memory. They grow with use, up to a few hundred KiB. */
uint64_t hf_view_table_memory(struct hf_view_table *table);
/* Bytes of its file, for info.json and budgets; of a table in a pack those of its unpacked sheet. */
uint64_t hf_view_table_file_size(const struct hf_view_table *table);

#endif
