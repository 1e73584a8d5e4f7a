/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a line table, with the source files that it numbers (DWARF 5, 6.2.4; versions 2 to 5). */
#ifndef HF_IMAGE_LINE_HEADER_H
#define HF_IMAGE_LINE_HEADER_H

#include "codecs/image/dwarf_form.h"
#include "codecs/image/names.h"

#define HF_LINE_FILES_MAX (1 << 20) /* of one table */

/* Most files of a table are never asked for. */
struct hf_line_file {
	const char *path;
	uint32_t dir;  /* number of its directory */
	uint32_t name; /* offset among the names; 0: it has none yet */
};

struct hf_line_header {
	struct hf_dwarf_bytes strings; /* .debug_line_str, borrowed */
	struct hf_line_file *file;
	size_t file_count, file_cap;
	const char **dir; /* the first is the compiler's, "" if the table does not say; others may be relative to it */
	size_t dir_count, dir_cap;
	uint32_t first_file; /* its number */
	struct hf_dwarf_sizes sizes;
	unsigned min_length, line_range, opcode_base;
	int line_base;
	const uint8_t *operands; /* of standard opcodes, from 1 */
};

/*
 * Reads the next one: *c is behind the length of the table, and ends at its program; word is the size of its offsets. The
 * strings stay, and the memory of the files is used again. HF_ERR_CORRUPT, HF_ERR_UNSUPPORTED (the version),
 * HF_ERR_ELF_LIMIT, HF_ERR_NOMEM.
 */
int hf_line_header_read(struct hf_line_header *header, struct hf_dwarf_cursor *c, unsigned word);
void hf_line_header_free(struct hf_line_header *header);

/* One more file, as the program of a table may define it. */
int hf_line_header_add_file(struct hf_line_header *header, const char *path, uint64_t dir);

/* Gives a file a name, which in the names stands behind its directories, as far as the table tells them: its path
 * begins behind the zero byte before it. HF_ERR_ELF_LIMIT, HF_ERR_NOMEM. */
int hf_line_file_name(const struct hf_line_header *header, struct hf_line_file *file, struct hf_names *names);

/* The name of a file by its number, as it is shown: where it is among names, in which 0 is the empty one; 0 if the table
 * has none of that number. As hf_line_file_name. */
static inline int hf_line_header_name(struct hf_line_header *header, uint64_t number, struct hf_names *names,
				      uint32_t *ret_name)
{
	struct hf_line_file *file;
	int err = 0;

	*ret_name = 0;
	number -= header->first_file;
	if (number >= header->file_count)
		return 0;
	file = &header->file[number];
	if (!file->name)
		err = hf_line_file_name(header, file, names);
	*ret_name = file->name;
	return err;
}

#endif
