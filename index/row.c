/* SPDX-License-Identifier: Apache-2.0 */
#include "index/row.h"

#include "codecs/base/bytes.h"

#include <stdio.h>

bool hf_identity_equal(const struct hf_identity *a, const struct hf_identity *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns && a->print[0] == b->print[0] &&
	       a->print[1] == b->print[1];
}

bool hf_chunk_limits_equal(const struct hf_chunk_limits *a, const struct hf_chunk_limits *b)
{
	return a->insns == b->insns && a->events == b->events && a->bytes == b->bytes;
}

/* Columns size, mtime_ns, print from i on. */
static int read_identity(sqlite3_stmt *stmt, int i, struct hf_identity *identity)
{
	uint64_t mtime;
	uint8_t print[16];
	uint32_t n;
	int err;

	if ((err = hf_col_u64(stmt, i, HF_COUNT_MAX, &identity->size)) ||
	    (err = hf_col_u64(stmt, i + 1, UINT64_MAX, &mtime)) ||
	    (err = hf_col_blob(stmt, i + 2, print, sizeof print, &n)))
		return err;
	identity->mtime_ns = (int64_t)mtime;
	identity->print[0] = hf_get64(print);
	identity->print[1] = hf_get64(print + 8);
	return n == sizeof print ? 0 : HF_ERR_STATE;
}

static void bind_identity(sqlite3_stmt *stmt, int i, const struct hf_identity *identity)
{
	uint8_t print[16];

	hf_put64(print, identity->print[0]);
	hf_put64(print + 8, identity->print[1]);
	sqlite3_bind_int64(stmt, i, (sqlite3_int64)identity->size);
	sqlite3_bind_int64(stmt, i + 1, identity->mtime_ns);
	sqlite3_bind_blob(stmt, i + 2, print, sizeof print, SQLITE_TRANSIENT);
}

static int read_limits(sqlite3_stmt *stmt, int i, struct hf_chunk_limits *limits)
{
	int err = hf_col_u64(stmt, i, UINT64_MAX, &limits->insns);

	if (!err)
		err = hf_col_u64(stmt, i + 1, UINT64_MAX, &limits->events);
	return err ? err : hf_col_u64(stmt, i + 2, UINT64_MAX, &limits->bytes);
}

static void bind_limits(sqlite3_stmt *stmt, int i, const struct hf_chunk_limits *limits)
{
	sqlite3_bind_int64(stmt, i, (sqlite3_int64)limits->insns);
	sqlite3_bind_int64(stmt, i + 1, (sqlite3_int64)limits->events);
	sqlite3_bind_int64(stmt, i + 2, (sqlite3_int64)limits->bytes);
}

/* A stored error number. */
static int read_code(sqlite3_stmt *stmt, int i, int *ret_code)
{
	uint64_t v;
	int err = hf_col_u64(stmt, i, UINT64_MAX, &v);

	if (err)
		return err;
	if ((int64_t)v > 0 || (int64_t)v < -(int64_t)HF_ERRI_COUNT)
		return HF_ERR_STATE;
	*ret_code = (int)(int64_t)v;
	return 0;
}

int hf_col_diag(sqlite3_stmt *stmt, int i, struct hf_diag *diag)
{
	uint64_t space;
	int err = read_code(stmt, i, &diag->code);

	if (!err)
		err = hf_col_u64(stmt, i + 1, HF_SPACE_FILE, &space);
	if (!err)
		diag->space = (enum hf_space)space;
	if (!err)
		err = hf_col_u64(stmt, i + 2, UINT64_MAX, &diag->offset);
	return err ? err : hf_col_u64(stmt, i + 3, UINT64_MAX, &diag->detail);
}

void hf_bind_diag(sqlite3_stmt *stmt, int i, const struct hf_diag *diag)
{
	sqlite3_bind_int64(stmt, i, diag->code);
	sqlite3_bind_int64(stmt, i + 1, (int)diag->space);
	sqlite3_bind_int64(stmt, i + 2, (sqlite3_int64)diag->offset);
	sqlite3_bind_int64(stmt, i + 3, (sqlite3_int64)diag->detail);
}

static int read_index_columns(sqlite3_stmt *stmt, struct hf_index_meta *meta)
{
	uint64_t complete, version;
	bool null;
	int err;

	if ((err = hf_col_u64(stmt, 0, 1, &complete)) || (err = read_identity(stmt, 1, &meta->identity)) ||
	    (err = hf_col_text(stmt, 4, meta->box, sizeof meta->box, &null)) ||
	    (err = hf_col_text(stmt, 5, meta->codec, sizeof meta->codec, &null)) ||
	    (err = hf_col_u64(stmt, 6, UINT32_MAX, &version)) || (err = read_limits(stmt, 7, &meta->limits)) ||
	    (err = hf_col_u64(stmt, 10, HF_COUNT_MAX, &meta->stream_size)) ||
	    (err = hf_col_diag(stmt, 11, &meta->damage)) || (err = hf_col_u64(stmt, 15, HF_COUNT_MAX, &meta->problems)) ||
	    (err = hf_col_u64(stmt, 16, HF_COUNT_MAX, &meta->holes)))
		return err;
	meta->complete = complete != 0;
	meta->codec_version = (uint32_t)version;
	return 0;
}

