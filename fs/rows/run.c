/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table: capture by capture, hart by hart. */
#include "codecs/base/array.h"
#include "fs/rows/run.h"
#include "fs/capture/all.h"
#include "fs/capture/open_pool.h"
#include "fs/rows/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- the session ---- */

int hf_rows_session_open(struct hf_captures *captures, struct hf_tree *tree, struct hf_rows_session **ret_session)
{
	struct hf_rows_session *session = calloc(1, sizeof *session);
	int err = session ? hf_disasm_new(&session->disasm) : HF_ERR_NOMEM;

	*ret_session = NULL;
	if (err) {
		free(session);
		return err;
	}
	session->captures = captures;
	session->tree = tree;
	hf_link_init(&session->harts);
	hf_link_init(&session->chunks);
	*ret_session = session;
	return 0;
}

void hf_rows_session_free(struct hf_rows_session *session)
{
	if (!session)
		return;
	hf_rows_chunk_drop(session, 0);
	hf_rows_hart_drop(session, 0);
	for (size_t i = 0; i < session->pair_count; i++)
		free(session->pairs[i].path);
	free(session->pairs);
	hf_disasm_free(session->disasm);
	free(session);
}

/* ---- captures ---- */

static bool add_path(void *ctx, const char *path, const char *view_dir)
{
	struct hf_rows *rows = ctx;
	struct hf_rows_paths *paths = &rows->captures;

	(void)view_dir;
	paths->err = HF_ERR_CANCELLED;
	if (!hf_rows_are_stopped(rows))
		paths->err = hf_array_reserve(&paths->path, paths->count + 1, &paths->room, sizeof *paths->path);
	if (paths->err)
		return false;
	paths->path[paths->count] = strdup(path);
	paths->err = paths->path[paths->count] ? 0 : HF_ERR_NOMEM;
	paths->count += !paths->err;
	return !paths->err;
}

/* The one that was asked for, which may be named by its view directory, or all. */
static int find_captures(struct hf_rows *rows)
{
	const char *asked = rows->ask->equal[HF_AT_CAPTURE];
	char capture[PATH_MAX], view_dir[PATH_MAX];
	int err;

	if (!asked && rows->table->flags & HF_TABLE_HART)
		return hf_rows_fail(rows, HF_ERR_UNSUPPORTED, "of which capture? FROM %s('boot/run.stf', 0)",
				    rows->table->name);
	if (!asked) {
		err = hf_tree_each_capture(rows->session->tree, "", NULL, add_path, rows);
		return rows->captures.err ? rows->captures.err : err;
	}
	err = hf_tree_capture_of(rows->session->tree, asked, capture, view_dir);
	if (err == HF_ERR_NOT_FOUND)
		return hf_rows_fail(rows, err, "there is no capture '%s'", asked);
	/* A directory, or a symbolic link. */
	if (err == HF_ERR_UNKNOWN_FORMAT)
		return hf_rows_fail(rows, err, "'%s' is no capture", asked);
	if (err)
		return err;
	add_path(rows, capture, view_dir);
	return rows->captures.err;
}

static int enter_capture(struct hf_rows *rows)
{
	int err;

	rows->path = rows->captures.path[rows->next_capture++];
	rows->next_hart = 0;
	if (rows->table->flags & HF_TABLE_HART) {
		err = hf_rows_index(rows);
		return err ? err : hf_capture_at(rows->session->captures, rows->path, &rows->capture);
	}
	err = hf_capture_at(rows->session->captures, rows->path, &rows->capture);
	if (!err)
		err = rows->table->open(rows);
	rows->opened = !err;
	return err;
}

/* ---- harts ---- */

/* A hart without instructions may say something beside the flow that it has not. */
static bool has_rows(const struct hf_table *table, const struct hf_index_hart *hart)
{
	return hart->insns || (table->flags & HF_TABLE_RARE && (hart->told.texts || hart->told.samples || hart->told.markers));
}

