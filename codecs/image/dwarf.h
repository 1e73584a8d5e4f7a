/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units and entries of .debug_info (DWARF 2 to 5): those attributes that say which code is whose, and where it was inlined.
 * Everything is taken for hostile: what is done is counted, and goes with the bytes of the sections.
 */
#ifndef HF_IMAGE_DWARF_H
#define HF_IMAGE_DWARF_H

#include "codecs/image/dwarf_abbrev.h"
#include "codecs/image/dwarf_form.h"
#include "codecs/image/dwarf_sections.h"
#include "codecs/image/errors.h"

#define HF_DWARF_UNITS_MAX (1 << 18)

enum hf_dwarf_tag {
	HF_DWARF_INLINED_SUBROUTINE = 0x1d,
	HF_DWARF_SUBPROGRAM = 0x2e,
};

enum hf_dwarf_attribute {
	HF_DWARF_AT_NAME,
	HF_DWARF_AT_LINKAGE_NAME,
	HF_DWARF_AT_LINES, /* DW_AT_stmt_list */
	HF_DWARF_AT_LOW_PC,
	HF_DWARF_AT_HIGH_PC,
	HF_DWARF_AT_RANGES,
	HF_DWARF_AT_ORIGIN, /* DW_AT_abstract_origin */
	HF_DWARF_AT_SPECIFICATION,
	HF_DWARF_AT_CALL_FILE,
	HF_DWARF_AT_CALL_LINE,
	HF_DWARF_AT_STRINGS_BASE,
	HF_DWARF_AT_ADDRESS_BASE,
	HF_DWARF_AT_LISTS_BASE,
	HF_DWARF_AT_SPLIT_NAME, /* DW_AT_dwo_name */
	HF_DWARF_ATTRIBUTES
};

struct hf_dwarf_unit {
	uint64_t start, end; /* in .debug_info, with its header */
	uint64_t entries;    /* where they begin */
	uint64_t abbrevs;    /* offset of its table */
	struct hf_dwarf_sizes sizes;
	bool opened;
	/* from its first entry, if it is opened */
	uint32_t table; /* of abbreviations */
	uint64_t low_pc, strings_base, address_base, lists_base;
};

struct hf_dwarf {
	struct hf_dwarf_sections sections;
	struct hf_dwarf_abbrevs abbrevs;
	struct hf_dwarf_unit *unit; /* ascending; without those of types */
	size_t unit_count, unit_cap;
	uint64_t work; /* steps that may still be taken; HF_ERR_ELF_LIMIT beyond them */
};

/* One that is not there is not among has, and has no value. */
struct hf_dwarf_entry {
	uint64_t code; /* 0: the end of the children, and nothing else is set */
	uint16_t tag;
	bool children;
	uint32_t has; /* 1 << enum hf_dwarf_attribute */
	struct hf_dwarf_value value[HF_DWARF_ATTRIBUTES];
};

/* Reads the sections and finds the units; unit_count is 0 if there are none. HF_ERR_CORRUPT, what
 * hf_dwarf_sections_load returns; to be closed in each case. */
int hf_dwarf_open(struct hf_src *elf, struct hf_dwarf *ret_dwarf, struct hf_diag *diag);
void hf_dwarf_close(struct hf_dwarf *dwarf);

/* Takes n steps. */
static inline int hf_dwarf_work(struct hf_dwarf *dwarf, uint64_t n)
{
	if (dwarf->work <= n)
		return HF_ERR_ELF_LIMIT;
	dwarf->work -= n;
	return 0;
}

/* The unit that has that place of .debug_info, or NULL. */
struct hf_dwarf_unit *hf_dwarf_unit_at(struct hf_dwarf *dwarf, uint64_t offset);

/* Reads the first entry of a unit, and what others are read by. *ret_children, which may be NULL, is behind it.
 * HF_ERR_CORRUPT, HF_ERR_ELF_LIMIT, HF_ERR_NOMEM. */
int hf_dwarf_unit_open(struct hf_dwarf *dwarf, struct hf_dwarf_unit *unit, struct hf_dwarf_entry *ret_first,
		       struct hf_dwarf_cursor *ret_children);

/* The entry at *c of a unit that is opened; *c is behind it then. HF_ERR_CORRUPT, HF_ERR_ELF_LIMIT. */
int hf_dwarf_entry_read(struct hf_dwarf *dwarf, const struct hf_dwarf_unit *unit, struct hf_dwarf_cursor *c,
			struct hf_dwarf_entry *ret_entry);

static inline bool hf_dwarf_has(const struct hf_dwarf_entry *entry, enum hf_dwarf_attribute attribute)
{
	return entry->has & 1u << attribute;
}

/* What a value of that unit stands for. False if it is none, or not in these sections. The text is terminated. */
bool hf_dwarf_text(const struct hf_dwarf *dwarf, const struct hf_dwarf_unit *unit, const struct hf_dwarf_value *value,
		   const char **ret_text);
bool hf_dwarf_address(const struct hf_dwarf *dwarf, const struct hf_dwarf_unit *unit, const struct hf_dwarf_value *value,
		      uint64_t *ret_address);
bool hf_dwarf_reference(const struct hf_dwarf_unit *unit, const struct hf_dwarf_value *value, uint64_t *ret_offset);

/* Gives fn the code of an entry, [start, end) not empty; without what the linker left out. Non-zero from fn ends it and is
 * returned. HF_ERR_CORRUPT, HF_ERR_ELF_LIMIT. */
typedef int (*hf_dwarf_range_fn)(void *ctx, uint64_t start, uint64_t end);
int hf_dwarf_ranges(struct hf_dwarf *dwarf, const struct hf_dwarf_unit *unit, const struct hf_dwarf_entry *entry,
		    hf_dwarf_range_fn fn, void *ctx);

#endif
