/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the files of a capture say what the capture does: all of them are made again, in memory, and compared row by
 * row. A build is the same whatever was interrupted and however many threads there are; only what zstd makes of the
 * same bytes may depend on its version.
 */
#include "index/image.h"
#include "index/memdir.h"
#include "index/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const index_tables[] = {"meta", "hart", "chunk", "point", "window", "image", "problem", NULL};
static const char *const view_tables[] = {"meta", "hart", "chunk", NULL};

/* A file as it is stored, and as it is now. */
struct pair {
	sqlite3 *stored, *made;
};

struct rows {
	sqlite3_stmt *stored, *made;
};

static bool same_column(const struct rows *rows, int i)
{
	const int n = sqlite3_column_bytes(rows->made, i);

	return sqlite3_column_type(rows->stored, i) == sqlite3_column_type(rows->made, i) &&
	       sqlite3_column_bytes(rows->stored, i) == n &&
	       (!n || !memcmp(sqlite3_column_blob(rows->stored, i), sqlite3_column_blob(rows->made, i), (size_t)n));
}

static bool same_row(const struct rows *rows)
{
	const int n = sqlite3_column_count(rows->made);
	bool same = sqlite3_column_count(rows->stored) == n;

	for (int i = 0; same && i < n; i++)
		same = same_column(rows, i);
	return same;
}

static bool same_window(const struct rows *rows)
{
	static const int data = 1;
	uint8_t bytes[2][HF_WINDOW_MAX];
	sqlite3_stmt *const stmt[2] = {rows->stored, rows->made};
	size_t n[2];

	for (int i = 0; i < 2; i++)
		n[i] = ZSTD_decompress(bytes[i], sizeof bytes[i], sqlite3_column_blob(stmt[i], data),
				       (size_t)sqlite3_column_bytes(stmt[i], data));
	return same_column(rows, 0) && n[0] == n[1] && !ZSTD_isError(n[0]) && !memcmp(bytes[0], bytes[1], n[0]);
}

/* One row of each, or the end of both, in *ret_same: what is stored and cannot be read is another. */
static int same_step(const struct rows *rows, bool (*same)(const struct rows *rows), bool *ret_same, bool *ret_end)
{
	const int stored = hf_db_step(rows->stored), made = hf_db_step(rows->made);

	*ret_same = stored == made;
	*ret_end = made == HF_NOTE_END;
	if (made < 0)
		return made;
	if (stored < 0)
		return stored == HF_ERR_STATE ? 0 : stored;
	if (*ret_same && !*ret_end)
		*ret_same = same(rows);
	return 0;
}

static int compare_rows(const struct pair *pair, const char *table, bool (*same)(const struct rows *rows),
			bool *ret_same)
{
	struct rows rows = {0};
	bool end = false;
	char sql[64];
	int err;

	snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY 1", table);
	err = hf_db_prepare(pair->stored, sql, &rows.stored);
	if (!err)
		err = hf_db_prepare(pair->made, sql, &rows.made);
	*ret_same = true;
	while (!err && *ret_same && !end)
		err = same_step(&rows, same, ret_same, &end);
	sqlite3_finalize(rows.stored);
	sqlite3_finalize(rows.made);
	return err;
}

/* The code of the hart in that slot, unpacked: the caller frees it with hf_sink_fini_memory. */
static int unpack_image(sqlite3 *db, uint64_t slot, uint64_t *ret_events, struct hf_sink *ret_sink)
{
	struct hf_image *image;
	int err = hf_sink_init_memory(ret_sink, 0);

	if (err)
		return err;
	err = hf_index_image_get(db, slot, ret_events, &image);
	if (!err)
		hf_image_save(image, ret_sink);
	hf_image_free(image);
	return err ? err : ret_sink->err;
}

static int compare_image(const struct pair *pair, uint64_t slot, bool *ret_same)
{
	uint64_t events[2] = {0};
	struct hf_sink stored = {0}, made = {0};
	int stored_err = unpack_image(pair->stored, slot, &events[0], &stored);
	int made_err = unpack_image(pair->made, slot, &events[1], &made);

	*ret_same = stored_err == made_err && events[0] == events[1];
	if (*ret_same && !made_err)
		*ret_same = hf_sink_total(&stored) == hf_sink_total(&made) &&
			    !memcmp(stored.start, made.start, (size_t)hf_sink_total(&made));
	hf_sink_fini_memory(&stored);
	hf_sink_fini_memory(&made);
	if (made_err < 0)
		return made_err;
	return stored_err < 0 && stored_err != HF_ERR_STATE ? stored_err : 0;
}

