/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/dwarf_sections.h"

#include "codecs/image/elf_read.h"

#include <elf.h>
#include <stdlib.h>

static const char *const names[HF_DWARF_SECTIONS] = {
	[HF_DWARF_LINE] = ".debug_line",
	[HF_DWARF_LINE_STR] = ".debug_line_str",
	[HF_DWARF_INFO] = ".debug_info",
	[HF_DWARF_ABBREV] = ".debug_abbrev",
	[HF_DWARF_STR] = ".debug_str",
	[HF_DWARF_STR_OFFSETS] = ".debug_str_offsets",
	[HF_DWARF_ADDR] = ".debug_addr",
	[HF_DWARF_RANGES] = ".debug_ranges",
	[HF_DWARF_RNGLISTS] = ".debug_rnglists",
};

static bool has_code_at_0(struct hf_src *elf)
{
	struct hf_elf_file file;
	bool found = false;

	/* A debug file may have no segments. What can be moved begins with its headers. */
	if (hf_elf_file_open(elf, &file, NULL))
		return false;
	for (size_t i = 0; i < file.segment_count; i++)
		found |= file.type != ET_DYN && file.segments[i].flags & HF_ELF_X && !file.segments[i].address;
	hf_elf_file_close(&file);
	return found;
}

static int load(const struct hf_elf_file *file, enum hf_dwarf_section which, uint64_t *left,
		struct hf_dwarf_sections *sections, struct hf_diag *diag)
{
	struct hf_dwarf_bytes *row = &sections->row[which];
	const uint64_t max = *left < HF_DWARF_SECTION_MAX ? *left : HF_DWARF_SECTION_MAX;
	const int err = hf_elf_file_named(file, names[which], (size_t)max, &row->at, &row->size, diag);

	*left -= row->size;
	return err;
}

int hf_dwarf_sections_load(struct hf_src *elf, unsigned mask, enum hf_dwarf_section main,
			   struct hf_dwarf_sections *ret_sections, struct hf_diag *diag)
{
	uint64_t left = HF_DWARF_ALL_MAX;
	struct hf_elf_file file;
	int err;

	*ret_sections = (struct hf_dwarf_sections){.code_at_0 = false};
	err = hf_elf_file_open_sections(elf, &file, diag);
	if (!err)
		err = load(&file, main, &left, ret_sections, diag);
	if (err || !ret_sections->row[main].size)
		return err;
	for (unsigned i = 0; i < HF_DWARF_SECTIONS && !err; i++)
		if (mask & 1u << i && i != main)
			err = load(&file, i, &left, ret_sections, diag);
	ret_sections->code_at_0 = !err && has_code_at_0(elf);
	return err;
}

void hf_dwarf_sections_free(struct hf_dwarf_sections *sections)
{
	for (unsigned i = 0; i < HF_DWARF_SECTIONS; i++)
		free(sections->row[i].at);
	*sections = (struct hf_dwarf_sections){.code_at_0 = false};
}