/* The hart with that place in their order; HF_NOTE_END: there are no more. */
static int enter_hart(struct hf_rows *rows)
{
	const struct hf_index_hart *harts;
	struct hf_open *open;
	int64_t first, last;
	size_t n, i;
	int err = hf_open_get(rows->capture, rows->capture->version, &open);

	if (err)
		return err;
	hf_rows_range(rows, HF_AT_HART, &first, &last);
	n = hf_index_harts(open->index, &harts);
	while (rows->next_hart < n) {
		i = rows->ask->reverse ? n - 1 - rows->next_hart : rows->next_hart;
		rows->next_hart++;
		if (open->stream && has_rows(rows->table, &harts[i]) && harts[i].id >= first && harts[i].id <= last) {
			if (rows->ask->one_hart && rows->entered) {
				hf_open_put(open);
				return hf_rows_fail(rows, HF_ERR_CHANGED, "%s has several harts now: ask again", rows->path);
			}
			rows->entered = true;
			err = hf_rows_hart_get(rows->session, rows->capture, &harts[i], open, &rows->hart);
			if (err == HF_ERR_LIMIT)
				hf_rows_fail(rows, err, "more than %u harts were asked: connect anew", HF_ROWS_HARTS);
			return err;
		}
	}
	hf_open_put(open);
	return HF_NOTE_END;
}

static void leave(struct hf_rows *rows)
{
	if (rows->opened)
		rows->table->close(rows);
	rows->opened = false;
	rows->own = NULL;
	if (rows->hart)
		hf_rows_hart_put(rows->session, rows->hart);
	rows->hart = NULL;
}

/* Opens the table of what comes next. */
static int advance(struct hf_rows *rows)
{
	int err;

	if (rows->table->flags & HF_TABLE_HART && rows->capture) {
		err = enter_hart(rows);
		if (!err) {
			err = rows->table->open(rows);
			rows->opened = !err;
		}
		if (err != HF_NOTE_END)
			return err;
		rows->capture = NULL;
	}
	return rows->next_capture < rows->captures.count ? enter_capture(rows) : HF_NOTE_END;
}

/* ---- rows ---- */

static bool is_asked(const struct hf_rows *rows, const struct hf_row *row)
{
	for (uint32_t bits = rows->conditions; bits; bits &= bits - 1)
		if (!hf_row_is_asked(rows, row, (unsigned)__builtin_ctz(bits)))
			return false;
	return true;
}

static void begin_row(const struct hf_rows *rows, struct hf_row *row)
{
	const char *asked = rows->ask->equal[HF_AT_CAPTURE];

	for (size_t i = 0; i < rows->table->column_count; i++)
		row->value[i].type = HF_VALUE_NULL;
	row->used = 0;
	if (rows->path)
		hf_row_word(rows, row, HF_AT_CAPTURE, asked ? asked : rows->path);
	if (rows->hart)
		hf_row_number(rows, row, HF_AT_HART, rows->hart->info.id);
}

int hf_rows_next(struct hf_rows *rows, struct hf_row *ret_row)
{
	int err = 0;

	while (!err) {
		begin_row(rows, ret_row);
		err = rows->opened ? rows->table->next(rows, ret_row) : HF_NOTE_END;
		if (!err && is_asked(rows, ret_row)) {
			rows->given++;
			return 0;
		}
		if ((err || !(++rows->left_out & 255)) && hf_rows_are_stopped(rows))
			return HF_ERR_CANCELLED;
		if (err == HF_NOTE_END) {
			leave(rows);
			err = advance(rows);
		}
	}
	return err;
}

/* Conditions that nothing meets. */
static bool is_impossible(const struct hf_rows_ask *ask)
{
	for (unsigned i = 0; i < HF_ROWS_COLUMNS; i++)
		if (ask->ranged >> i & 1 && ask->range[i].first > ask->range[i].last)
			return true;
	return false;
}

int hf_rows_open(struct hf_rows_session *session, const struct hf_rows_ask *ask, struct hf_rows **ret_rows, char *why,
		 size_t size)
{
	struct hf_rows *rows = calloc(1, sizeof *rows);
	int err;

	*why = 0;
	*ret_rows = NULL;
	if (!rows)
		return HF_ERR_NOMEM;
	*rows = (struct hf_rows){.session = session,
				 .ask = ask,
				 .table = ask->table,
				 .conditions = ask->ranged,
				 .why = why,
				 .why_size = size};
	/* What it says of the capture has been met by choosing that. */
	for (unsigned i = 0; i < HF_ROWS_COLUMNS; i++)
		rows->conditions |= (ask->equal[i] && i != HF_AT_CAPTURE) || ask->among[i].number ? 1u << i : 0;
	rows->wanted = ask->columns | rows->conditions;
	err = is_impossible(ask) ? 0 : find_captures(rows);
	if (err)
		hf_rows_close(rows);
	else
		*ret_rows = rows;
	return err;
}

void hf_rows_close(struct hf_rows *rows)
{
	leave(rows);
	for (size_t i = 0; i < rows->captures.count; i++)
		free(rows->captures.path[i]);
	free(rows->captures.path);
	free(rows);
}
