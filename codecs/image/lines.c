/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/lines.h"

#include "codecs/base/bytes.h"
#include "codecs/base/search.h"
#include "codecs/image/dwarf_sections.h"
#include "codecs/image/grow.h"
#include "codecs/image/line_header.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* From address to that of the next row. */
struct row {
	uint64_t address;
	uint32_t file; /* offset among the names */
	uint32_t line; /* 0: none */
};

struct hf_lines {
	struct row *row; /* ascending */
	size_t count, cap;
	struct hf_names names; /* the first is "" */
};

/* DWARF 5, 7.22: the numbers that are looked at here. */
enum {
	END_SEQUENCE = 1,
	SET_ADDRESS = 2,
	DEFINE_FILE = 3,
	COPY = 1,
	ADVANCE_PC = 2,
	ADVANCE_LINE = 3,
	SET_FILE = 4,
	CONST_ADD_PC = 8,
	FIXED_ADVANCE_PC = 9,
};

struct reader {
	struct hf_lines *lines;
	struct hf_wanted wanted;
	uint64_t bias;
	struct hf_dwarf_bytes section;
	struct hf_line_header header; /* of the table being read */
	bool code_at_0;
	/* of the sequence being read; their files are numbers of that table */
	struct row *row;
	size_t row_count, row_cap;
};

/* ---- its program (DWARF 5, 6.2.5) ---- */

struct state {
	uint64_t address, file;
	uint32_t line;
};

/* Of several rows at one address the last one stands. */
static int add_row(struct reader *r, struct state state)
{
	/* No table has a file of that number. */
	const uint32_t file = state.file < UINT32_MAX ? (uint32_t)state.file : UINT32_MAX;
	int err;

	if (r->row_count && r->row[r->row_count - 1].address == state.address)
		r->row_count--;
	err = hf_grow(&r->row, r->row_count, &r->row_cap, HF_LINES_ROWS_MAX, sizeof *r->row);
	if (!err)
		r->row[r->row_count++] = (struct row){state.address, file, state.line};
	return err;
}

static int keep(struct hf_lines *lines, uint64_t address, uint32_t file, uint32_t line)
{
	int err = hf_grow(&lines->row, lines->count, &lines->cap, HF_LINES_ROWS_MAX, sizeof *lines->row);

	if (!err)
		lines->row[lines->count++] = (struct row){address, file, line};
	return err;
}

static int keep_row(struct reader *r, uint64_t address, const struct row *row)
{
	uint32_t name;
	const int err = hf_line_header_name(&r->header, row->file, &r->lines->names, &name);

	return err ? err : keep(r->lines, address, name, row->line);
}

/* The rows of a sequence that ends there, with a row of no line behind each that has no successor. A sequence at 0 is
 * of a function that the linker left out, unless there is code. */
static int keep_sequence(struct reader *r, uint64_t end)
{
	bool open = false;
	int err = 0;

	for (size_t i = 0; i < r->row_count && !err && (r->row[0].address || r->code_at_0); i++) {
		const struct row *row = &r->row[i];
		const uint64_t next = i + 1 < r->row_count ? row[1].address : end;
		const uint64_t from = row->address + r->bias, to = next + r->bias;

		/* Sequences go upwards. */
		if (next <= row->address || to < from)
			return open ? keep(r->lines, from, 0, 0) : 0;
		if (!hf_is_wanted(&r->wanted, from, to)) {
			err = open ? keep(r->lines, from, 0, 0) : 0;
			open = false;
			continue;
		}
		err = keep_row(r, from, row);
		if (!err && next == end)
			err = keep(r->lines, to, 0, 0);
		open = next != end;
	}
	return err;
}

static int end_sequence(struct reader *r, uint64_t end)
{
	const int err = keep_sequence(r, end);

	r->row_count = 0;
	return err;
}

static int run_extended(struct reader *r, struct hf_dwarf_cursor *c, struct state *state)
{
	const uint64_t size = hf_dwarf_get_uleb(c);
	struct hf_dwarf_cursor own = *c;
	unsigned code;
	int err = 0;

	hf_dwarf_pass(c, size);
	own.end = c->p;
	code = (unsigned)hf_dwarf_get(&own, 1);
	if (code == END_SEQUENCE) {
		err = end_sequence(r, state->address);
		*state = (struct state){.file = 1, .line = 1};
	} else if (code == SET_ADDRESS) {
		state->address = hf_dwarf_get(&own, size >= 9 ? 8 : size ? (unsigned)size - 1 : 0);
	} else if (code == DEFINE_FILE && r->header.sizes.version < 5) {
		const char *path = hf_dwarf_get_string(&own);

		err = hf_line_header_add_file(&r->header, path, hf_dwarf_get_uleb(&own));
	}
	return err;
}

