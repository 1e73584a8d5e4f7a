/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/line_header.h"

#include "codecs/image/grow.h"

#include <stdio.h>
#include <string.h>

enum { CONTENT_PATH = 1, CONTENT_DIRECTORY = 2, FORMATS_MAX = 16 };

static int add_dir(struct hf_line_header *header, const char *path)
{
	const int err =
		hf_grow(&header->dir, header->dir_count, &header->dir_cap, HF_LINE_FILES_MAX, sizeof *header->dir);

	if (!err)
		header->dir[header->dir_count++] = path;
	return err;
}

int hf_line_header_add_file(struct hf_line_header *header, const char *path, uint64_t dir)
{
	const int err = hf_grow(&header->file, header->file_count, &header->file_cap, HF_LINE_FILES_MAX,
				sizeof *header->file);

	if (!err)
		header->file[header->file_count++] = (struct hf_line_file){.path = path, .dir = (uint32_t)dir};
	return err;
}

/* "DIRECTORY/", printable, of a file; nothing if it is not known or too long. Returns the length. */
static size_t put_dir(const struct hf_line_header *header, const struct hf_line_file *file,
		      char to[HF_LINES_PATH_MAX + 1])
{
	const char *own = strrchr(file->path, '/'), *dir = file->dir < header->dir_count ? header->dir[file->dir] : "";
	const char *first = header->dir_count ? header->dir[0] : "";
	char text[HF_LINES_PATH_MAX + 1];
	int n;

	dir = *file->path == '/' ? "" : dir;
	first = *file->path == '/' || *dir == '/' || dir == first ? "" : first;
	n = snprintf(text, sizeof text, "%s%s%s%s%.*s", first, *first ? "/" : "", dir, *dir ? "/" : "",
		     own ? (int)(own - file->path) + 1 : 0, file->path);
	return n < 0 || (size_t)n >= sizeof text ? 0 : hf_name_copy(to, text, HF_LINES_PATH_MAX, true);
}

int hf_line_file_name(const struct hf_line_header *header, struct hf_line_file *file, struct hf_names *names)
{
	char path[HF_LINES_PATH_MAX + HF_LINES_NAME_MAX + 1];
	const size_t dir = put_dir(header, file, path), size = hf_name_file(path + dir, file->path);
	const int err = hf_names_add(names, path, dir + size, &file->name);

	file->name += (uint32_t)dir;
	return err;
}

/* Compilers put names of files into .debug_line_str: .debug_str is not read for them. */
static const char *path_of(const struct hf_line_header *header, const struct hf_dwarf_value *value)
{
	if (value->class == HF_DWARF_LINE_STRING && value->number < header->strings.size)
		return (const char *)header->strings.at + value->number;
	return value->class == HF_DWARF_TEXT ? value->text : "";
}

/* Directories or files of version 5. */
static int get_entries(struct hf_line_header *header, struct hf_dwarf_cursor *c, bool files)
{
	uint64_t format[FORMATS_MAX][2], count;
	const unsigned formats = (unsigned)hf_dwarf_get(c, 1);
	int err = 0;

	if (formats > FORMATS_MAX)
		return HF_ERR_CORRUPT;
	for (unsigned i = 0; i < formats; i++) {
		format[i][0] = hf_dwarf_get_uleb(c);
		format[i][1] = hf_dwarf_get_uleb(c);
	}
	count = hf_dwarf_get_uleb(c);
	for (uint64_t k = 0; formats && k < count && k < HF_LINE_FILES_MAX && !c->bad && !err; k++) {
		const uint8_t *start = c->p;
		const char *path = "";
		uint64_t dir = 0;

		for (unsigned i = 0; i < formats; i++) {
			struct hf_dwarf_value value;

			if (!hf_dwarf_form_read(c, &header->sizes, format[i][1], &value))
				return HF_ERR_CORRUPT;
			path = format[i][0] == CONTENT_PATH ? path_of(header, &value) : path;
			dir = format[i][0] == CONTENT_DIRECTORY && value.class == HF_DWARF_NUMBER ? value.number : dir;
		}
		/* Entries that have no bytes would come for ever. */
		if (c->p == start)
			return HF_ERR_CORRUPT;
		err = files ? hf_line_header_add_file(header, path, dir) : add_dir(header, path);
	}
	return err;
}

static int get_old_entries(struct hf_line_header *header, struct hf_dwarf_cursor *c)
{
	const char *path;
	int err = add_dir(header, "");

	while (!c->bad && !err && *(path = hf_dwarf_get_string(c)))
		err = add_dir(header, path);
	while (!c->bad && !err) {
		uint64_t dir;

		path = hf_dwarf_get_string(c);
		if (!*path)
			break;
		dir = hf_dwarf_get_uleb(c);
		err = hf_line_header_add_file(header, path, dir);
		for (unsigned i = 0; i < 2; i++)
			hf_dwarf_get_uleb(c);
	}
	return err;
}

/* What the program is read by. */
static int get_numbers(struct hf_line_header *header, struct hf_dwarf_cursor *c)
{
	header->min_length = (unsigned)hf_dwarf_get(c, 1);
	if (header->sizes.version >= 4)
		hf_dwarf_get(c, 1);
	hf_dwarf_get(c, 1);
	/* NOLINTNEXTLINE(bugprone-signed-char-misuse,cert-str34-c): a signed number */
	header->line_base = (int8_t)hf_dwarf_get(c, 1);
	header->line_range = (unsigned)hf_dwarf_get(c, 1);
	header->opcode_base = (unsigned)hf_dwarf_get(c, 1);
	header->operands = c->p - 1;
	hf_dwarf_pass(c, header->opcode_base ? header->opcode_base - 1 : 0);
	return c->bad || !header->line_range || !header->opcode_base ? HF_ERR_CORRUPT : 0;
}

int hf_line_header_read(struct hf_line_header *header, struct hf_dwarf_cursor *c, unsigned word)
{
	const uint64_t version = hf_dwarf_get(c, 2);
	struct hf_dwarf_cursor own;
	uint64_t length;
	int err;

	header->file_count = header->dir_count = 0;
	if (version < 2 || version > 5)
		return HF_ERR_UNSUPPORTED;
	header->sizes = (struct hf_dwarf_sizes){(uint8_t)version, (uint8_t)word, 8};
	header->first_file = version < 5;
	if (version >= 5) {
		header->sizes.address = (uint8_t)hf_dwarf_get(c, 1);
		hf_dwarf_get(c, 1);
	}
	length = hf_dwarf_get(c, word);
	own = *c;
	hf_dwarf_pass(c, length);
	own.end = c->p;
	err = c->bad ? HF_ERR_CORRUPT : get_numbers(header, &own);
	if (err || version < 5)
		return err ? err : get_old_entries(header, &own);
	err = get_entries(header, &own, false);
	return err ? err : get_entries(header, &own, true);
}

void hf_line_header_free(struct hf_line_header *header)
{
	free(header->file);
	header->file = NULL;
	header->file_count = header->file_cap = 0;
	free(header->dir);
	header->dir = NULL;
	header->dir_count = header->dir_cap = 0;
}
