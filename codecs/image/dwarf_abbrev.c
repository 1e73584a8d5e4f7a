/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/dwarf_abbrev.h"

#include "codecs/base/search.h"
#include "codecs/image/dwarf_form.h"
#include "codecs/image/errors.h"
#include "codecs/image/grow.h"

#include <stdlib.h>

static int by_code(const void *a, const void *b)
{
	const struct hf_dwarf_abbrev *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

static void pass_attributes(struct hf_dwarf_cursor *c)
{
	uint64_t name, form;

	do {
		name = hf_dwarf_get_uleb(c);
		form = hf_dwarf_get_uleb(c);
		if (form == HF_DWARF_FORM_IMPLICIT)
			hf_dwarf_get_sleb(c);
	} while ((name || form) && !c->bad);
}

/* The rows of the table at *c into abbrevs, up to the code 0. */
static int read_rows(struct hf_dwarf_abbrevs *abbrevs, const struct hf_dwarf_bytes *section, struct hf_dwarf_cursor *c)
{
	uint64_t code;

	while ((code = hf_dwarf_get_uleb(c))) {
		struct hf_dwarf_abbrev row = {.code = code};
		uint64_t tag;
		int err;

		tag = hf_dwarf_get_uleb(c);
		row.tag = tag <= UINT16_MAX ? (uint16_t)tag : 0;
		row.children = hf_dwarf_get_byte(c);
		row.attributes = (uint32_t)(c->p - section->at);
		pass_attributes(c);
		if (c->bad)
			return HF_ERR_CORRUPT;
		err = hf_grow(&abbrevs->row, abbrevs->count, &abbrevs->cap, HF_DWARF_ABBREVS_MAX, sizeof row);
		if (err)
			return err;
		abbrevs->row[abbrevs->count++] = row;
	}
	return c->bad ? HF_ERR_CORRUPT : 0;
}

static int add_table(struct hf_dwarf_abbrevs *abbrevs, size_t first, uint64_t offset)
{
	const size_t count = abbrevs->count - first;
	int err = hf_grow(&abbrevs->table, abbrevs->table_count, &abbrevs->table_cap, HF_DWARF_ABBREVS_MAX,
			  sizeof *abbrevs->table);

	if (err)
		return err;
	if (count)
		qsort(&abbrevs->row[first], count, sizeof *abbrevs->row, by_code);
	abbrevs->table[abbrevs->table_count++] = (struct hf_dwarf_abbrev_table){first, count};
	return hf_number_map_add(&abbrevs->by_offset, offset, (uint32_t)abbrevs->table_count);
}

int hf_dwarf_abbrevs_table(struct hf_dwarf_abbrevs *abbrevs, const struct hf_dwarf_bytes *section, uint64_t offset,
			   uint64_t *work, uint32_t *ret_table)
{
	struct hf_dwarf_cursor c = hf_dwarf_cursor_at(section, offset);
	const uint8_t *const start = c.p;
	const size_t first = abbrevs->count;
	uint64_t bytes;
	int err;

	*ret_table = hf_number_map_get(&abbrevs->by_offset, offset);
	if (*ret_table)
		return 0;
	if (c.bad)
		return HF_ERR_CORRUPT;
	err = read_rows(abbrevs, section, &c);
	bytes = (uint64_t)(c.p - start);
	*work -= bytes < *work ? bytes : *work;
	if (!err && !*work)
		err = HF_ERR_ELF_LIMIT;
	if (!err)
		err = add_table(abbrevs, first, offset);
	if (err)
		abbrevs->count = first;
	*ret_table = (uint32_t)abbrevs->table_count;
	return err;
}

const struct hf_dwarf_abbrev *hf_dwarf_abbrev_of(const struct hf_dwarf_abbrevs *abbrevs, uint32_t table, uint64_t code)
{
	const struct hf_dwarf_abbrev_table *in = &abbrevs->table[table - 1];
	const struct hf_dwarf_abbrev *row;
	size_t low;

	if (!in->count)
		return NULL;
	row = &abbrevs->row[in->first];
	/* Compilers number them from 1 without a gap. */
	if (code - 1 < in->count && row[code - 1].code == code)
		return &row[code - 1];
	low = HF_COUNT_UP_TO(row, in->count, code, code);
	return low && row[low - 1].code == code ? &row[low - 1] : NULL;
}

void hf_dwarf_abbrevs_free(struct hf_dwarf_abbrevs *abbrevs)
{
	free(abbrevs->row);
	free(abbrevs->table);
	hf_number_map_free(&abbrevs->by_offset);
	*abbrevs = (struct hf_dwarf_abbrevs){.row = NULL};
}
