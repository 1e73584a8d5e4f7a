/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a collected image as sections of its ELF: DWARF 4, made anew from what the listing shows, one compile
 * unit whatever the number of files. Names of source files have no directories. Every executed address that has a line
 * has that line, and no other address has any.
 */
#ifndef HF_IMAGE_ELF_DEBUG_H
#define HF_IMAGE_ELF_DEBUG_H

#include "codecs/image/collect.h"
#include "codecs/image/symbols.h"

/* In this order one after the other. */
enum hf_elf_debug_section {
	HF_ELF_DEBUG_ABBREV,
	HF_ELF_DEBUG_INFO,
	HF_ELF_DEBUG_LINE,
	HF_ELF_DEBUG_RANGES,
	HF_ELF_DEBUG_COUNT
};

/* More bytes of .debug_line than that are left out, with the other sections. */
#define HF_ELF_DEBUG_LINE_MAX (UINT64_C(64) << 20)

struct hf_elf_debug {
	uint8_t *bytes;			       /* of all sections; NULL: there are none */
	size_t offset[HF_ELF_DEBUG_COUNT + 1]; /* where each begins in these, and the end */
};

/* Where the unit has code. */
struct hf_elf_debug_range {
	uint64_t address, size;
};

/* lines may be NULL. The ranges hold all of the image; wide: of ELF64. HF_ERR_NOMEM. */
int hf_elf_debug_init(const struct hf_image *image, const struct hf_symbols *lines,
		      const struct hf_elf_debug_range *range, size_t count, bool wide, struct hf_elf_debug *ret_debug);
void hf_elf_debug_fini(struct hf_elf_debug *debug);

#endif
