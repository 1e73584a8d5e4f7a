/* SPDX-License-Identifier: Apache-2.0 */
/* Values that rows of several tables have. */
#include "codecs/isa/names.h"
#include "codecs/isa/riscv.h"
#include "fs/rows/table.h"

#include <string.h>

/* The columns of an opcode in front of the text. */
enum { TEXT_AT = 9 };

void hf_row_text(const struct hf_rows *rows, struct hf_row *row, unsigned column, const char *text, size_t size)
{
	if (hf_row_wants(rows, column))
		row->value[column] =
			(struct hf_value){.type = HF_VALUE_TEXT, .text = text, .size = (uint32_t)size};
}

void hf_row_word(const struct hf_rows *rows, struct hf_row *row, unsigned column, const char *word)
{
	hf_row_text(rows, row, column, word, strlen(word));
}

static void put_known(const struct hf_rows *rows, struct hf_row *row, unsigned column, const char *word)
{
	if (strcmp(word, "?") != 0)
		hf_row_word(rows, row, column, word);
}

void hf_row_mode(const struct hf_rows *rows, struct hf_row *row, unsigned column, unsigned mode)
{
	put_known(rows, row, column, hf_mode_name(mode));
}

void hf_row_isa(const struct hf_rows *rows, struct hf_row *row, unsigned column, unsigned isa)
{
	put_known(rows, row, column, hf_isa_name(isa));
}

void hf_row_copy(const struct hf_rows *rows, struct hf_row *row, unsigned column, const char *text, size_t size)
{
	char *to = row->text + row->used;
	const size_t room = sizeof row->text - row->used, n = size < room ? size : room;

	if (!hf_row_wants(rows, column))
		return;
	memcpy(to, text, n);
	if (n < size && n >= 3)
		memcpy(to + n - 3, "...", 3);
	row->used += n;
	hf_row_text(rows, row, column, to, n);
}

void hf_row_place(const struct hf_rows *rows, struct hf_row *row, unsigned column, uint64_t pc)
{
	const struct hf_symbols *symbols = rows->hart->symbols;
	const struct hf_symbol *symbol;
	struct hf_line line = {0};

	if (!symbols || !(rows->wanted >> column & 15))
		return;
	symbol = hf_symbols_at(symbols, pc);
	if (symbol) {
		hf_row_text(rows, row, column, symbol->name, symbol->name_size);
		hf_row_number(rows, row, column + 1, pc - symbol->start);
	}
	if (!rows->hart->has_lines || !(rows->wanted >> column & 12))
		return;
	hf_symbols_line_at(symbols, pc, &line);
	if (!line.line)
		return;
	hf_row_text(rows, row, column + 2, line.file, line.file_size);
	hf_row_number(rows, row, column + 3, line.line);
}

void hf_row_code(const struct hf_rows *rows, struct hf_row *row, unsigned column, uint32_t opcode, unsigned size,
		 unsigned isa)
{
	uint8_t text[HF_DISASM_ROOM];
	const uint8_t *end, *blank, *begin = text + TEXT_AT;

	if (!(rows->wanted >> column & 3))
		return;
	end = hf_disasm_put(rows->session->disasm, text, opcode, size,
			    hf_disasm_isa(isa, opcode, rows->hart->extensions));
	if (end <= begin)
		return;
	blank = memchr(begin, ' ', (size_t)(end - begin));
	hf_row_copy(rows, row, column, (const char *)begin, (size_t)((blank ? blank : end) - begin));
	hf_row_copy(rows, row, column + 1, (const char *)begin, (size_t)(end - begin));
}

int hf_row_id(const struct hf_rows *rows, struct hf_row *row, uint64_t number)
{
	if (number >= HF_ROWS_ORDINALS * HF_ROWS_EVENTS)
		return HF_ERR_LIMIT;
	row->id = (int64_t)(rows->hart->number * (HF_ROWS_ORDINALS * HF_ROWS_EVENTS) + number);
	return 0;
}
