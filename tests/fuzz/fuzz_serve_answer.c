/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what the extension for SQLite gets from its server: the tables, rows, a failure. What is taken for one keeps
 * to the limits, lies within the bytes, and gives names that SQL can have.
 */
#include "mountd/sql/messages.h"
#include "tests/lib/fuzz.h"

#include <string.h>

static void check_name(const char *name)
{
	const size_t n = strlen(name);

	MUST(n && n <= 32 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n);
}

static void read_hello(const uint8_t *bytes, size_t n)
{
	static struct hf_schema schema;
	uint32_t version;

	if (!hf_schema_read(bytes, n, &schema, &version))
		return;
	MUST(version == HF_PROTOCOL_VERSION && schema.count && schema.count <= HF_PROTOCOL_TABLES);
	for (uint32_t i = 0; i < schema.count; i++) {
		check_name(schema.table[i].name);
		MUST(schema.table[i].count && schema.table[i].count <= HF_PROTOCOL_COLUMNS);
		for (uint32_t k = 0; k < schema.table[i].count; k++)
			check_name(schema.table[i].column[k].name);
	}
}

/* The first four are the columns that were asked for. */
static void read_rows(const uint8_t *bytes, size_t n)
{
	struct hf_in in = {bytes, bytes + n, false};
	const uint32_t columns = hf_in_u32(&in) & 0x7fffffff;
	struct hf_cell cell[HF_PROTOCOL_COLUMNS];
	struct hf_answer_head head;
	int64_t id;

	if (!hf_answer_head(&in, &head))
		return;
	MUST(head.count <= HF_PROTOCOL_ROWS);
	for (uint32_t i = 0; i < head.count && hf_answer_row(&in, columns, &id, cell); i++)
		for (unsigned k = 0; k < HF_PROTOCOL_COLUMNS; k++) {
			MUST(cell[k].type == HF_CELL_NULL || columns >> k & 1);
			if (cell[k].type != HF_CELL_TEXT)
				continue;
			MUST((const uint8_t *)cell[k].text >= bytes);
			MUST((const uint8_t *)cell[k].text + cell[k].size < bytes + n && !cell[k].text[cell[k].size]);
		}
}

/* The first byte is the message. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint32_t failure;
	const char *text;

	if (!n)
		return 0;
	if (bytes[0] == HF_MESSAGE_HELLO)
		read_hello(bytes + 1, n - 1);
	else if (bytes[0] == HF_MESSAGE_ROWS)
		read_rows(bytes + 1, n - 1);
	else if (bytes[0] == HF_MESSAGE_FAILED && hf_failed_read(bytes + 1, n - 1, &failure, &text))
		MUST((const uint8_t *)text + strlen(text) < bytes + n);
	return 0;
}
