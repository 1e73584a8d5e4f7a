/* SPDX-License-Identifier: Apache-2.0 */
/* The code of an entry (DWARF 5, 2.17): one piece, or a list of .debug_ranges or .debug_rnglists. */
#include "codecs/image/dwarf.h"

/* DW_RLE_ */
enum {
	END_OF_LIST = 0,
	BASE_ADDRESSX = 1,
	STARTX_ENDX = 2,
	STARTX_LENGTH = 3,
	OFFSET_PAIR = 4,
	BASE_ADDRESS = 5,
	START_END = 6,
	START_LENGTH = 7,
};

struct list {
	struct hf_dwarf *dwarf;
	const struct hf_dwarf_unit *unit;
	struct hf_dwarf_cursor c;
	uint64_t base;
	bool left_out; /* base is that of a section that the linker left out */
	hf_dwarf_range_fn fn;
	void *ctx;
};

static uint64_t highest(const struct hf_dwarf_unit *unit)
{
	return unit->sizes.address == 8 ? UINT64_MAX : UINT32_MAX;
}

/* Linkers put 0, 1 or the highest address where a section had been. */
static bool is_left_out(const struct list *list, uint64_t address)
{
	return (address <= 1 && !list->dwarf->sections.code_at_0) || address >= highest(list->unit) - 1;
}

static int give(struct list *list, uint64_t start, uint64_t end)
{
	return start < end && !is_left_out(list, start) ? list->fn(list->ctx, start, end) : 0;
}

static int give_pair(struct list *list, uint64_t start, uint64_t end)
{
	return list->left_out ? 0 : give(list, list->base + start, list->base + end);
}

static void set_base(struct list *list, uint64_t base)
{
	list->base = base;
	list->left_out = is_left_out(list, base);
}

/* Of .debug_ranges, in versions before 5. */
static int read_old_list(struct list *list)
{
	const unsigned size = list->unit->sizes.address;
	int err = 0;

	while (!err) {
		const uint64_t start = hf_dwarf_get(&list->c, size), end = hf_dwarf_get(&list->c, size);

		if (list->c.bad)
			return HF_ERR_CORRUPT;
		if (!start && !end)
			return 0;
		if (start == highest(list->unit))
			set_base(list, end);
		else
			err = give_pair(list, start, end);
		if (!err)
			err = hf_dwarf_work(list->dwarf, 1);
	}
	return err;
}

/* An address, or the index of one. False if there is none of that index. */
static bool get_address(struct list *list, bool index, uint64_t *ret_address)
{
	struct hf_dwarf_value value = {.class = HF_DWARF_ADDRESS_INDEX};

	if (!index) {
		*ret_address = hf_dwarf_get(&list->c, list->unit->sizes.address);
		return true;
	}
	value.number = hf_dwarf_get_uleb(&list->c);
	return hf_dwarf_address(list->dwarf, list->unit, &value, ret_address);
}

static int read_range(struct list *list, unsigned kind)
{
	const bool index = kind <= STARTX_LENGTH;
	uint64_t start, end;

	if (kind == OFFSET_PAIR) {
		start = hf_dwarf_get_uleb(&list->c);
		return give_pair(list, start, hf_dwarf_get_uleb(&list->c));
	}
	if (kind > START_LENGTH || !get_address(list, index, &start))
		return HF_ERR_CORRUPT;
	if (kind == BASE_ADDRESS || kind == BASE_ADDRESSX) {
		set_base(list, start);
		return 0;
	}
	if (kind == STARTX_LENGTH || kind == START_LENGTH)
		end = start + hf_dwarf_get_uleb(&list->c);
	else if (!get_address(list, index, &end))
		return HF_ERR_CORRUPT;
	return give(list, start, end);
}

/* Of .debug_rnglists. */
static int read_list(struct list *list)
{
	unsigned kind;
	int err = 0;

	while (!err && (kind = hf_dwarf_get_byte(&list->c)) != END_OF_LIST) {
		err = read_range(list, kind);
		if (!err)
			err = list->c.bad ? HF_ERR_CORRUPT : hf_dwarf_work(list->dwarf, 1);
	}
	return !err && list->c.bad ? HF_ERR_CORRUPT : err;
}

/* Where the list of an attribute begins; false if there is none. */
static bool find_list(const struct list *list, const struct hf_dwarf_value *value, uint64_t *ret_offset)
{
	const struct hf_dwarf_unit *unit = list->unit;
	const struct hf_dwarf_bytes *lists = &list->dwarf->sections.row[HF_DWARF_RNGLISTS];
	struct hf_dwarf_cursor c;

	*ret_offset = value->number;
	if (value->class != HF_DWARF_LIST_INDEX)
		return value->class == HF_DWARF_OFFSET || value->class == HF_DWARF_NUMBER;
	if (unit->lists_base > lists->size || value->number > lists->size)
		return false;
	c = hf_dwarf_cursor_at(lists, unit->lists_base + value->number * unit->sizes.word);
	*ret_offset = c.bad ? 0 : unit->lists_base + hf_dwarf_get(&c, unit->sizes.word);
	return !c.bad;
}

static int read_ranges(struct list *list, const struct hf_dwarf_value *value)
{
	const bool old = list->unit->sizes.version < 5;
	uint64_t offset;

	if (!find_list(list, value, &offset))
		return HF_ERR_CORRUPT;
	list->c = hf_dwarf_cursor_at(&list->dwarf->sections.row[old ? HF_DWARF_RANGES : HF_DWARF_RNGLISTS], offset);
	if (list->c.bad)
		return HF_ERR_CORRUPT;
	list->base = list->unit->low_pc;
	return old ? read_old_list(list) : read_list(list);
}

int hf_dwarf_ranges(struct hf_dwarf *dwarf, const struct hf_dwarf_unit *unit, const struct hf_dwarf_entry *entry,
		    hf_dwarf_range_fn fn, void *ctx)
{
	struct list list = {.dwarf = dwarf, .unit = unit, .fn = fn, .ctx = ctx};
	const struct hf_dwarf_value *high = &entry->value[HF_DWARF_AT_HIGH_PC];
	uint64_t start, end;

	if (hf_dwarf_has(entry, HF_DWARF_AT_LOW_PC) && hf_dwarf_has(entry, HF_DWARF_AT_HIGH_PC)) {
		if (!hf_dwarf_address(dwarf, unit, &entry->value[HF_DWARF_AT_LOW_PC], &start))
			return HF_ERR_CORRUPT;
		/* It is an address or, from version 4 on, a length. */
		if (high->class == HF_DWARF_NUMBER)
			end = start + high->number;
		else if (!hf_dwarf_address(dwarf, unit, high, &end))
			return HF_ERR_CORRUPT;
		return give(&list, start, end);
	}
	return hf_dwarf_has(entry, HF_DWARF_AT_RANGES) ? read_ranges(&list, &entry->value[HF_DWARF_AT_RANGES]) : 0;
}
