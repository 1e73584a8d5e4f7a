/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/index_tables.h"

#include <string.h>

static const struct hf_column index_meta[] = {
	HF_COLUMN(NUMBER, hf_index_meta, complete, 1),
	HF_COLUMNS_IDENTITY(hf_index_meta),
	HF_COLUMN(NAME, hf_index_meta, box, 0),
	HF_COLUMN(NAME, hf_index_meta, codec, 0),
	HF_COLUMN(NUMBER, hf_index_meta, codec_version, UINT32_MAX),
	HF_COLUMNS_LIMITS(hf_index_meta),
	HF_COLUMN_COUNT(hf_index_meta, stream_size),
	HF_COLUMNS_DIAG(hf_index_meta, damage),
	HF_COLUMN_COUNT(hf_index_meta, problems),
	HF_COLUMN_COUNT(hf_index_meta, holes),
};

static const struct hf_column hart[] = {
	HF_COLUMN(NUMBER, hf_index_hart, id, UINT32_MAX),
	HF_COLUMN_COUNT(hf_index_hart, insns),
	HF_COLUMN_COUNT(hf_index_hart, attempts),
	HF_COLUMN_COUNT(hf_index_hart, events),
	HF_COLUMN(NUMBER, hf_index_hart, chunks, HF_NUMBER_MAX),
	HF_COLUMN_COUNT(hf_index_hart, told.texts),
	HF_COLUMN_COUNT(hf_index_hart, told.samples),
	HF_COLUMN_COUNT(hf_index_hart, told.markers),
};

static const struct hf_column chunk[] = {
	HF_COLUMN_COUNT(hf_chunk, ordinal),
	HF_COLUMN_COUNT(hf_chunk, stream_offset),
	HF_COLUMN_ANY(hf_chunk, pc),
	HF_COLUMN_COUNT(hf_chunk, events),
	HF_COLUMN_COUNT(hf_chunk, attempts),
	HF_COLUMN_COUNT(hf_chunk, problems),
	HF_COLUMN_COUNT(hf_chunk, discard),
	HF_COLUMN_ANY(hf_chunk, digest.flow),
	HF_COLUMN_ANY(hf_chunk, digest.rest),
	HF_COLUMN_ANY(hf_chunk, before.flow),
	HF_COLUMN_ANY(hf_chunk, before.access),
	HF_COLUMN_ANY(hf_chunk, before.value),
	HF_COLUMN_ANY(hf_chunk, before.pending),
	HF_COLUMN_ANY(hf_chunk, before.told),
	HF_COLUMN_COUNT(hf_chunk, told.texts),
	HF_COLUMN_COUNT(hf_chunk, told.samples),
	HF_COLUMN_COUNT(hf_chunk, told.markers),
	HF_COLUMN_BYTES(hf_chunk, entry, entry_size),
};

/* Columns of a chunk. */
enum { CHUNK_ORDINAL = 0, CHUNK_FLOW = 7, CHUNK_BEFORE_FLOW = 9 };

/* What is before a chunk is what is before the last one, and that. */
static uint64_t guess_flow(const uint64_t *before, const uint64_t *row, const uint64_t *behind)
{
	struct hf_digest first, second;

	(void)row, (void)behind;
	if (!before)
		return 0;
	first = (struct hf_digest){.flow = before[CHUNK_BEFORE_FLOW]};
	second = (struct hf_digest){.flow = before[CHUNK_FLOW]};
	return hf_digest_join(&first, before[CHUNK_ORDINAL], &second).flow;
}

static const struct hf_follow chunk_follow = {.column = CHUNK_BEFORE_FLOW, .guess = guess_flow};

static const struct hf_column point[] = {
	HF_COLUMN(NUMBER, hf_point, out_size, HF_BLOCK_MAX),
	HF_COLUMN_COUNT(hf_point, in_offset),
	HF_COLUMN_COUNT(hf_point, in_size),
	HF_COLUMN(NUMBER, hf_point, bits, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_point, window_size, HF_WINDOW_MAX),
};

static const struct hf_column problem[] = {
	HF_COLUMN(MAYBE, hf_index_problem, chunk, HF_COUNT_MAX),
	HF_COLUMN(NUMBER, hf_index_problem, hart, UINT32_MAX),
	HF_COLUMN(MAYBE, hf_index_problem, ordinal, HF_COUNT_MAX),
	HF_COLUMN(NUMBER, hf_index_problem, fatal, 1),
	HF_COLUMNS_DIAG(hf_index_problem, diag),
	HF_COLUMN_ANY(hf_index_problem, bytes),
	HF_COLUMN(NUMBER, hf_index_problem, back, UINT32_MAX),
};