static int run_standard(struct reader *r, struct hf_dwarf_cursor *c, unsigned opcode, struct state *state)
{
	switch (opcode) {
	case COPY:
		return add_row(r, *state);
	case ADVANCE_PC:
		state->address += hf_dwarf_get_uleb(c) * r->header.min_length;
		return 0;
	case ADVANCE_LINE:
		state->line += (uint32_t)hf_dwarf_get_sleb(c);
		return 0;
	case SET_FILE:
		state->file = hf_dwarf_get_uleb(c);
		return 0;
	case CONST_ADD_PC:
		state->address += (uint64_t)((255 - r->header.opcode_base) / r->header.line_range) * r->header.min_length;
		return 0;
	case FIXED_ADVANCE_PC:
		state->address += hf_dwarf_get(c, 2);
		return 0;
	default:
		for (unsigned i = 0; i < r->header.operands[opcode]; i++)
			hf_dwarf_get_uleb(c);
		return 0;
	}
}

/* One that makes a row by itself. */
static struct state after_special(const struct reader *r, struct state state, unsigned opcode)
{
	const unsigned special = opcode - r->header.opcode_base;

	state.address += (uint64_t)(special / r->header.line_range) * r->header.min_length;
	state.line += (uint32_t)(r->header.line_base + (int)(special % r->header.line_range));
	return state;
}

/* One whose operand is one byte of LEB128. */
static struct state after_short(const struct reader *r, struct state state, unsigned opcode, unsigned byte)
{
	if (opcode == ADVANCE_PC)
		state.address += (uint64_t)byte * r->header.min_length;
	else if (opcode == ADVANCE_LINE)
		state.line += byte - (byte << 1 & 0x80);
	else if (opcode == SET_FILE)
		state.file = byte;
	return state;
}

/* How many operands of LEB128 an opcode has that changes no more than the state. */
static unsigned operands_of(const struct reader *r, unsigned opcode)
{
	enum { ANOTHER_KIND = 2 };

	if (!opcode || opcode == CONST_ADD_PC)
		return ANOTHER_KIND;
	return opcode <= SET_FILE ? 1 : r->header.operands[opcode];
}

/* The many opcodes that have no operand, or one in so many bytes; stops at the first other one. */
static int run_short(struct reader *r, struct hf_dwarf_cursor *c, struct state *ret_state)
{
	struct state state = *ret_state;
	const uint8_t *p = c->p;
	int err = 0;

	while (!err && c->end - p >= 3) {
		const unsigned opcode = p[0];

		if (opcode >= r->header.opcode_base) {
			state = after_special(r, state, opcode);
			err = add_row(r, state);
			p++;
		} else if (opcode == COPY) {
			err = add_row(r, state);
			p++;
		} else if (opcode == FIXED_ADVANCE_PC) {
			state.address += hf_get16(p + 1);
			p += 3;
		} else if (operands_of(r, opcode) == 1 && p[1] < 0x80) {
			state = after_short(r, state, opcode, p[1]);
			p += 2;
		} else if (operands_of(r, opcode) == 0) {
			p++;
		} else {
			break;
		}
	}
	c->p = p;
	*ret_state = state;
	return err;
}

static int run(struct reader *r, struct hf_dwarf_cursor *c)
{
	struct state state = {.file = 1, .line = 1};
	int err = 0;

	r->row_count = 0;
	while (!err && c->p < c->end && !c->bad) {
		unsigned opcode;

		err = run_short(r, c, &state);
		if (err || c->p == c->end)
			return err;
		opcode = hf_dwarf_get_byte(c);
		if (opcode >= r->header.opcode_base) {
			state = after_special(r, state, opcode);
			err = add_row(r, state);
		} else {
			err = opcode ? run_standard(r, c, opcode, &state) : run_extended(r, c, &state);
		}
	}
	return err;
}

/* ---- all tables ---- */

