/* SPDX-License-Identifier: Apache-2.0 */
/* Abbreviations: what entries of a code consist of (DWARF 5, 7.5.3). Tables are read once, when they are asked for. */
#ifndef HF_IMAGE_DWARF_ABBREV_H
#define HF_IMAGE_DWARF_ABBREV_H

#include "codecs/image/dwarf_cursor.h"
#include "codecs/image/number_map.h"

/* Of all tables together. */
#define HF_DWARF_ABBREVS_MAX (UINT32_C(1) << 22)

struct hf_dwarf_abbrev {
	uint64_t code;
	uint32_t attributes; /* where their names and forms begin, in .debug_abbrev */
	uint16_t tag;
	bool children;
};

struct hf_dwarf_abbrevs {
	struct hf_dwarf_abbrev *row;
	size_t count, cap;
	struct hf_dwarf_abbrev_table {
		size_t first, count; /* its rows, by code */
	} *table;
	size_t table_count, table_cap;
	struct hf_number_map by_offset; /* its number, from 1 */
};

/* The number of the table at that offset, from 1. *work is what may still be done, in bytes: HF_ERR_ELF_LIMIT beyond it.
 * HF_ERR_CORRUPT, HF_ERR_NOMEM. */
int hf_dwarf_abbrevs_table(struct hf_dwarf_abbrevs *abbrevs, const struct hf_dwarf_bytes *section, uint64_t offset,
			   uint64_t *work, uint32_t *ret_table);
/* NULL: the table does not have that code. */
const struct hf_dwarf_abbrev *hf_dwarf_abbrev_of(const struct hf_dwarf_abbrevs *abbrevs, uint32_t table, uint64_t code);
void hf_dwarf_abbrevs_free(struct hf_dwarf_abbrevs *abbrevs);

#endif
