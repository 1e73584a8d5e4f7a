/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of decode indexes and of view tables, and what a row of each is. Internal to index/. */
#ifndef HF_INDEX_INDEX_TABLES_H
#define HF_INDEX_INDEX_TABLES_H

#include "codecs/image/collect.h"
#include "index/base/chunk.h"
#include "index/base/hart.h"
#include "index/base/identity.h"
#include "index/base/limits.h"
#include "index/base/view_key.h"
#include "index/table/row.h"

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

/* Table hart of a view table. */
struct hf_view_hart {
	uint64_t slot, size, chunks;
	uint64_t rows; /* of table chunk */
	uint32_t id;
};

/* Table time: lines of times of one chunk (index/read/times.h), of which there may be several rows. */
#define HF_TIMES_BYTES ((size_t)32 << 10)
#define HF_TIMES_ROWS_BITS 6
struct hf_view_times {
	uint64_t offset; /* of the first line, in the view */
	uint64_t before; /* the greatest time before it, */
	bool known;	 /*   if there is one */
	bool behind;	 /* the times went back, and did not come up to that again */
	uint32_t n;
	uint8_t data[HF_TIMES_BYTES];
};

/* Table merge: where all harts stand at an offset of the merged view (index/read/merge.h). The last row has its size, and
 * nothing else. */
struct hf_view_merge {
	uint64_t last; /* 0, or 1 + which of the harts was the last one */
	uint32_t n;
	uint8_t data[HF_MERGED_HARTS * 12];
};

/* Table window: the bytes before a block, compressed, which makes them hardly larger at worst. */
struct hf_packed_window {
	uint32_t size;
	uint8_t data[HF_WINDOW_MAX + 1024];
};

/* Table image. A row of a megabyte is SQLite's limit in these files. */
#define HF_IMAGE_PIECE ((size_t)256 << 10)
/* No image saves as more: HF_IMAGE_PAGES_MAX pages, at worst with a number or two for every few bytes. */
#define HF_IMAGE_SAVED_MAX ((uint64_t)HF_IMAGE_PAGES_MAX * HF_IMAGE_PAGE * 4)
struct hf_image_piece {
	uint64_t events, size;
	uint32_t n;
	uint8_t data[HF_IMAGE_PIECE];
};

/* Of the decode index: rows are struct hf_index_meta, hf_index_hart, hf_chunk, hf_point, hf_packed_window,
 * hf_image_piece and hf_index_problem. */
extern const struct hf_table hf_table_index_meta, hf_table_hart, hf_table_chunk, hf_table_point, hf_table_window,
	hf_table_image, hf_table_problem;
/* Of view tables: struct hf_view_meta, hf_view_hart, hf_view_chunk, hf_view_times and hf_view_merge. */
extern const struct hf_table hf_table_view_meta, hf_table_view_hart, hf_table_view_chunk, hf_table_view_time,
	hf_table_view_merge;

/* Whether it is that of the table of that capture and key. */
bool hf_view_meta_fits(const struct hf_view_meta *meta, const struct hf_identity *identity,
		       const struct hf_view_key *key);

#endif
