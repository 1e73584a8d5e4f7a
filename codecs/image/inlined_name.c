/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/inlined_name.h"

#include "codecs/image/errors.h"
#include "codecs/image/function_name.h"

/* Entries that a name may lie behind: an instance, the function, its declaration in a class, and some to spare. */
enum { HOPS_MAX = 16 };

/* The entry at that place, with its unit. */
static int read_at(struct hf_dwarf *dwarf, uint64_t offset, struct hf_dwarf_entry *ret_entry,
		   struct hf_dwarf_unit **ret_unit)
{
	const struct hf_dwarf_bytes *info = &dwarf->sections.row[HF_DWARF_INFO];
	struct hf_dwarf_unit *unit = *ret_unit = hf_dwarf_unit_at(dwarf, offset);
	struct hf_dwarf_cursor c;
	int err = unit ? 0 : HF_ERR_CORRUPT;

	if (unit && !unit->opened)
		err = hf_dwarf_unit_open(dwarf, unit, ret_entry, NULL);
	if (err)
		return err;
	c = (struct hf_dwarf_cursor){info->at + offset, info->at + unit->end, false};
	err = hf_dwarf_entry_read(dwarf, unit, &c, ret_entry);
	return !err && !ret_entry->code ? HF_ERR_CORRUPT : err;
}

/* The entry that has what this one lacks. */
static bool next_of(const struct hf_dwarf_unit *unit, const struct hf_dwarf_entry *entry, uint64_t *ret_offset)
{
	for (unsigned i = HF_DWARF_AT_ORIGIN; i <= HF_DWARF_AT_SPECIFICATION; i++)
		if (hf_dwarf_has(entry, i))
			return hf_dwarf_reference(unit, &entry->value[i], ret_offset);
	return false;
}

/* The linker's name wherever it is, else the first one in the source; NULL if there is none. Damage is as none. */
static int find_name(struct hf_dwarf *dwarf, uint64_t offset, const char **ret_name, bool *ret_linker)
{
	bool more = true;

	*ret_name = NULL;
	*ret_linker = false;
	for (unsigned i = 0; i < HOPS_MAX && more; i++) {
		struct hf_dwarf_entry entry;
		struct hf_dwarf_unit *unit;
		const char *name;
		const int err = read_at(dwarf, offset, &entry, &unit);

		if (err)
			return err == HF_ERR_CORRUPT ? 0 : err;
		if (hf_dwarf_has(&entry, HF_DWARF_AT_LINKAGE_NAME) &&
		    hf_dwarf_text(dwarf, unit, &entry.value[HF_DWARF_AT_LINKAGE_NAME], &name)) {
			*ret_name = name;
			*ret_linker = true;
			return 0;
		}
		if (!*ret_name && hf_dwarf_has(&entry, HF_DWARF_AT_NAME) &&
		    hf_dwarf_text(dwarf, unit, &entry.value[HF_DWARF_AT_NAME], &name))
			*ret_name = name;
		more = next_of(unit, &entry, &offset);
	}
	return 0;
}

int hf_inlined_name(struct hf_inlined_namer *namer, uint64_t entry, struct hf_names *names, uint32_t *ret_name)
{
	char shown[HF_SYMBOL_NAME_MAX + 1];
	const char *name;
	bool linker;
	size_t size = 0;
	int err;

	*ret_name = hf_number_map_get(&namer->known, entry);
	if (*ret_name)
		return 0;
	*ret_name = HF_INLINED_NO_NAME;
	if (namer->known.map.count == HF_INLINED_FUNCTIONS_MAX)
		return HF_ERR_ELF_LIMIT;
	err = find_name(namer->dwarf, entry, &name, &linker);
	if (err)
		return err;
	if (name && linker)
		size = hf_function_name(shown, name, namer->demangler);
	else if (name)
		size = hf_name_copy(shown, name, HF_SYMBOL_NAME_MAX, namer->demangler);
	if (size)
		err = hf_names_add(names, shown, size, ret_name);
	return err ? err : hf_number_map_add(&namer->known, entry, *ret_name);
}