static int compare_images(const struct pair *pair, bool *ret_same)
{
	struct hf_index_hart *harts = NULL;
	size_t count = 0;
	int err = compare_rows(pair, "image", same_row, ret_same);

	if (err || *ret_same)
		return err;
	*ret_same = true;
	err = hf_row_list(pair->made, &hf_table_hart, sizeof *harts, true, HF_SLOT_RECORDS + 1, &harts, &count);
	for (size_t i = 0; !err && *ret_same && i < count; i++)
		err = compare_image(pair, harts[i].slot, ret_same);
	free(harts);
	return err;
}

/* *ret_table: the first that is another; NULL: none. */
static int compare_tables(const struct pair *pair, const char *const *tables, const char **ret_table)
{
	bool same = true;
	int err = 0;

	for (*ret_table = NULL; !err && same && *tables; tables++) {
		if (!strcmp(*tables, "image"))
			err = compare_images(pair, &same);
		else
			err = compare_rows(pair, *tables, !strcmp(*tables, "window") ? same_window : same_row, &same);
		if (!same)
			*ret_table = *tables;
	}
	return err;
}

struct comparison {
	const struct hf_build *build;
	int made_fd; /* the directory in memory */
	hf_examine_fn fn;
	void *ctx;
};

static int compare_open(int stored_fd, int made_fd, enum hf_db_kind kind, const char **ret_table)
{
	struct pair pair = {0};
	int err = hf_db_open(made_fd, kind, &pair.made);

	if (!err)
		err = hf_db_open(stored_fd, kind, &pair.stored);
	if (!err)
		err = compare_tables(&pair, kind == HF_DB_INDEX ? index_tables : view_tables, ret_table);
	hf_db_close(pair.stored);
	hf_db_close(pair.made);
	return err;
}

/* A file that is not there, or is none, promises nothing; a view that nobody would make anew is not shown. */
static int compare_file(const struct comparison *c, const char *name, enum hf_db_kind kind)
{
	const char *table = NULL;
	char what[80];
	int stored_fd = -1, made_fd = -1;
	int err = hf_index_file_open(c->build->dirfd, name, &stored_fd);

	if (!err)
		err = hf_index_file_open(c->made_fd, name, &made_fd);
	if (!err)
		err = compare_open(stored_fd, made_fd, kind, &table);
	if (!err && table) {
		snprintf(what, sizeof what, "does not say what the capture does (table %s)", table);
		c->fn(c->ctx, name, what);
		hf_index_file_drop_open(c->build->dirfd, name, stored_fd);
	}
	if (stored_fd >= 0)
		close(stored_fd);
	if (made_fd >= 0)
		close(made_fd);
	return err == HF_ERR_NOT_FOUND || err == HF_ERR_STATE ? 0 : err;
}

static int compare_files(const struct comparison *c)
{
	const struct hf_build *build = c->build;
	char name[HF_FILE_NAME_SIZE];
	int err;

	hf_index_file_name_index(&build->identity, name);
	err = compare_file(c, name, HF_DB_INDEX);
	for (size_t i = 0; !err && i < build->view_count; i++)
		if (!hf_index_file_name_view(&build->identity, &build->views[i], name))
			err = compare_file(c, name, HF_DB_VIEW);
	return err;
}

/* As the index that is there was made: with its limits, and with the records if it has them. */
static int make_again(const struct hf_build *build, struct hf_index *index, int dirfd, struct hf_diag *diag)
{
	struct hf_build again = *build;
	struct hf_view_key *views = malloc((build->view_count + 1) * sizeof *views);
	bool records = false;
	int err;

	if (!views)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < build->view_count; i++) {
		views[i] = build->views[i];
		records |= views[i].ops == &hf_enc_records;
	}
	if (!records && hf_index_records(index))
		views[again.view_count++] = (struct hf_view_key){.ops = &hf_enc_records, .params = ""};
	again.views = views;
	again.limits = hf_index_limits(index);
	again.dirfd = dirfd;
	err = hf_build_run(&again, diag);
	free(views);
	return err;
}

int hf_index_compare(const struct hf_build *build, hf_examine_fn fn, void *ctx, struct hf_diag *diag)
{
	struct hf_memdir *memdir = NULL;
	struct hf_index *index;
	int err = hf_index_open(build->dirfd, &build->identity, &index);

	if (err)
		return err == HF_ERR_NOT_FOUND ? 0 : err;
	err = hf_memdir_new(-1, UINT64_MAX, &memdir);
	if (!err)
		err = make_again(build, index, hf_memdir_fd(memdir), diag);
	hf_index_close(index);
	if (!err)
		err = compare_files(
			&(struct comparison){.build = build, .made_fd = hf_memdir_fd(memdir), .fn = fn, .ctx = ctx});
	hf_memdir_free(memdir);
	return err;
}
