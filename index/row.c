/* SPDX-License-Identifier: Apache-2.0 */
#include "index/row.h"

#include "codecs/base/bytes.h"
#include "index/array.h"

#include <stdio.h>

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
	HF_COLUMN_COUNT(hf_chunk, ordinal),  HF_COLUMN_COUNT(hf_chunk, stream_offset),
	HF_COLUMN_ANY(hf_chunk, pc),	     HF_COLUMN_COUNT(hf_chunk, events),
	HF_COLUMN_COUNT(hf_chunk, attempts), HF_COLUMN_COUNT(hf_chunk, problems),
	HF_COLUMN_COUNT(hf_chunk, discard),  HF_COLUMN_BYTES(hf_chunk, entry, entry_size),
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
};

static const struct hf_column view_chunk[] = {
	HF_COLUMN_COUNT(hf_view_chunk, offset),
	HF_COLUMN_ANY(hf_view_chunk, checksum),
	HF_COLUMN_BYTES(hf_view_chunk, entry, entry_size),
};

const struct hf_table hf_table_index_meta = HF_TABLE("meta", index_meta);
const struct hf_table hf_table_hart = HF_TABLE("hart", hart);
const struct hf_table hf_table_chunk = HF_TABLE("chunk", chunk);
const struct hf_table hf_table_point = HF_TABLE("point", point);
const struct hf_table hf_table_problem = HF_TABLE("problem", problem);
const struct hf_table hf_table_view_meta = HF_TABLE("meta", view_meta);
const struct hf_table hf_table_view_hart = HF_TABLE("hart", view_hart);
const struct hf_table hf_table_view_chunk = HF_TABLE("chunk", view_chunk);

/* ---- reading ---- */

static void set_number(const struct hf_column *c, void *to, uint64_t v)
{
	const uint32_t half = (uint32_t)v;

	if (c->size == sizeof(bool))
		*(bool *)to = v;
	else
		memcpy(to, c->size == sizeof v ? (const void *)&v : &half, c->size);
}

static int read_number(sqlite3_stmt *stmt, int i, const struct hf_column *c, void *to)
{
	uint64_t v = HF_NOWHERE;
	int err = 0;

	if (c->type != HF_COLUMN_MAYBE || sqlite3_column_type(stmt, i) != SQLITE_NULL)
		err = hf_col_u64(stmt, i, c->type == HF_COLUMN_CODE ? UINT64_MAX : c->max, &v);
	if (!err && c->type == HF_COLUMN_CODE && ((int64_t)v > 0 || (int64_t)v < -(int64_t)HF_ERRI_COUNT))
		err = HF_ERR_STATE;
	if (!err)
		set_number(c, to, v);
	return err;
}

static int read_words(sqlite3_stmt *stmt, int i, const struct hf_column *c, void *to)
{
	uint8_t bytes[64];
	uint64_t *word = to;
	uint32_t n;
	int err = hf_col_blob(stmt, i, bytes, c->size, &n);

	if (err || n != c->size)
		return err ? err : HF_ERR_STATE;
	for (size_t at = 0; at < n; at += sizeof *word)
		*word++ = hf_get64(bytes + at);
	return 0;
}

int hf_row_read(sqlite3_stmt *stmt, const struct hf_table *table, uint64_t *ret_key, void *row)
{
	int err = ret_key ? hf_col_u64(stmt, 0, UINT64_MAX, ret_key) : 0;

	for (int i = 0; i < table->count && !err; i++) {
		const struct hf_column *c = &table->column[i];
		uint8_t *to = (uint8_t *)row + c->offset;

		if (c->type == HF_COLUMN_BLOB)
			err = hf_col_blob(stmt, i + 1, to, c->size, (void *)((uint8_t *)row + c->max));
		else if (c->type == HF_COLUMN_TEXT || c->type == HF_COLUMN_NAME)
			err = hf_col_text(stmt, i + 1, (char *)to, c->size);
		else if (c->type == HF_COLUMN_WORDS)
			err = read_words(stmt, i + 1, c, to);
		else
			err = read_number(stmt, i + 1, c, to);
	}
	return err;
}

static int prepare_query(sqlite3 *db, const struct hf_table *table, const char *rest, sqlite3_stmt **ret_stmt)
{
	char sql[256];

	snprintf(sql, sizeof sql, "SELECT * FROM %s %s", table->name, rest);
	return hf_db_prepare(db, sql, ret_stmt);
}

int hf_row_get(sqlite3 *db, const struct hf_table *table, const char *rest, size_t n, const uint64_t *values,
	       uint64_t *ret_key, void *row)
{
	sqlite3_stmt *stmt = NULL;
	int err = prepare_query(db, table, rest, &stmt);

	if (err)
		return err;
	hf_db_bind(stmt, n, values);
	err = hf_db_step(stmt);
	if (!err)
		err = hf_row_read(stmt, table, ret_key, row);
	sqlite3_finalize(stmt);
	return err;
}

