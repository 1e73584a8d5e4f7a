/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/row_db.h"

#include "codecs/base/bytes.h"

#include <stdio.h>

/* ---- reading ---- */

static int read_number(sqlite3_stmt *stmt, int i, const struct hf_column *c, void *row)
{
	uint64_t v = HF_NOWHERE;
	int err = 0;

	if (c->type != HF_COLUMN_MAYBE || sqlite3_column_type(stmt, i) != SQLITE_NULL)
		err = hf_col_u64(stmt, i, c->type == HF_COLUMN_CODE ? UINT64_MAX : c->max, &v);
	return err ? err : hf_column_set_number(c, v, row);
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

static int read_lent(sqlite3_stmt *stmt, int i, const struct hf_column *c, void *to)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);
	const int type = sqlite3_column_type(stmt, i);

	if (text && (type != SQLITE_TEXT || strlen(text) != (size_t)sqlite3_column_bytes(stmt, i) || strlen(text) >= c->max))
		return HF_ERR_STATE;
	memcpy(to, &text, sizeof text);
	return text || type == SQLITE_NULL ? 0 : HF_ERR_NOMEM;
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
		else if (c->type == HF_COLUMN_LENT)
			err = read_lent(stmt, i + 1, c, to);
		else
			err = read_number(stmt, i + 1, c, row);
	}
	return err;
}

/* ---- writing ---- */

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
		else if (c->type == HF_COLUMN_LENT)
			sqlite3_bind_text(insert, i + 2, *(const char *const *)(const void *)from, -1, SQLITE_STATIC);
		else if (c->type == HF_COLUMN_TEXT || (c->type == HF_COLUMN_NAME && *from))
			sqlite3_bind_text(insert, i + 2, (const char *)from, -1, SQLITE_STATIC);
		else if (c->type == HF_COLUMN_NAME ||
			 (c->type == HF_COLUMN_MAYBE && hf_column_number(c, row) == HF_NOWHERE))
			sqlite3_bind_null(insert, i + 2);
		else
			sqlite3_bind_int64(insert, i + 2, (sqlite3_int64)hf_column_number(c, row));
	}
	return hf_db_exec(insert);
}

int hf_row_prepare(sqlite3 *db, const struct hf_table *table, const char *in_pack, sqlite3_stmt **ret_insert)
{
	char sql[128];
	int n = snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO %s%s VALUES (?", in_pack ? in_pack : "", table->name);

	for (int i = 0; i < table->count + !!in_pack; i++)
		n += snprintf(sql + n, sizeof sql - (size_t)n, ",?");
	snprintf(sql + n, sizeof sql - (size_t)n, ")");
	return hf_db_prepare(db, sql, ret_insert);
}
