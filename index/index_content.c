/* SPDX-License-Identifier: Apache-2.0 */
#include "index/index_content.h"

#include <stdlib.h>

struct hart_row {
	struct hf_index_hart hart;
	uint64_t slot;
};

static int load_meta(sqlite3 *db, struct hf_index_content *x, const struct hf_identity *identity)
{
	int err = hf_index_meta_read(db, &x->meta);

	if (err)
		return err;
	if (!x->meta.complete || !hf_identity_equal(&x->meta.identity, identity))
		return HF_ERR_STATE;
	if (*x->meta.box && !(x->box = hf_box_by_name(x->meta.box)))
		return HF_ERR_STATE;
	if (!*x->meta.codec)
		return 0;
	x->codec = hf_index_codec_named(x->meta.codec);
	return x->codec && x->codec->dec && x->codec->version == x->meta.codec_version ? 0 : HF_ERR_STATE;
}

static int read_hart(sqlite3_stmt *stmt, struct hart_row *row)
{
	const struct hf_index_hart *hart = &row->hart;
	int err = hf_index_hart_read(stmt, &row->slot, &row->hart);

	if (err)
		return err;
	if ((hart->id == HF_HART_RECORDS) != (row->slot == HF_SLOT_RECORDS))
		return HF_ERR_STATE;
	return hart->chunks && hart->insns <= hart->events && hart->attempts <= hart->events ? 0 : HF_ERR_STATE;
}

static int by_id(const void *a, const void *b)
{
	const struct hart_row *x = a, *y = b;

	return (x->hart.id > y->hart.id) - (x->hart.id < y->hart.id);
}

/* The whole table, by slot; for free() whatever is returned. */
static int read_harts(sqlite3 *db, struct hart_row **ret_rows, size_t *ret_n)
{
	struct hart_row *rows = NULL;
	sqlite3_stmt *stmt;
	size_t n = 0, cap = 0;
	int err = hf_db_prepare(db, "SELECT " HF_INDEX_HART_COLUMNS " FROM hart ORDER BY slot", &stmt);

	*ret_rows = NULL;
	if (err)
		return err;
	while (!(err = hf_db_step(stmt))) {
		if (n == cap) {
			struct hart_row *bigger = realloc(rows, (cap = cap ? 2 * cap : 8) * sizeof *rows);

			if (!bigger) {
				err = HF_ERR_NOMEM;
				break;
			}
			rows = bigger;
		}
		err = read_hart(stmt, &rows[n]);
		if (!err && n && rows[n].slot <= rows[n - 1].slot)
			err = HF_ERR_STATE;
		if (err)
			break;
		n++;
	}
	sqlite3_finalize(stmt);
	*ret_rows = rows;
	*ret_n = n;
	return err < 0 ? err : 0;
}

static int take_harts(struct hf_index_content *x, const struct hart_row *rows, size_t n)
{
	x->harts = calloc(n, sizeof *x->harts);
	x->slots = calloc(n, sizeof *x->slots);
	if (!x->harts || !x->slots)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		if (i && rows[i].hart.id == rows[i - 1].hart.id)
			return HF_ERR_STATE;
		x->harts[i] = rows[i].hart;
		x->slots[i] = rows[i].slot;
	}
	x->has_records = rows[n - 1].hart.id == HF_HART_RECORDS;
	x->hart_count = n - x->has_records;
	return 0;
}

static int load_harts(sqlite3 *db, struct hf_index_content *x)
{
	struct hart_row *rows;
	size_t n;
	int err = read_harts(db, &rows, &n);

	if (!err && n) {
		qsort(rows, n, sizeof *rows, by_id);
		err = take_harts(x, rows, n);
	}
	free(rows);
	return err;
}

static int read_problem(sqlite3_stmt *stmt, struct hf_index_problem *p)
{
	uint64_t hart, fatal;
	int err;

	*p = (struct hf_index_problem){0};
	if ((err = hf_col_u64(stmt, 0, UINT32_MAX, &hart)) || (err = hf_col_u64(stmt, 2, 1, &fatal)) ||
	    (err = hf_col_diag(stmt, 3, &p->diag)) || (err = hf_col_u64(stmt, 7, UINT64_MAX, &p->bytes)))
		return err;
	p->hart = (uint32_t)hart;
	p->fatal = fatal != 0;
	p->has_ordinal = sqlite3_column_type(stmt, 1) != SQLITE_NULL;
	return p->has_ordinal ? hf_col_u64(stmt, 1, HF_COUNT_MAX, &p->ordinal) : 0;
}

/* No count(*) and no sorting: what a hostile file makes long ends at the first row too many. */
static int load_problems(sqlite3 *db, struct hf_index_content *x)
{
	size_t cap = 0;
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(db,
				"SELECT hart, ordinal, fatal, code, space, offset, detail, bytes FROM problem"
				" ORDER BY id",
				&stmt);

	if (err)
		return err;
	while (!(err = hf_db_step(stmt))) {
		if (x->problem_count == HF_INDEX_PROBLEM_MAX || x->problem_count == x->meta.problems) {
			err = HF_ERR_STATE;
			break;
		}
		if (x->problem_count == cap) {
			void *bigger = realloc(x->problems, (cap = cap ? 2 * cap : 8) * sizeof *x->problems);

			if (!bigger) {
				err = HF_ERR_NOMEM;
				break;
			}
			x->problems = bigger;
		}
		err = read_problem(stmt, &x->problems[x->problem_count]);
		if (err)
			break;
		x->problem_count++;
	}
	sqlite3_finalize(stmt);
	return err < 0 ? err : 0;
}

int hf_index_content_load(sqlite3 *db, const struct hf_identity *identity, struct hf_index_content *content)
{
	int err = load_meta(db, content, identity);

	if (!err)
		err = load_harts(db, content);
	return err ? err : load_problems(db, content);
}

void hf_index_content_fini(struct hf_index_content *content)
{
	free(content->harts);
	free(content->slots);
	free(content->problems);
}