static const struct hf_column view_meta[] = {
	HF_COLUMN(NUMBER, hf_view_meta, complete, 1), HF_COLUMNS_IDENTITY(hf_view_meta),
	HF_COLUMN(TEXT, hf_view_meta, view, 0),	      HF_COLUMN(NUMBER, hf_view_meta, version, UINT32_MAX),
	HF_COLUMN(TEXT, hf_view_meta, params, 0),     HF_COLUMNS_LIMITS(hf_view_meta),
};

static const struct hf_column view_hart[] = {
	HF_COLUMN(NUMBER, hf_view_hart, id, UINT32_MAX),
	HF_COLUMN_COUNT(hf_view_hart, size),
	HF_COLUMN(NUMBER, hf_view_hart, chunks, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_view_hart, rows, HF_NUMBER_MAX),
};

enum { VIEW_OFFSET, VIEW_CHUNK, VIEW_CHECKED };

static const struct hf_column view_chunk[] = {
	[VIEW_OFFSET] = HF_COLUMN_COUNT(hf_view_chunk, offset),
	[VIEW_CHUNK] = HF_COLUMN(NUMBER, hf_view_chunk, chunk, HF_NUMBER_MAX),
	[VIEW_CHECKED] = HF_COLUMN_COUNT(hf_view_chunk, checked),
	HF_COLUMN_ANY(hf_view_chunk, checksum),
	HF_COLUMN_BYTES(hf_view_chunk, entry, entry_size),
};

/* Where all bytes are checked, they reach to the next row. */
static uint64_t guess_checked(const uint64_t *before, const uint64_t *row, const uint64_t *behind)
{
	(void)before;
	return behind ? behind[VIEW_OFFSET] - row[VIEW_OFFSET] : 0;
}

static const struct hf_follow view_follow = {.column = VIEW_CHECKED, .guess = guess_checked};

static const struct hf_column view_time[] = {
	HF_COLUMN_COUNT(hf_view_times, offset),
	HF_COLUMN_ANY(hf_view_times, before),
	HF_COLUMN(NUMBER, hf_view_times, known, 1),
	HF_COLUMN(NUMBER, hf_view_times, behind, 1),
	HF_COLUMN_BYTES(hf_view_times, data, n),
};

static const struct hf_column view_merge[] = {
	HF_COLUMN(NUMBER, hf_view_merge, last, HF_MERGED_HARTS),
	HF_COLUMN_BYTES(hf_view_merge, data, n),
};

static const struct hf_column window[] = {HF_COLUMN_BYTES(hf_packed_window, data, size)};

static const struct hf_column image[] = {
	HF_COLUMN_COUNT(hf_image_piece, events),
	HF_COLUMN(NUMBER, hf_image_piece, size, HF_IMAGE_SAVED_MAX),
	HF_COLUMN_BYTES(hf_image_piece, data, n),
};

const struct hf_table hf_table_index_meta = HF_TABLE("meta", HF_TABLE_META, index_meta, struct hf_index_meta);
const struct hf_table hf_table_hart = HF_TABLE("hart", HF_TABLE_HART, hart, struct hf_index_hart);
const struct hf_table hf_table_chunk = HF_TABLE_PAGED("chunk", HF_TABLE_CHUNK, chunk, struct hf_chunk, &chunk_follow);
const struct hf_table hf_table_point = HF_TABLE("point", HF_TABLE_POINT, point, struct hf_point);
const struct hf_table hf_table_window = HF_TABLE("window", HF_TABLE_WINDOW, window, struct hf_packed_window);
const struct hf_table hf_table_image = HF_TABLE("image", HF_TABLE_IMAGE, image, struct hf_image_piece);
const struct hf_table hf_table_problem = HF_TABLE("problem", HF_TABLE_PROBLEM, problem, struct hf_index_problem);
const struct hf_table hf_table_view_meta = HF_TABLE("meta", HF_TABLE_META, view_meta, struct hf_view_meta);
const struct hf_table hf_table_view_hart = HF_TABLE("hart", HF_TABLE_HART, view_hart, struct hf_view_hart);
const struct hf_table hf_table_view_chunk =
	HF_TABLE_PAGED("chunk", HF_TABLE_CHUNK, view_chunk, struct hf_view_chunk, &view_follow);
const struct hf_table hf_table_view_time = HF_TABLE_TIMES("time", HF_TABLE_TIME, view_time, struct hf_view_times);
const struct hf_table hf_table_view_merge = HF_TABLE_TIMES("merge", HF_TABLE_MERGE, view_merge, struct hf_view_merge);

bool hf_view_meta_fits(const struct hf_view_meta *meta, const struct hf_identity *identity,
		       const struct hf_view_key *key)
{
	return hf_identity_equal(&meta->identity, identity) && strcmp(meta->view, key->ops->view) == 0 &&
	       meta->version == key->ops->version && strcmp(meta->params, key->params) == 0;
}