static int read_tables(struct reader *r)
{
	struct hf_dwarf_cursor all = {r->section.at, r->section.at + r->section.size, false};
	int err = 0;

	while (!err && all.p < all.end) {
		struct hf_dwarf_cursor own;
		unsigned word;

		hf_dwarf_get_unit(&all, &word, &own);
		err = hf_line_header_read(&r->header, &own, word);
		if (!err)
			err = run(r, &own);
		if (err == HF_ERR_CORRUPT || err == HF_ERR_UNSUPPORTED)
			err = 0;
	}
	return err;
}

static int order(const void *a, const void *b, void *names)
{
	const struct row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* The end of a sequence, whose line is 0, gives way to what begins there. */
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp((const char *)names + x->file, (const char *)names + y->file);
}

/* Linkers mostly put code in the order of its tables. */
static bool is_sorted(const struct hf_lines *lines)
{
	for (size_t i = 1; i < lines->count; i++)
		if (order(&lines->row[i - 1], &lines->row[i], lines->names.at) > 0)
			return false;
	return true;
}

static void sort(struct hf_lines *lines)
{
	size_t kept = 0;

	if (!is_sorted(lines))
		qsort_r(lines->row, lines->count, sizeof *lines->row, order, lines->names.at);
	for (size_t i = 0; i < lines->count; i++) {
		kept -= kept && lines->row[kept - 1].address == lines->row[i].address;
		/* Neighbours of one line are one row. */
		if (!kept || lines->row[kept - 1].line != lines->row[i].line ||
		    lines->row[kept - 1].file != lines->row[i].file)
			lines->row[kept++] = lines->row[i];
	}
	lines->count = kept;
	hf_shrink(&lines->row, kept, &lines->cap, sizeof *lines->row);
	hf_shrink(&lines->names.at, lines->names.size, &lines->names.cap, 1);
}

int hf_lines_new(struct hf_src *elf, uint64_t bias, const struct hf_lines_filter *filter, struct hf_lines **ret_lines,
		 struct hf_diag *diag)
{
	struct reader r = {.lines = calloc(1, sizeof *r.lines), .wanted = {.filter = filter}, .bias = bias};
	struct hf_dwarf_sections sections = {.code_at_0 = false};
	uint32_t none;
	int err = r.lines ? hf_names_add(&r.lines->names, "", 0, &none) : HF_ERR_NOMEM;

	if (!err)
		err = hf_dwarf_sections_load(elf, 1u << HF_DWARF_LINE | 1u << HF_DWARF_LINE_STR, HF_DWARF_LINE, &sections,
					     diag);
	r.section = sections.row[HF_DWARF_LINE];
	r.header.strings = sections.row[HF_DWARF_LINE_STR];
	r.code_at_0 = sections.code_at_0;
	if (!err && r.section.size)
		err = read_tables(&r);
	if (!err)
		sort(r.lines);
	hf_dwarf_sections_free(&sections);
	hf_line_header_free(&r.header);
	free(r.row);
	if (err)
		hf_lines_free(r.lines);
	else
		*ret_lines = r.lines;
	return err;
}

void hf_lines_free(struct hf_lines *lines)
{
	if (!lines)
		return;
	free(lines->row);
	free(lines->names.at);
	free(lines);
}

size_t hf_lines_count(const struct hf_lines *lines)
{
	return lines->count;
}

size_t hf_lines_memory(const struct hf_lines *lines)
{
	return sizeof *lines + lines->cap * sizeof *lines->row + lines->names.cap;
}

void hf_lines_at(const struct hf_lines *lines, uint64_t pc, struct hf_line *ret_line)
{
	const size_t low = HF_COUNT_UP_TO(lines->row, lines->count, address, pc);
	const struct row *row = low ? &lines->row[low - 1] : NULL;

	assert(!low || lines->row);
	*ret_line = (struct hf_line){.start = row ? row->address : 0, .file = lines->names.at};
	ret_line->end = low < lines->count ? lines->row[low].address : UINT64_MAX;
	if (!row || !row->line)
		return;
	if (!lines->names.at[row->file])
		return;
	ret_line->file = lines->names.at + row->file;
	ret_line->file_size = (uint32_t)strlen(ret_line->file);
	ret_line->line = row->line;
	/* Before its name are its directories, up to a zero byte. */
	ret_line->path = ret_line->file;
	while (ret_line->path > lines->names.at && ret_line->path[-1])
		ret_line->path--;
	ret_line->path_size = (uint32_t)(ret_line->file - ret_line->path) + ret_line->file_size;
}
