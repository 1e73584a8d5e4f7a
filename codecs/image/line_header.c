/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/line_header.h"

#include "codecs/image/grow.h"

enum { CONTENT_PATH = 1, FORMATS_MAX = 16 };

int hf_line_header_add_file(struct hf_line_header *header, const char *path)
{
	const int err = hf_grow(&header->file, header->file_count, &header->file_cap, HF_LINE_FILES_MAX,
				sizeof *header->file);

	if (!err)
		header->file[header->file_count++] = (struct hf_line_file){path, 0};
	return err;
}

int hf_line_file_name(struct hf_line_file *file, struct hf_names *names)
{
	char name[HF_LINES_NAME_MAX + 1];

	return hf_names_add(names, name, hf_name_file(name, file->path), &file->name);
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

		for (unsigned i = 0; i < formats; i++) {
			struct hf_dwarf_value value;

			if (!hf_dwarf_form_read(c, &header->sizes, format[i][1], &value))
				return HF_ERR_CORRUPT;
			path = format[i][0] == CONTENT_PATH ? path_of(header, &value) : path;
		}
		/* Entries that have no bytes would come for ever. */
		if (c->p == start)
			return HF_ERR_CORRUPT;
		err = files ? hf_line_header_add_file(header, path) : 0;
	}
	return err;
}

static int get_old_entries(struct hf_line_header *header, struct hf_dwarf_cursor *c)
{
	int err = 0;

	while (!c->bad && *hf_dwarf_get_string(c))
		;
	while (!c->bad && !err) {
		const char *path = hf_dwarf_get_string(c);

		if (!*path)
			break;
		err = hf_line_header_add_file(header, path);
		for (unsigned i = 0; i < 3; i++)
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

	header->file_count = 0;
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
}
