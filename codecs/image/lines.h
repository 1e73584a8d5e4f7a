/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which line of the source an address comes from: the line tables of DWARF 2 to 5 (.debug_line), also compressed with
 * zlib or zstd, as rows of our own. The file is taken to be hostile: time and memory go with the section's bytes, which
 * have a limit. Immutable once made.
 */
#ifndef HF_IMAGE_LINES_H
#define HF_IMAGE_LINES_H

#include "codecs/image/names.h"
#include "codecs/image/wanted.h"
#include "codecs/source/source.h"

/* Rows that are kept; beyond them there are no lines. */
#define HF_LINES_ROWS_MAX (UINT32_C(1) << 24)

/* Of [start, end); file is its name without directories: printable, and without blanks, '<' and '>'. */
struct hf_line {
	uint64_t start, end;
	const char *file;
	uint32_t file_size, path_size;
	const char *path; /* the same with its directories, as far as they are known; printable */
	uint32_t line; /* from 1; 0: the code there has none */
};

struct hf_lines;

/*
 * bias is added to all addresses; filter may be NULL; only rows that have some of what it asks for are kept. A file without such a section gives an empty table. What is wrong
 * within a table ends that table alone. HF_ERR_CORRUPT, HF_ERR_UNSUPPORTED,
 * HF_ERR_ELF_RELOCATABLE, HF_ERR_ELF_LIMIT, and what reading returns.
 */
int hf_lines_new(struct hf_src *elf, uint64_t bias, const struct hf_lines_filter *filter, struct hf_lines **ret_lines,
		 struct hf_diag *diag);
void hf_lines_free(struct hf_lines *lines);

size_t hf_lines_count(const struct hf_lines *lines);
size_t hf_lines_memory(const struct hf_lines *lines);

/* The place of pc in *ret_line; if there is none, line is 0 and [start, end) a range without any. */
void hf_lines_at(const struct hf_lines *lines, uint64_t pc, struct hf_line *ret_line);

#endif
