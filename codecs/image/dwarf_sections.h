/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of an ELF that hold its DWARF. */
#ifndef HF_IMAGE_DWARF_SECTIONS_H
#define HF_IMAGE_DWARF_SECTIONS_H

#include "codecs/image/dwarf_cursor.h"
#include "codecs/source/source.h"

enum hf_dwarf_section {
	HF_DWARF_LINE,
	HF_DWARF_LINE_STR,
	HF_DWARF_INFO,
	HF_DWARF_ABBREV,
	HF_DWARF_STR,
	HF_DWARF_STR_OFFSETS,
	HF_DWARF_ADDR,
	HF_DWARF_RANGES,
	HF_DWARF_RNGLISTS,
	HF_DWARF_SECTIONS
};

/* Bytes of a section after decompressing, and of all. */
#define HF_DWARF_SECTION_MAX (UINT64_C(256) << 20)
#define HF_DWARF_ALL_MAX (UINT64_C(512) << 20)

struct hf_dwarf_sections {
	struct hf_dwarf_bytes row[HF_DWARF_SECTIONS]; /* of one that is not there 0 bytes */
	/* Whether there is code at address 0. If not, what lies there is a function that the linker left out. */
	bool code_at_0;
};

/*
 * Reads the sections of a mask of 1 << enum hf_dwarf_section; none if the file does not have main, which is one of them.
 * HF_ERR_ELF_LIMIT, HF_ERR_CORRUPT, HF_ERR_UNSUPPORTED, HF_ERR_ELF_RELOCATABLE, HF_ERR_NOMEM, and what reading returns;
 * free in each case.
 */
int hf_dwarf_sections_load(struct hf_src *elf, unsigned mask, enum hf_dwarf_section main,
			   struct hf_dwarf_sections *ret_sections, struct hf_diag *diag);
void hf_dwarf_sections_free(struct hf_dwarf_sections *sections);

#endif
