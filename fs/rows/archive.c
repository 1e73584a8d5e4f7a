/* SPDX-License-Identifier: Apache-2.0 */
/* capture, hart, view, problem: what an archive has. */
#include "codecs/base/array.h"
#include "fs/capture/all.h"
#include "fs/capture/ls_line.h"
#include "fs/capture/open_pool.h"
#include "fs/hartfs.h"
#include "fs/rows/summed.h"

#include <stdlib.h>
#include <string.h>

/* ---- capture: without indexing any ---- */

enum { FORMAT = HF_AT_CAPTURE + 1, CONTAINER, BYTES, STATE, HARTS, INSTRUCTIONS, PROBLEMS, FAILURE };

static const struct hf_column capture_columns[] = {
	{"capture", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[FORMAT] = {"format", HF_COLUMN_TEXT},
	[CONTAINER] = {"container", HF_COLUMN_TEXT},
	[BYTES] = {"bytes", 0},
	[STATE] = {"state", HF_COLUMN_TEXT},
	[HARTS] = {"harts", 0},
	[INSTRUCTIONS] = {"instructions", 0},
	[PROBLEMS] = {"problems", 0},
	[FAILURE] = {"failure", HF_COLUMN_TEXT},
};

static int begin_capture(struct hf_rows *rows, void **ret_own, size_t *ret_count)
{
	struct hf_fs_ls_line *line = malloc(sizeof *line);
	int err = line ? hf_captures_ls_line(rows->session->captures, rows->path, line) : HF_ERR_NOMEM;

	if (err) {
		free(line);
		return err;
	}
	*ret_own = line;
	*ret_count = 1;
	return 0;
}

static void put_capture(const struct hf_rows *rows, void *own, size_t i, struct hf_row *row)
{
	static const char *const states[] = {"not indexed", "indexed", "failed"};
	const struct hf_fs_ls_line *line = own;

	(void)i;
	row->id = (int64_t)rows->next_capture;
	if (*line->format)
		hf_row_word(rows, row, FORMAT, line->format);
	if (*line->container)
		hf_row_word(rows, row, CONTAINER, line->container);
	hf_row_number(rows, row, BYTES, line->size);
	hf_row_word(rows, row, STATE, states[line->state]);
	if (line->state == HF_FS_FAILED)
		hf_row_copy(rows, row, FAILURE, line->failure, strlen(line->failure));
	if (line->state != HF_FS_INDEXED)
		return;
	hf_row_number(rows, row, HARTS, line->harts);
	hf_row_number(rows, row, INSTRUCTIONS, line->instructions);
	hf_row_number(rows, row, PROBLEMS, line->problems);
}

static const struct hf_rows_list capture_how = {.begin = begin_capture, .put = put_capture};

HF_LIST_TABLE(capture, 0, capture_columns, capture_how);

/* ---- an index, which is made if need be ---- */

/* NULL, and no error, of a capture that nobody asked for by name and that cannot be decoded. */
static int open_index(struct hf_rows *rows, struct hf_open **ret_open)
{
	int err = hf_rows_index(rows);

	*ret_open = NULL;
	if (!err)
		err = hf_open_get(rows->capture, rows->capture->version, ret_open);
	if (err && err != HF_ERR_CANCELLED && !hf_err_is_shortage(err) && !rows->ask->equal[HF_AT_CAPTURE]) {
		*rows->why = 0;
		return 0;
	}
	return err;
}

static void put_open(void *own)
{
	struct hf_open **open = own;

	if (*open)
		hf_open_put(*open);
}

/* own of tables whose rows an index has. */
static int begin_indexed(struct hf_rows *rows, void **ret_own, struct hf_open **ret_open)
{
	struct hf_open **own = malloc(sizeof *own);
	int err = own ? open_index(rows, own) : HF_ERR_NOMEM;

	if (err) {
		free(own);
		return err;
	}
	*ret_own = own;
	*ret_open = *own;
	return 0;
}

/* ---- hart ---- */

enum { HART_NUMBER = HF_AT_CAPTURE + 1, HART_INSTRUCTIONS, HART_ATTEMPTS, HART_EVENTS, HART_CHUNKS, HART_TEXTS, HART_SAMPLES, HART_MARKERS };

static const struct hf_column hart_columns[] = {
	{"capture", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[HART_NUMBER] = {"hart", HF_COLUMN_ASKED},
	[HART_INSTRUCTIONS] = {"instructions", HF_COLUMN_ASKED},
	[HART_ATTEMPTS] = {"attempts", HF_COLUMN_ASKED},
	[HART_EVENTS] = {"events", HF_COLUMN_ASKED},
	[HART_CHUNKS] = {"chunks", HF_COLUMN_ASKED},
	[HART_TEXTS] = {"texts", HF_COLUMN_ASKED},
	[HART_SAMPLES] = {"samples", HF_COLUMN_ASKED},
	[HART_MARKERS] = {"markers", HF_COLUMN_ASKED},
};

static int begin_harts(struct hf_rows *rows, void **ret_own, size_t *ret_count)
{
	const struct hf_index_hart *harts;
	struct hf_open *open;
	int err = begin_indexed(rows, ret_own, &open);

	*ret_count = err || !open ? 0 : hf_index_harts(open->index, &harts);
	return err;
}

static void put_hart(const struct hf_rows *rows, void *own, size_t i, struct hf_row *row)
{
	struct hf_open **open = own;
	const struct hf_index_hart *harts;

	hf_index_harts((*open)->index, &harts);
	row->id = (int64_t)(rows->next_capture << 32 | i);
	hf_row_number(rows, row, HART_NUMBER, harts[i].id);
	hf_row_number(rows, row, HART_INSTRUCTIONS, harts[i].insns);
	hf_row_number(rows, row, HART_ATTEMPTS, harts[i].attempts);
	hf_row_number(rows, row, HART_EVENTS, harts[i].events);
	hf_row_number(rows, row, HART_CHUNKS, harts[i].chunks);
	hf_row_number(rows, row, HART_TEXTS, harts[i].told.texts);
	hf_row_number(rows, row, HART_SAMPLES, harts[i].told.samples);
	hf_row_number(rows, row, HART_MARKERS, harts[i].told.markers);
}

static const struct hf_rows_list hart_how = {.begin = begin_harts, .put = put_hart, .end = put_open};

HF_LIST_TABLE(hart, 0, hart_columns, hart_how);

/* ---- problem: a line of errors.txt ---- */

enum { PROBLEM_NUMBER = HF_AT_CAPTURE + 1, PROBLEM_HART, PROBLEM_ORDINAL, PROBLEM_PLACE, PROBLEM_BYTES, PROBLEM_TEXT, PROBLEM_BACK };

static const struct hf_column problem_columns[] = {
	{"capture", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[PROBLEM_NUMBER] = {"number", HF_COLUMN_ASKED},
	[PROBLEM_HART] = {"hart", HF_COLUMN_ASKED},
	[PROBLEM_ORDINAL] = {"ordinal", HF_COLUMN_ASKED},
	[PROBLEM_PLACE] = {"place", HF_COLUMN_ASKED},
	[PROBLEM_BYTES] = {"bytes", HF_COLUMN_ASKED},
	[PROBLEM_TEXT] = {"problem", HF_COLUMN_TEXT},
	[PROBLEM_BACK] = {"back", HF_COLUMN_ASKED},
};

static int begin_problems(struct hf_rows *rows, void **ret_own, size_t *ret_count)
{
	struct hf_open *open;
	int err = begin_indexed(rows, ret_own, &open);

	*ret_count = err || !open ? 0 : hf_index_problem_count(open->index);
	return err;
}

static void put_problem(const struct hf_rows *rows, void *own, size_t i, struct hf_row *row)
{
	struct hf_open **open = own;
	struct hf_index_problem problem;
	char text[HF_DIAG_SIZE];

	row->id = (int64_t)(rows->next_capture << 32 | i);
	hf_row_number(rows, row, PROBLEM_NUMBER, i);
	if (hf_index_problem_at((*open)->index, i, &problem)) {
		hf_row_word(rows, row, PROBLEM_TEXT, "(only counted: there are too many)");
		return;
	}
	if (problem.chunk != HF_NOWHERE)
		hf_row_number(rows, row, PROBLEM_HART, problem.hart);
	if (problem.has_ordinal)
		hf_row_number(rows, row, PROBLEM_ORDINAL, problem.ordinal);
	if (problem.diag.offset != HF_NOWHERE)
		hf_row_number(rows, row, PROBLEM_PLACE, problem.diag.offset);
	hf_row_number(rows, row, PROBLEM_BYTES, problem.bytes);
	hf_row_number(rows, row, PROBLEM_BACK, problem.back);
	problem.diag.offset = HF_NOWHERE;
	hf_diag_format(&problem.diag, text, sizeof text);
	hf_row_copy(rows, row, PROBLEM_TEXT, text, strlen(text));
}

static const struct hf_rows_list problem_how = {.begin = begin_problems, .put = put_problem, .end = put_open};

HF_LIST_TABLE(problem, 0, problem_columns, problem_how);

/* ---- view: files of the view directory ---- */

enum { VIEW_HART = HF_AT_CAPTURE + 1, VIEW_PATH, VIEW_BYTES };

static const struct hf_column view_columns[] = {
	{"capture", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[VIEW_HART] = {"hart", HF_COLUMN_ASKED},
	[VIEW_PATH] = {"path", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[VIEW_BYTES] = {"bytes", HF_COLUMN_ASKED},
};

struct files {
	struct file {
		char *path; /* owned */
		uint64_t size;
		uint32_t hart;
	} *file;
	size_t n, room;
	int err;
};

static bool add_file(void *ctx, const struct hartfs_file *from)
{
	struct files *files = ctx;

	files->err = hf_array_reserve(&files->file, files->n + 1, &files->room, sizeof *files->file);
	if (files->err)
		return false;
	files->file[files->n] = (struct file){strdup(from->path), from->size, from->hart};
	files->err = files->file[files->n].path ? 0 : HF_ERR_NOMEM;
	files->n += !files->err;
	return !files->err;
}

static void free_files(void *own)
{
	struct files *files = own;

	for (size_t i = 0; i < files->n; i++)
		free(files->file[i].path);
	free(files->file);
}

static int list_files(struct hf_rows *rows, struct files *files)
{
	char capture[PATH_MAX], view_dir[PATH_MAX];
	struct hf_open *open;
	int err = open_index(rows, &open);

	if (err || !open)
		return err;
	hf_open_put(open);
	err = hf_tree_capture_of(rows->session->tree, rows->path, capture, view_dir);
	if (!err)
		err = hf_tree_each_file(rows->session->tree, view_dir, add_file, files);
	return err ? err : files->err;
}

static int begin_files(struct hf_rows *rows, void **ret_own, size_t *ret_count)
{
	struct files *files = calloc(1, sizeof *files);
	int err = files ? list_files(rows, files) : HF_ERR_NOMEM;

	if (err && files)
		free_files(files);
	if (err) {
		free(files);
		return err;
	}
	*ret_own = files;
	*ret_count = files->n;
	return 0;
}

static void put_file(const struct hf_rows *rows, void *own, size_t i, struct hf_row *row)
{
	const struct file *file = &((const struct files *)own)->file[i];

	row->id = (int64_t)(rows->next_capture << 32 | i);
	hf_row_text(rows, row, VIEW_PATH, file->path, strlen(file->path));
	hf_row_number(rows, row, VIEW_BYTES, file->size);
	if (file->hart != HARTFS_NO_HART)
		hf_row_number(rows, row, VIEW_HART, file->hart);
}

static const struct hf_rows_list view_how = {.begin = begin_files, .put = put_file, .end = free_files};

HF_LIST_TABLE(view, 0, view_columns, view_how);
