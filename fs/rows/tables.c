/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/rows/table.h"

#define HF_TABLE(name) extern const struct hf_table hf_rows_of_##name;
#include "fs/rows/tables.def"
#undef HF_TABLE

static const struct hf_table *const tables[] = {
#define HF_TABLE(name) &hf_rows_of_##name,
#include "fs/rows/tables.def"
#undef HF_TABLE
};

const struct hf_table *hf_table_at(size_t number)
{
	return number < sizeof tables / sizeof tables[0] ? tables[number] : NULL;
}

const char *hf_table_name(const struct hf_table *table)
{
	return table->name;
}

unsigned hf_table_flags(const struct hf_table *table)
{
	return table->flags;
}

const struct hf_column *hf_table_columns(const struct hf_table *table, size_t *ret_count)
{
	*ret_count = table->column_count;
	return table->columns;
}
