/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers and the writers of the two kinds of files have in common. Internal to index/. */
#ifndef HF_INDEX_ROW_H
#define HF_INDEX_ROW_H

#include "index/db.h"
#include "index/index.h"

/* Chunk ids: slot << 40 | number. */
#define HF_NUMBER_BITS 40
#define HF_NUMBER_MAX ((UINT64_C(1) << HF_NUMBER_BITS) - 1)
#define HF_SLOT_MAX UINT64_C(65535)
#define HF_SLOT_RECORDS (HF_SLOT_MAX + 1) /* of hart HF_HART_RECORDS */
/* No chunk of a view has more bytes: twice what 131,072 events make of the longest lines. */
#define HF_VIEW_CHUNK_MAX (UINT64_C(256) << 20)
/* No counter, size or offset is larger. */
#define HF_COUNT_MAX ((uint64_t)INT64_MAX)

static inline uint64_t hf_row_id(uint64_t slot, uint64_t number)
{
	return slot << HF_NUMBER_BITS | number;
}

/* Table meta of a decode index. */
struct hf_index_meta {
	bool complete;
	struct hf_identity identity;
	char box[32], codec[32]; /* "" for NULL */
	uint32_t codec_version;
	struct hf_chunk_limits limits;
	uint64_t stream_size;
	struct hf_diag damage;
	uint64_t problems;
	uint64_t holes; /* points with HF_POINT_DAMAGED */
};

int hf_index_meta_read(sqlite3 *db, struct hf_index_meta *ret_meta);
int hf_index_meta_write(sqlite3 *db, const struct hf_index_meta *meta);

/* Table hart of a decode index, of columns in this order: the ranges of numbers are checked, HF_ERR_STATE. */
#define HF_INDEX_HART_COLUMNS "slot, id, insns, attempts, events, chunks"
int hf_index_hart_read(sqlite3_stmt *stmt, uint64_t *ret_slot, struct hf_index_hart *ret_hart);

/* Table meta of a view table. */
#define HF_PARAMS_MAX 4096
struct hf_view_meta {
	bool complete;
	struct hf_identity identity;
	char view[96];
	uint32_t version;
	char params[HF_PARAMS_MAX];
	struct hf_chunk_limits limits;
};

int hf_view_meta_read(sqlite3 *db, struct hf_view_meta *ret_meta);
int hf_view_meta_write(sqlite3 *db, const struct hf_view_meta *meta);
/* Whether it is the table of that capture and key. */
bool hf_view_meta_fits(const struct hf_view_meta *meta, const struct hf_identity *identity,
		       const struct hf_view_key *key);

/* The columns code, space, offset, detail from i on. */
int hf_col_diag(sqlite3_stmt *stmt, int i, struct hf_diag *diag);
void hf_bind_diag(sqlite3_stmt *stmt, int i, const struct hf_diag *diag);

bool hf_identity_equal(const struct hf_identity *a, const struct hf_identity *b);
bool hf_chunk_limits_equal(const struct hf_chunk_limits *a, const struct hf_chunk_limits *b);

#endif
