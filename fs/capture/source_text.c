/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/source_text.h"
#include "codecs/base/errors.h"
#include "fs/archive/open_files.h"
#include "fs/capture/recognise.h"
#include "fs/facts/opened.h"
#include "fs/facts/shared.h"
#include "fs/program/debug_dir.h"
#include "fs/stream/elf_nearby.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where source files are looked for: in the archive, or in the debug directory. */
struct place {
	struct hf_open_files *open_files;
	struct hf_debug_dir *dir; /* NULL: in the archive */
	const struct hf_elf_nearby *files;
};

static bool is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, name);
}

static int open_file(const struct place *place, const struct hf_elf_nearby_file *file, struct hf_src **ret_src)
{
	struct stat st;
	int err = place->dir ? hf_debug_dir_open(place->dir, file->path, &st, ret_src)
			     : hf_open_file_as_src(place->open_files, file->path, &st, ret_src);

	if (err || hf_elf_nearby_stamp_of(&st) == file->stamp)
		return err;
	hf_src_free(*ret_src);
	return HF_ERR_CHANGED;
}

static bool has_too_many_lines(const struct hf_source_text *text)
{
	const char *at = text->bytes, *end = at + text->size;
	uint32_t n = 0;

	while (n <= HF_SOURCE_LINES_MAX && (at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		n++;
	}
	return n > HF_SOURCE_LINES_MAX;
}

static int read_all(struct hf_src *src, struct hf_source_text *text)
{
	struct hf_diag diag;
	int err;

	text->too_long = src->size > HF_SOURCE_TEXT_MAX;
	if (text->too_long)
		return 0;
	text->bytes = malloc((size_t)src->size + 1);
	if (!text->bytes)
		return HF_ERR_NOMEM;
	err = hf_src_read_all(src, 0, text->bytes, (size_t)src->size, &text->size, &diag);
	text->too_many = !err && has_too_many_lines(text);
	if (text->too_many) {
		free(text->bytes);
		text->bytes = NULL;
	}
	return err;
}

/* A file that this process may not read is not there. */
static int read_file(const struct place *place, const struct hf_elf_nearby_file *file, struct hf_source_text *text)
{
	struct hf_src *src;
	int err = open_file(place, file, &src);

	if (err)
		return err == HF_ERR_DENIED || err == HF_ERR_NOT_FOUND ? 0 : err;
	if (asprintf(&text->path, "%s%s%s", place->dir ? place->dir->path : "", place->dir ? "/" : "", file->path) < 0)
		text->path = NULL;
	err = text->path ? read_all(src, text) : HF_ERR_NOMEM;
	hf_src_free(src);
	return err;
}

static int find(const struct place *place, const char *name, struct hf_source_text *text)
{
	int err = 0;

	for (size_t i = 0; i < place->files->count && !err; i++) {
		if (!is_named(place->files->file[i].path, name))
			continue;
		if (text->path)
			text->others++;
		else
			err = read_file(place, &place->files->file[i], text);
	}
	return err;
}

static int find_beside(const struct hf_open *open, const char *name, struct hf_source_text *text)
{
	const struct hf_shared *shared = open->capture->shared;
	struct hf_elf_nearby files;
	int err = hf_capture_is_described(open->capture)
			  ? HF_NOTE_END
			  : hf_elf_nearby_list(shared->archive, open->capture->path, NULL, &files);

	if (err)
		return err == HF_NOTE_END ? 0 : err;
	err = find(&(struct place){.open_files = shared->open_files, .files = &files}, name, text);
	hf_elf_nearby_free(&files);
	return err;
}

static int find_in_debug_dir(const struct hf_open *open, const char *name, struct hf_source_text *text)
{
	struct hf_debug_dir *dir = open->capture->shared->debug_dir;
	struct hf_elf_nearby files;
	uint64_t stamp;
	int err = hf_debug_dir_look(dir, &stamp);

	if (err || !stamp)
		return err;
	err = hf_debug_dir_list(dir, stamp, &files);
	if (err)
		return err;
	err = find(&(struct place){.open_files = &dir->open_files, .dir = dir, .files = &files}, name, text);
	hf_elf_nearby_free(&files);
	return err;
}

int hf_source_text_read(const struct hf_open *open, const char *name, struct hf_source_text *ret_text)
{
	int err;

	*ret_text = (struct hf_source_text){0};
	err = find_beside(open, name, ret_text);
	if (!err && !ret_text->path)
		err = find_in_debug_dir(open, name, ret_text);
	if (err)
		hf_source_text_free(ret_text);
	return err;
}

void hf_source_text_free(struct hf_source_text *text)
{
	free(text->bytes);
	free(text->path);
	*text = (struct hf_source_text){0};
}