/* No count(*) and no sorting: what a hostile file makes long ends at the first row too many. */
int hf_row_list(sqlite3 *db, const struct hf_table *table, size_t size, bool keyed, uint64_t max, void *ret_rows,
		size_t *ret_count)
{
	sqlite3_stmt *stmt = NULL;
	uint8_t **rows = ret_rows;
	uint64_t key;
	int err = prepare_query(db, table, "ORDER BY 1", &stmt);

	*rows = NULL;
	*ret_count = 0;
	while (!err && !(err = hf_db_step(stmt))) {
		err = *ret_count < max ? hf_array_room(rows, *ret_count, size) : HF_ERR_STATE;
		if (!err)
			err = hf_row_read(stmt, table, &key, *rows + *ret_count * size);
		if (!err && keyed)
			memcpy(*rows + *ret_count * size, &key, sizeof key);
		*ret_count += !err;
	}
	sqlite3_finalize(stmt);
	return err < 0 ? err : 0;
}

/* ---- writing ---- */

static uint64_t number_of(const struct hf_column *c, const void *from)
{
	uint64_t v;
	uint32_t half;

	if (c->size == sizeof(bool))
		return *(const bool *)from;
	if (c->size == sizeof v) {
		memcpy(&v, from, sizeof v);
		return v;
	}
	memcpy(&half, from, sizeof half);
	return c->type == HF_COLUMN_CODE ? (uint64_t)(int32_t)half : half;
}

static void bind_words(sqlite3_stmt *stmt, int i, const struct hf_column *c, const void *from)
{
	const uint64_t *word = from;
	uint8_t bytes[64];

	for (size_t at = 0; at < c->size; at += sizeof *word)
		hf_put64(bytes + at, *word++);
	sqlite3_bind_blob(stmt, i, bytes, (int)c->size, SQLITE_TRANSIENT);
}

static void bind_blob(sqlite3_stmt *stmt, int i, const void *bytes, const void *size)
{
	uint32_t n;

	memcpy(&n, size, sizeof n);
	sqlite3_bind_blob(stmt, i, n ? bytes : "", (int)n, SQLITE_STATIC);
}

int hf_row_put(sqlite3_stmt *insert, const struct hf_table *table, uint64_t key, const void *row)
{
	sqlite3_bind_int64(insert, 1, (sqlite3_int64)key);
	for (int i = 0; i < table->count; i++) {
		const struct hf_column *c = &table->column[i];
		const uint8_t *from = (const uint8_t *)row + c->offset;

		if (c->type == HF_COLUMN_BLOB)
			bind_blob(insert, i + 2, from, (const uint8_t *)row + c->max);
		else if (c->type == HF_COLUMN_WORDS)
			bind_words(insert, i + 2, c, from);
		else if (c->type == HF_COLUMN_TEXT || (c->type == HF_COLUMN_NAME && *from))
			sqlite3_bind_text(insert, i + 2, (const char *)from, -1, SQLITE_STATIC);
		else if (c->type == HF_COLUMN_NAME || (c->type == HF_COLUMN_MAYBE && number_of(c, from) == HF_NOWHERE))
			sqlite3_bind_null(insert, i + 2);
		else
			sqlite3_bind_int64(insert, i + 2, (sqlite3_int64)number_of(c, from));
	}
	return hf_db_exec(insert);
}

int hf_row_prepare(sqlite3 *db, const struct hf_table *table, bool replace, sqlite3_stmt **ret_insert)
{
	char sql[128];
	int n = snprintf(sql, sizeof sql, "INSERT %sINTO %s VALUES (?", replace ? "OR REPLACE " : "", table->name);

	for (int i = 0; i < table->count; i++)
		n += snprintf(sql + n, sizeof sql - (size_t)n, ",?");
	snprintf(sql + n, sizeof sql - (size_t)n, ")");
	return hf_db_prepare(db, sql, ret_insert);
}

int hf_row_replace(sqlite3 *db, const struct hf_table *table, uint64_t key, const void *row)
{
	sqlite3_stmt *stmt = NULL;
	int err = hf_row_prepare(db, table, true, &stmt);

	if (!err)
		err = hf_row_put(stmt, table, key, row);
	sqlite3_finalize(stmt);
	return err;
}

/* ---- table meta ---- */

int hf_meta_read(sqlite3 *db, const struct hf_table *table, void *ret_meta)
{
	int err = hf_row_get(db, table, "WHERE id = 1", 0, NULL, NULL, ret_meta);

	return err > 0 ? HF_ERR_STATE : err;
}

int hf_meta_write(sqlite3 *db, const struct hf_table *table, const void *meta)
{
	return hf_row_replace(db, table, 1, meta);
}

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