/* Prepares a query of the one row of meta and steps to it. */
static int one_row(sqlite3 *db, const char *sql, sqlite3_stmt **ret_stmt)
{
	int err = hf_db_prepare(db, sql, ret_stmt);

	if (!err)
		err = hf_db_step(*ret_stmt);
	return err > 0 ? HF_ERR_STATE : err;
}

int hf_index_meta_read(sqlite3 *db, struct hf_index_meta *ret_meta)
{
	sqlite3_stmt *stmt = NULL;
	int err = one_row(db,
			  "SELECT complete, size, mtime_ns, print, box, codec, codec_version, insns_limit, events_limit,"
			  "bytes_limit, stream_size, damage_code, damage_space, damage_offset, damage_detail, problems,"
			  "holes"
			  " FROM meta WHERE id = 1",
			  &stmt);

	if (!err)
		err = read_index_columns(stmt, ret_meta);
	sqlite3_finalize(stmt);
	return err;
}

static void bind_text(sqlite3_stmt *stmt, int i, const char *text)
{
	if (*text)
		sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(stmt, i);
}

int hf_index_meta_write(sqlite3 *db, const struct hf_index_meta *meta)
{
	sqlite3_stmt *stmt = NULL;
	int err = hf_db_prepare(db, "INSERT OR REPLACE INTO meta VALUES (1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", &stmt);

	if (!err) {
		sqlite3_bind_int64(stmt, 1, meta->complete);
		bind_identity(stmt, 2, &meta->identity);
		bind_text(stmt, 5, meta->box);
		bind_text(stmt, 6, meta->codec);
		sqlite3_bind_int64(stmt, 7, meta->codec_version);
		bind_limits(stmt, 8, &meta->limits);
		sqlite3_bind_int64(stmt, 11, (sqlite3_int64)meta->stream_size);
		hf_bind_diag(stmt, 12, &meta->damage);
		sqlite3_bind_int64(stmt, 16, (sqlite3_int64)meta->problems);
		sqlite3_bind_int64(stmt, 17, (sqlite3_int64)meta->holes);
		err = hf_db_exec(stmt);
	}
	sqlite3_finalize(stmt);
	return err;
}

static int read_view_columns(sqlite3_stmt *stmt, struct hf_view_meta *meta)
{
	uint64_t complete, version;
	bool null;
	int err;

	if ((err = hf_col_u64(stmt, 0, 1, &complete)) || (err = read_identity(stmt, 1, &meta->identity)) ||
	    (err = hf_col_text(stmt, 4, meta->view, sizeof meta->view, &null)) ||
	    (err = hf_col_u64(stmt, 5, UINT32_MAX, &version)) ||
	    (err = hf_col_text(stmt, 6, meta->params, sizeof meta->params, &null)) ||
	    (err = read_limits(stmt, 7, &meta->limits)))
		return err;
	meta->complete = complete != 0;
	meta->version = (uint32_t)version;
	return 0;
}

int hf_index_hart_read(sqlite3_stmt *stmt, uint64_t *ret_slot, struct hf_index_hart *ret_hart)
{
	uint64_t id;
	int err;

	if ((err = hf_col_u64(stmt, 0, HF_SLOT_RECORDS, ret_slot)) || (err = hf_col_u64(stmt, 1, UINT32_MAX, &id)) ||
	    (err = hf_col_u64(stmt, 2, HF_COUNT_MAX, &ret_hart->insns)) ||
	    (err = hf_col_u64(stmt, 3, HF_COUNT_MAX, &ret_hart->attempts)) ||
	    (err = hf_col_u64(stmt, 4, HF_COUNT_MAX, &ret_hart->events)) ||
	    (err = hf_col_u64(stmt, 5, HF_NUMBER_MAX, &ret_hart->chunks)))
		return err;
	ret_hart->id = (uint32_t)id;
	return 0;
}

int hf_view_meta_read(sqlite3 *db, struct hf_view_meta *ret_meta)
{
	sqlite3_stmt *stmt = NULL;
	int err = one_row(db,
			  "SELECT complete, size, mtime_ns, print, view, version, params, insns_limit, events_limit,"
			  "bytes_limit FROM meta WHERE id = 1",
			  &stmt);

	if (!err)
		err = read_view_columns(stmt, ret_meta);
	sqlite3_finalize(stmt);
	return err;
}

int hf_view_meta_write(sqlite3 *db, const struct hf_view_meta *meta)
{
	sqlite3_stmt *stmt = NULL;
	int err = hf_db_prepare(db, "INSERT OR REPLACE INTO meta VALUES (1,?,?,?,?,?,?,?,?,?,?)", &stmt);

	if (!err) {
		sqlite3_bind_int64(stmt, 1, meta->complete);
		bind_identity(stmt, 2, &meta->identity);
		sqlite3_bind_text(stmt, 5, meta->view, -1, SQLITE_TRANSIENT);
		sqlite3_bind_int64(stmt, 6, meta->version);
		sqlite3_bind_text(stmt, 7, meta->params, -1, SQLITE_TRANSIENT);
		bind_limits(stmt, 8, &meta->limits);
		err = hf_db_exec(stmt);
	}
	sqlite3_finalize(stmt);
	return err;
}

bool hf_view_meta_fits(const struct hf_view_meta *meta, const struct hf_identity *identity,
		       const struct hf_view_key *key)
{
	return hf_identity_equal(&meta->identity, identity) && strcmp(meta->view, key->ops->view) == 0 &&
	       meta->version == key->ops->version && strcmp(meta->params, key->params) == 0;
}
