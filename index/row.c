/* SPDX-License-Identifier: Apache-2.0 */
#include "index/row.h"

#include "codecs/base/bytes.h"
#include "index/digest.h"

#include <string.h>

#define COLUMNS_IDENTITY(s) \
	HF_COLUMN_COUNT(s, identity.size), HF_COLUMN_ANY(s, identity.mtime_ns), HF_COLUMN(WORDS, s, identity.print, 0)
#define COLUMNS_LIMITS(s) \
	HF_COLUMN_ANY(s, limits.insns), HF_COLUMN_ANY(s, limits.events), HF_COLUMN_ANY(s, limits.bytes)

static const struct hf_column index_meta[] = {
	HF_COLUMN(NUMBER, hf_index_meta, complete, 1),
	COLUMNS_IDENTITY(hf_index_meta),
	HF_COLUMN(NAME, hf_index_meta, box, 0),
	HF_COLUMN(NAME, hf_index_meta, codec, 0),
	HF_COLUMN(NUMBER, hf_index_meta, codec_version, UINT32_MAX),
	COLUMNS_LIMITS(hf_index_meta),
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

static const struct hf_column page[] = {
	HF_COLUMN_COUNT(hf_packed_page, first),
	HF_COLUMN(NUMBER, hf_packed_page, rows, HF_PAGE_ROWS),
	HF_COLUMN(NUMBER, hf_packed_page, size, HF_PAGE_BYTES),
	HF_COLUMN_BYTES(hf_packed_page, data, n),
};

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
	HF_COLUMN(NUMBER, hf_view_meta, complete, 1), COLUMNS_IDENTITY(hf_view_meta),
	HF_COLUMN(TEXT, hf_view_meta, view, 0),	      HF_COLUMN(NUMBER, hf_view_meta, version, UINT32_MAX),
	HF_COLUMN(TEXT, hf_view_meta, params, 0),     COLUMNS_LIMITS(hf_view_meta),
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

static const struct hf_column summary_meta[] = {
	HF_COLUMN(NUMBER, hf_summary_meta, complete, 1),
	COLUMNS_IDENTITY(hf_summary_meta),
	HF_COLUMN(NUMBER, hf_summary_meta, version, UINT32_MAX),
	COLUMNS_LIMITS(hf_summary_meta),
};

static const struct hf_column summary_hart[] = {
	HF_COLUMN(NUMBER, hf_summary_hart, id, UINT32_MAX),
	HF_COLUMN_COUNT(hf_summary_hart, insns),
	HF_COLUMN(NUMBER, hf_summary_hart, chunks, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_hart, spans, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_hart, contexts, HF_NUMBER_MAX),
};

static const struct hf_column summary_span[] = {
	HF_COLUMN(NUMBER, hf_summary_span, chunk, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_span, end, HF_NUMBER_MAX),
	HF_COLUMN_COUNT(hf_summary_span, insns),
	HF_COLUMN(NUMBER, hf_summary_span, runs, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_span, page, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_span, pages, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_span, list, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_span, lists, UINT32_MAX),
};

static const struct hf_column summary_context[] = {
	HF_COLUMN(NUMBER, hf_summary_context, fields, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, hw, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, pid, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, tid, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, asid, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, vmid, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, state, UINT32_MAX),
};

static const struct hf_column summary_page[] = {
	HF_COLUMN_ANY(hf_summary_page, first),
	HF_COLUMN_ANY(hf_summary_page, end),
	HF_COLUMN(NUMBER, hf_summary_page, runs, UINT32_MAX),
	HF_COLUMN_COUNT(hf_summary_page, list),
	HF_COLUMN(NUMBER, hf_summary_page, size, UINT32_MAX),
	HF_COLUMN_BYTES(hf_summary_page, data, n),
};

static const struct hf_column summary_piece[] = {HF_COLUMN_BYTES(hf_summary_piece, data, n)};

static const struct hf_column summary_calls[] = {
	HF_COLUMN(NUMBER, hf_summary_calls, nodes, HF_CALL_NODES),
	HF_COLUMN(NUMBER, hf_summary_calls, node_pages, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_calls, stack_pages, HF_NUMBER_MAX),
	HF_COLUMN_COUNT(hf_summary_calls, facts.returns),
	HF_COLUMN_COUNT(hf_summary_calls, facts.unmatched),
	HF_COLUMN_COUNT(hf_summary_calls, facts.trap_returns),
	HF_COLUMN_COUNT(hf_summary_calls, facts.unmatched_traps),
	HF_COLUMN_COUNT(hf_summary_calls, facts.deep),
	HF_COLUMN_COUNT(hf_summary_calls, facts.refused),
	HF_COLUMN_COUNT(hf_summary_calls, facts.losses),
	HF_COLUMN_COUNT(hf_summary_calls, facts.timed),
};

static const struct hf_column summary_call_page[] = {
	HF_COLUMN_COUNT(hf_summary_call_page, first),
	HF_COLUMN(NUMBER, hf_summary_call_page, count, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_call_page, size, UINT32_MAX),
	HF_COLUMN_BYTES(hf_summary_call_page, data, n),
};

static const struct hf_column inverse[] = {
	HF_COLUMN(NUMBER, hf_inverse_head, known, 1),
	HF_COLUMN(NUMBER, hf_inverse_head, spans, UINT32_MAX),
	HF_COLUMN_COUNT(hf_inverse_head, total),
};

static const struct hf_column inverse_span[] = {
	HF_COLUMN_COUNT(hf_inverse_span, first),
	HF_COLUMN_COUNT(hf_inverse_span, end),
	HF_COLUMN_COUNT(hf_inverse_span, insns),
	HF_COLUMN(NUMBER, hf_inverse_span, keys, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_inverse_span, page, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_inverse_span, pages, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_inverse_span, list, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_inverse_span, lists, UINT32_MAX),
};

static const struct hf_column inverse_page[] = {
	HF_COLUMN_ANY(hf_inverse_page, first),
	HF_COLUMN_ANY(hf_inverse_page, last),
	HF_COLUMN(NUMBER, hf_inverse_page, keys, UINT32_MAX),
	HF_COLUMN_COUNT(hf_inverse_page, list),
	HF_COLUMN(NUMBER, hf_inverse_page, size, UINT32_MAX),
	HF_COLUMN_BYTES(hf_inverse_page, data, n),
};

const struct hf_table hf_table_index_meta = HF_TABLE("meta", HF_TABLE_META, index_meta, struct hf_index_meta);
const struct hf_table hf_table_hart = HF_TABLE("hart", HF_TABLE_HART, hart, struct hf_index_hart);
const struct hf_table hf_table_chunk = HF_TABLE_PAGED("chunk", HF_TABLE_CHUNK, chunk, struct hf_chunk, &chunk_follow);
const struct hf_table hf_table_page = HF_TABLE("chunk", HF_TABLE_CHUNK, page, struct hf_packed_page);
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
const struct hf_table hf_table_summary_meta = HF_TABLE("meta", HF_TABLE_META, summary_meta, struct hf_summary_meta);
const struct hf_table hf_table_summary_hart = HF_TABLE("hart", HF_TABLE_HART, summary_hart, struct hf_summary_hart);
const struct hf_table hf_table_summary_span = HF_TABLE("span", HF_TABLE_SPAN, summary_span, struct hf_summary_span);
const struct hf_table hf_table_summary_context =
	HF_TABLE("context", HF_TABLE_CONTEXT, summary_context, struct hf_summary_context);
const struct hf_table hf_table_summary_page = HF_TABLE("page", HF_TABLE_PAGE, summary_page, struct hf_summary_page);
const struct hf_table hf_table_summary_piece = HF_TABLE("list", HF_TABLE_LIST, summary_piece, struct hf_summary_piece);
const struct hf_table hf_table_summary_calls =
	HF_TABLE("calls", HF_TABLE_CALLS, summary_calls, struct hf_summary_calls);
const struct hf_table hf_table_summary_node =
	HF_TABLE("node", HF_TABLE_NODE, summary_call_page, struct hf_summary_call_page);
const struct hf_table hf_table_summary_stack =
	HF_TABLE("stack", HF_TABLE_STACK, summary_call_page, struct hf_summary_call_page);
const struct hf_table hf_table_inverse = HF_TABLE("inverse", HF_TABLE_INVERSE, inverse, struct hf_inverse_head);
const struct hf_table hf_table_inverse_span =
	HF_TABLE("inverse_span", HF_TABLE_INVERSE_SPAN, inverse_span, struct hf_inverse_span);
const struct hf_table hf_table_inverse_page =
	HF_TABLE("inverse_page", HF_TABLE_INVERSE_PAGE, inverse_page, struct hf_inverse_page);
const struct hf_table hf_table_inverse_list =
	HF_TABLE("inverse_list", HF_TABLE_INVERSE_LIST, summary_piece, struct hf_summary_piece);

/* ---- numbers ---- */

uint64_t hf_column_number(const struct hf_column *column, const void *row)
{
	const uint8_t *from = (const uint8_t *)row + column->offset;
	uint64_t v;
	uint32_t half;

	if (column->size == sizeof(bool))
		return *(const bool *)from;
	if (column->size == sizeof v) {
		memcpy(&v, from, sizeof v);
		return v;
	}
	memcpy(&half, from, sizeof half);
	return column->type == HF_COLUMN_CODE ? (uint64_t)(int32_t)half : half;
}

int hf_column_set_number(const struct hf_column *column, uint64_t number, void *row)
{
	uint8_t *to = (uint8_t *)row + column->offset;
	const uint32_t half = (uint32_t)number;

	if (column->type == HF_COLUMN_CODE
		    ? !hf_err_is_code((int64_t)number)
		    : number > column->max && !(column->type == HF_COLUMN_MAYBE && number == HF_NOWHERE))
		return HF_ERR_STATE;
	if (column->size == sizeof(bool))
		*(bool *)to = number;
	else
		memcpy(to, column->size == sizeof number ? (const void *)&number : &half, column->size);
	return 0;
}

/* ---- bytes ---- */

static bool is_number(const struct hf_column *c)
{
	return c->type == HF_COLUMN_NUMBER || c->type == HF_COLUMN_MAYBE || c->type == HF_COLUMN_CODE;
}

/* Of a blob or text in a row. */
static uint32_t bytes_of(const struct hf_column *c, const void *row)
{
	uint32_t n;

	if (c->type != HF_COLUMN_BLOB)
		return (uint32_t)strlen((const char *)row + c->offset);
	memcpy(&n, (const uint8_t *)row + c->max, sizeof n);
	return n;
}

static size_t column_size(const struct hf_column *c, const void *row)
{
	return is_number(c) ? 8 : c->type == HF_COLUMN_WORDS ? c->size : 4 + bytes_of(c, row);
}

size_t hf_row_used(const struct hf_table *table, const void *row)
{
	const struct hf_column *last = &table->column[table->count - 1];

	return last->type == HF_COLUMN_BLOB ? last->offset + bytes_of(last, row) : table->row_size;
}

size_t hf_row_size(const struct hf_table *table, const void *row)
{
	size_t n = 0;

	for (int i = 0; i < table->count; i++)
		n += column_size(&table->column[i], row);
	return n;
}

void hf_row_save(const struct hf_table *table, const void *row, uint8_t *to)
{
	for (int i = 0; i < table->count; i++) {
		const struct hf_column *c = &table->column[i];
		const uint8_t *from = (const uint8_t *)row + c->offset;

		if (is_number(c)) {
			hf_put64(to, hf_column_number(c, row));
		} else if (c->type == HF_COLUMN_WORDS) {
			for (size_t at = 0; at < c->size; at += 8)
				hf_put64(to + at, ((const uint64_t *)(const void *)from)[at / 8]);
		} else {
			hf_put32(to, bytes_of(c, row));
			memcpy(to + 4, from, bytes_of(c, row));
		}
		to += column_size(c, row);
	}
}

/* A blob or text of n bytes. Text has a byte behind it in the row, and no zero in it. */
static int load_bytes(const struct hf_column *c, const uint8_t *bytes, uint32_t n, void *row)
{
	uint8_t *to = (uint8_t *)row + c->offset;
	const bool text = c->type != HF_COLUMN_BLOB;

	if (n > c->size - text || (text && memchr(bytes, 0, n)))
		return HF_ERR_STATE;
	memcpy(to, bytes, n);
	if (text)
		to[n] = 0;
	else
		memcpy((uint8_t *)row + c->max, &n, sizeof n);
	return 0;
}

/* *at is moved behind it. */
static int load_column(const struct hf_column *c, const uint8_t **at, const uint8_t *end, void *row)
{
	const size_t fixed = is_number(c) ? 8 : c->type == HF_COLUMN_WORDS ? c->size : 4;
	const uint8_t *from = *at;
	uint32_t n;

	if ((size_t)(end - from) < fixed)
		return HF_ERR_STATE;
	*at += fixed;
	if (is_number(c))
		return hf_column_set_number(c, hf_get64(from), row);
	if (c->type == HF_COLUMN_WORDS) {
		for (size_t i = 0; i < fixed; i += 8)
			((uint64_t *)(void *)((uint8_t *)row + c->offset))[i / 8] = hf_get64(from + i);
		return 0;
	}
	n = hf_get32(from);
	if ((size_t)(end - *at) < n)
		return HF_ERR_STATE;
	*at += n;
	return load_bytes(c, from + 4, n, row);
}

int hf_row_load(const struct hf_table *table, const uint8_t *bytes, size_t n, void *ret_row)
{
	const uint8_t *at = bytes, *end = bytes + n;
	int err = 0;

	for (int i = 0; i < table->count && !err; i++)
		err = load_column(&table->column[i], &at, end, ret_row);
	return !err && at != end ? HF_ERR_STATE : err;
}

bool hf_row_equal(const struct hf_table *table, const void *a, const void *b)
{
	for (int i = 0; i < table->count; i++) {
		const struct hf_column *c = &table->column[i];
		const uint8_t *x = (const uint8_t *)a + c->offset, *y = (const uint8_t *)b + c->offset;

		if (is_number(c) || c->type == HF_COLUMN_WORDS) {
			if (memcmp(x, y, c->size) != 0)
				return false;
		} else if (bytes_of(c, a) != bytes_of(c, b) || memcmp(x, y, bytes_of(c, a)) != 0) {
			return false;
		}
	}
	return true;
}

/* ---- what rows are of ---- */

bool hf_view_meta_fits(const struct hf_view_meta *meta, const struct hf_identity *identity,
		       const struct hf_view_key *key)
{
	return hf_identity_equal(&meta->identity, identity) && strcmp(meta->view, key->ops->view) == 0 &&
	       meta->version == key->ops->version && strcmp(meta->params, key->params) == 0;
}

bool hf_identity_equal(const struct hf_identity *a, const struct hf_identity *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns && a->print[0] == b->print[0] &&
	       a->print[1] == b->print[1];
}

bool hf_chunk_limits_equal(const struct hf_chunk_limits *a, const struct hf_chunk_limits *b)
{
	return a->insns == b->insns && a->events == b->events && a->bytes == b->bytes;
}
