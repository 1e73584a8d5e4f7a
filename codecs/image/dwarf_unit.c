/* SPDX-License-Identifier: Apache-2.0 */
/* Units: where they are, and what their entries are read by (DWARF 5, 7.5.1). */
#include "codecs/base/search.h"
#include "codecs/image/dwarf.h"
#include "codecs/image/grow.h"

#include <stdlib.h>

/* DW_UT_ */
enum { TYPE = 2, SKELETON = 4, SPLIT_COMPILE = 5, SPLIT_TYPE = 6 };

/* Steps for each byte of the sections; real files need less than one. */
enum { WORK_FACTOR = 4 };
#define WORK_LEAST (UINT64_C(1) << 16)

static bool is_size(uint64_t size)
{
	return size == 4 || size == 8;
}

/* The header at *c, which ends with its unit; false for a unit of types, and for versions that nobody knows. */
static bool read_header(struct hf_dwarf_unit *unit, struct hf_dwarf_cursor *c, unsigned word)
{
	const uint64_t version = hf_dwarf_get(c, 2);
	unsigned type = 0;

	unit->sizes = (struct hf_dwarf_sizes){(uint8_t)version, (uint8_t)word, 0};
	if (version < 2 || version > 5)
		return false;
	if (version >= 5) {
		type = (unsigned)hf_dwarf_get(c, 1);
		unit->sizes.address = (uint8_t)hf_dwarf_get(c, 1);
		unit->abbrevs = hf_dwarf_get(c, word);
	} else {
		unit->abbrevs = hf_dwarf_get(c, word);
		unit->sizes.address = (uint8_t)hf_dwarf_get(c, 1);
	}
	if (type == SKELETON || type == SPLIT_COMPILE)
		hf_dwarf_get(c, 8);
	return type != TYPE && type != SPLIT_TYPE && is_size(unit->sizes.address) && !c->bad;
}

static int find_units(struct hf_dwarf *dwarf)
{
	const struct hf_dwarf_bytes *info = &dwarf->sections.row[HF_DWARF_INFO];
	struct hf_dwarf_cursor all = hf_dwarf_cursor_at(info, 0);

	while (all.p < all.end) {
		struct hf_dwarf_unit unit = {.start = (uint64_t)(all.p - info->at)};
		struct hf_dwarf_cursor own;
		unsigned word;
		int err;

		hf_dwarf_get_unit(&all, &word, &own);
		if (all.bad)
			return HF_ERR_CORRUPT;
		unit.end = (uint64_t)(own.end - info->at);
		if (!read_header(&unit, &own, word))
			continue;
		unit.entries = (uint64_t)(own.p - info->at);
		err = hf_grow(&dwarf->unit, dwarf->unit_count, &dwarf->unit_cap, HF_DWARF_UNITS_MAX, sizeof unit);
		if (err)
			return err;
		dwarf->unit[dwarf->unit_count++] = unit;
	}
	return 0;
}

int hf_dwarf_open(struct hf_src *elf, struct hf_dwarf *ret_dwarf, struct hf_diag *diag)
{
	int err;

	*ret_dwarf = (struct hf_dwarf){.work = WORK_LEAST};
	err = hf_dwarf_sections_load(elf, (1u << HF_DWARF_SECTIONS) - 1, HF_DWARF_INFO, &ret_dwarf->sections, diag);
	for (unsigned i = 0; i < HF_DWARF_SECTIONS; i++)
		ret_dwarf->work += WORK_FACTOR * ret_dwarf->sections.row[i].size;
	return err ? err : find_units(ret_dwarf);
}

void hf_dwarf_close(struct hf_dwarf *dwarf)
{
	hf_dwarf_sections_free(&dwarf->sections);
	hf_dwarf_abbrevs_free(&dwarf->abbrevs);
	free(dwarf->unit);
	dwarf->unit = NULL;
	dwarf->unit_count = dwarf->unit_cap = 0;
}

struct hf_dwarf_unit *hf_dwarf_unit_at(struct hf_dwarf *dwarf, uint64_t offset)
{
	const size_t low = HF_COUNT_UP_TO(dwarf->unit, dwarf->unit_count, start, offset);
	struct hf_dwarf_unit *unit = low ? &dwarf->unit[low - 1] : NULL;

	return unit && offset >= unit->entries && offset < unit->end ? unit : NULL;
}

/* Where tables of .debug_str_offsets and .debug_addr begin that a unit does not say: behind their header. */
static uint64_t base_of(const struct hf_dwarf_unit *unit, const struct hf_dwarf_entry *first,
			enum hf_dwarf_attribute attribute)
{
	if (hf_dwarf_has(first, attribute))
		return first->value[attribute].number;
	return unit->sizes.version < 5 ? 0 : unit->sizes.word == 8 ? 16 : 8;
}

int hf_dwarf_unit_open(struct hf_dwarf *dwarf, struct hf_dwarf_unit *unit, struct hf_dwarf_entry *ret_first,
		       struct hf_dwarf_cursor *ret_children)
{
	const struct hf_dwarf_bytes *info = &dwarf->sections.row[HF_DWARF_INFO];
	struct hf_dwarf_cursor c = {info->at + unit->entries, info->at + unit->end, false};
	int err = hf_dwarf_abbrevs_table(&dwarf->abbrevs, &dwarf->sections.row[HF_DWARF_ABBREV], unit->abbrevs,
					 &dwarf->work, &unit->table);

	if (err)
		return err;
	err = hf_dwarf_entry_read(dwarf, unit, &c, ret_first);
	if (err || !ret_first->code)
		return err ? err : HF_ERR_CORRUPT;
	unit->strings_base = base_of(unit, ret_first, HF_DWARF_AT_STRINGS_BASE);
	unit->address_base = base_of(unit, ret_first, HF_DWARF_AT_ADDRESS_BASE);
	unit->lists_base = base_of(unit, ret_first, HF_DWARF_AT_LISTS_BASE);
	if (!hf_dwarf_has(ret_first, HF_DWARF_AT_LOW_PC) ||
	    !hf_dwarf_address(dwarf, unit, &ret_first->value[HF_DWARF_AT_LOW_PC], &unit->low_pc))
		unit->low_pc = 0;
	unit->opened = true;
	if (ret_children)
		*ret_children = c;
	return 0;
}
