/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/db_table.h"

#include <assert.h>
#include <stdio.h>

/* What is asked of a table: HF_SEEK_... and these. */
enum { PUT = HF_SEEK_BACK + 1, CUT, STATEMENTS };
static_assert((int)STATEMENTS == (int)HF_DB_TABLE_STATEMENTS, "each has its place");

void hf_db_table_close(struct hf_db_table *t)
{
	for (size_t i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(t->stmt[i]);
}

/* Without it there are no rows. */
static int look(struct hf_db_table *t, bool *ret_present)
{
	int err = 0;

	t->present |= !!t->in_pack;
	if (t->table->times && !t->present)
		err = hf_db_has_times(t->db, &t->present);
	*ret_present = !t->table->times || t->present;
	return err;
}

/* Every table has its key as its rowid. */
static int statement(struct hf_db_table *t, int kind, sqlite3_stmt **ret_stmt)
{
	static const char *const forms[] = {
		[HF_SEEK_AT] = "SELECT * FROM %s%s WHERE rowid = ?1%s",
		[HF_SEEK_FROM] = "SELECT * FROM %s%s WHERE rowid >= ?1%s ORDER BY rowid LIMIT 1",
		[HF_SEEK_BACK] = "SELECT * FROM %s%s WHERE rowid <= ?1%s ORDER BY rowid DESC LIMIT 1",
		[CUT] = "DELETE FROM %s%s WHERE rowid >= ?1 AND rowid <= ?3%s",
	};
	sqlite3_stmt **stmt = &t->stmt[kind];
	char sql[112];
	int err = 0;

	if (!*stmt) {
		snprintf(sql, sizeof sql, forms[kind], t->in_pack ? t->in_pack : "", t->table->name,
			 t->in_pack ? " AND part = ?2" : "");
		err = hf_db_prepare(t->db, sql, stmt);
	}
	*ret_stmt = *stmt;
	return err;
}

int hf_db_table_stand(struct hf_db_table *t, enum hf_seek seek, uint64_t key, sqlite3_stmt **ret_stmt)
{
	bool present;
	int err = look(t, &present);

	*ret_stmt = NULL;
	if (!err)
		err = present ? statement(t, (int)seek, ret_stmt) : HF_NOTE_END;
	if (err)
		return err;
	hf_db_bind(*ret_stmt, 2, (const uint64_t[]){key, t->part});
	return hf_db_step(*ret_stmt);
}

int hf_db_table_find(struct hf_db_table *t, enum hf_seek seek, uint64_t key, uint64_t *ret_key, void *ret_row)
{
	sqlite3_stmt *stmt;
	int err = hf_db_table_stand(t, seek, key, &stmt);

	if (!err)
		err = hf_row_read(stmt, t->table, ret_key, ret_row);
	sqlite3_reset(stmt);
	return err;
}

int hf_db_table_number(struct hf_db_table *t, uint64_t key, uint64_t *ret_number)
{
	sqlite3_stmt *stmt;
	int err = hf_db_table_stand(t, HF_SEEK_AT, key, &stmt);

	if (!err)
		err = hf_col_u64(stmt, 1, t->table->column->max, ret_number);
	sqlite3_reset(stmt);
	return err;
}

int hf_db_table_put(struct hf_db_table *t, uint64_t key, const void *row)
{
	bool present;
	int err = look(t, &present);

	if (!err && !present)
		err = hf_db_add_times(t->db);
	if (!err && !t->stmt[PUT])
		err = hf_row_prepare(t->db, t->table, t->in_pack, &t->stmt[PUT]);
	if (err)
		return err;
	if (t->in_pack)
		sqlite3_bind_int64(t->stmt[PUT], t->table->count + 2, (sqlite3_int64)t->part);
	return hf_row_put(t->stmt[PUT], t->table, key, row);
}

int hf_db_table_cut(struct hf_db_table *t, uint64_t first, uint64_t last)
{
	sqlite3_stmt *stmt;
	bool present;
	int err = look(t, &present);

	if (!err && present)
		err = statement(t, CUT, &stmt);
	if (err || !present)
		return err;
	hf_db_bind(stmt, 3, (const uint64_t[]){first, t->part, last});
	return hf_db_exec(stmt);
}
