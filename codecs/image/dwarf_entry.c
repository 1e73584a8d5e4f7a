/* SPDX-License-Identifier: Apache-2.0 */
/* Entries and the values of their attributes (DWARF 5, 7.5.2 to 7.5.6). */
#include "codecs/image/dwarf.h"

/* Numbers of attributes, with 1 added to what they are here; 0: of no use. */
static const uint8_t attributes[] = {
	[0x03] = HF_DWARF_AT_NAME + 1,
	[0x10] = HF_DWARF_AT_LINES + 1,
	[0x11] = HF_DWARF_AT_LOW_PC + 1,
	[0x12] = HF_DWARF_AT_HIGH_PC + 1,
	[0x31] = HF_DWARF_AT_ORIGIN + 1,
	[0x47] = HF_DWARF_AT_SPECIFICATION + 1,
	[0x55] = HF_DWARF_AT_RANGES + 1,
	[0x58] = HF_DWARF_AT_CALL_FILE + 1,
	[0x59] = HF_DWARF_AT_CALL_LINE + 1,
	[0x6e] = HF_DWARF_AT_LINKAGE_NAME + 1,
	[0x72] = HF_DWARF_AT_STRINGS_BASE + 1,
	[0x73] = HF_DWARF_AT_ADDRESS_BASE + 1,
	[0x74] = HF_DWARF_AT_LISTS_BASE + 1,
	[0x76] = HF_DWARF_AT_SPLIT_NAME + 1,
};

static unsigned attribute_of(uint64_t number)
{
	if (number < sizeof attributes)
		return attributes[number];
	switch (number) {
	case 0x2007: return HF_DWARF_AT_LINKAGE_NAME + 1; /* DW_AT_MIPS_linkage_name, before DWARF 4 */
	case 0x2130: return HF_DWARF_AT_SPLIT_NAME + 1;	  /* DW_AT_GNU_dwo_name */
	case 0x2133: return HF_DWARF_AT_ADDRESS_BASE + 1; /* DW_AT_GNU_addr_base */
	default: return 0;
	}
}

/* One attribute: its name and form at *spec, its value at *c. */
static bool read_value(const struct hf_dwarf_unit *unit, struct hf_dwarf_cursor *spec, uint64_t form,
		       struct hf_dwarf_cursor *c, struct hf_dwarf_value *ret_value)
{
	if (form != HF_DWARF_FORM_IMPLICIT)
		return hf_dwarf_form_read(c, &unit->sizes, form, ret_value);
	*ret_value = (struct hf_dwarf_value){HF_DWARF_NUMBER, (uint64_t)hf_dwarf_get_sleb(spec), NULL};
	return true;
}

int hf_dwarf_entry_read(struct hf_dwarf *dwarf, const struct hf_dwarf_unit *unit, struct hf_dwarf_cursor *c,
			struct hf_dwarf_entry *ret_entry)
{
	const struct hf_dwarf_abbrev *abbrev;
	struct hf_dwarf_cursor spec;
	uint64_t steps = 1;

	ret_entry->has = 0;
	ret_entry->code = hf_dwarf_get_uleb(c);
	if (!ret_entry->code)
		return c->bad ? HF_ERR_CORRUPT : 0;
	abbrev = hf_dwarf_abbrev_of(&dwarf->abbrevs, unit->table, ret_entry->code);
	if (!abbrev)
		return HF_ERR_CORRUPT;
	ret_entry->tag = abbrev->tag;
	ret_entry->children = abbrev->children;
	spec = hf_dwarf_cursor_at(&dwarf->sections.row[HF_DWARF_ABBREV], abbrev->attributes);
	for (;; steps++) {
		const uint64_t number = hf_dwarf_get_uleb(&spec), form = hf_dwarf_get_uleb(&spec);
		const unsigned attribute = attribute_of(number);
		struct hf_dwarf_value value;

		if (!number && !form)
			break;
		if (!read_value(unit, &spec, form, c, &value) || c->bad || spec.bad)
			return HF_ERR_CORRUPT;
		if (attribute) {
			ret_entry->has |= 1u << (attribute - 1);
			ret_entry->value[attribute - 1] = value;
		}
	}
	return hf_dwarf_work(dwarf, steps);
}

/* A number of size bytes in a section, at base and that many rows behind it. */
static bool number_at(const struct hf_dwarf_bytes *section, uint64_t base, uint64_t index, unsigned size,
		      uint64_t *ret_number)
{
	struct hf_dwarf_cursor c;

	if (base > section->size || index > section->size / size)
		return false;
	c = hf_dwarf_cursor_at(section, base + index * size);
	*ret_number = c.bad ? 0 : hf_dwarf_get(&c, size);
	return !c.bad;
}

static bool text_at(const struct hf_dwarf_bytes *section, uint64_t offset, const char **ret_text)
{
	if (offset >= section->size)
		return false;
	*ret_text = (const char *)section->at + offset;
	return true;
}

bool hf_dwarf_text(const struct hf_dwarf *dwarf, const struct hf_dwarf_unit *unit, const struct hf_dwarf_value *value,
		   const char **ret_text)
{
	const struct hf_dwarf_bytes *row = dwarf->sections.row;
	uint64_t offset;

	switch (value->class) {
	case HF_DWARF_TEXT: *ret_text = value->text; return true;
	case HF_DWARF_STRING: return text_at(&row[HF_DWARF_STR], value->number, ret_text);
	case HF_DWARF_LINE_STRING: return text_at(&row[HF_DWARF_LINE_STR], value->number, ret_text);
	case HF_DWARF_STRING_INDEX:
		return number_at(&row[HF_DWARF_STR_OFFSETS], unit->strings_base, value->number, unit->sizes.word,
				 &offset) &&
		       text_at(&row[HF_DWARF_STR], offset, ret_text);
	default: return false;
	}
}

bool hf_dwarf_address(const struct hf_dwarf *dwarf, const struct hf_dwarf_unit *unit, const struct hf_dwarf_value *value,
		      uint64_t *ret_address)
{
	*ret_address = value->number;
	if (value->class == HF_DWARF_ADDRESS_INDEX)
		return number_at(&dwarf->sections.row[HF_DWARF_ADDR], unit->address_base, value->number,
				 unit->sizes.address, ret_address);
	return value->class == HF_DWARF_ADDRESS;
}

bool hf_dwarf_reference(const struct hf_dwarf_unit *unit, const struct hf_dwarf_value *value, uint64_t *ret_offset)
{
	*ret_offset = value->number;
	if (value->class == HF_DWARF_REFERENCE && value->number < unit->end - unit->start)
		*ret_offset += unit->start;
	else if (value->class != HF_DWARF_FAR_REFERENCE)
		return false;
	return true;
}
