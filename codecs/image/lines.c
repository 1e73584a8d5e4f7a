/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/lines.h"

#include "codecs/base/bytes.h"
#include "codecs/base/search.h"
#include "codecs/image/elf_read.h"

#include <assert.h>
#include <elf.h>
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
	char *names; /* each with its zero byte; the first is "" */
	size_t names_size, names_cap;
};

/* DWARF 5, 7.22 and 7.5.6: the numbers that are looked at here. */
enum {
	STRP = 0x0e,
	LINE_STRP = 0x1f,
	STRING = 0x08,
	UDATA = 0x0f,
	BLOCK = 0x09,
	DATA1 = 0x0b,
	DATA2 = 0x05,
	DATA4 = 0x06,
	DATA8 = 0x07,
	DATA16 = 0x1e,
	STRP_SUP = 0x1d,
	CONTENT_PATH = 1,
	END_SEQUENCE = 1,
	SET_ADDRESS = 2,
	DEFINE_FILE = 3,
	COPY = 1,
	ADVANCE_PC = 2,
	ADVANCE_LINE = 3,
	SET_FILE = 4,
	CONST_ADD_PC = 8,
	FIXED_ADVANCE_PC = 9,
	FILES_MAX = 1 << 20, /* of one table */
	FORMATS_MAX = 16,
	NAMES_MAX = 64 << 20,
};

struct bytes {
	uint8_t *at;
	size_t size;
};

/* A cursor that stops at the end: what is read behind it is 0. */
struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

/* Most files of a table have no row that is kept. */
struct source_file {
	const char *path;
	uint32_t name; /* offset among the names; 0: it has none yet */
};

struct reader {
	struct hf_lines *lines;
	const struct hf_lines_filter *filter;
	/* the first range that the filter has behind this address; equal: none was asked for yet */
	uint64_t wanted_from, wanted_start, wanted_end;
	uint64_t bias;
	struct bytes section, line_strings;
	/* of the table being read */
	struct source_file *file;
	size_t file_count, file_cap;
	uint32_t first_file; /* its number */
	unsigned version, word, address_size, min_length, line_range, opcode_base;
	int line_base;
	const uint8_t *operands; /* of standard opcodes, from 1 */
	bool code_at_0;
	/* of the sequence being read; their files are numbers of that table */
	struct row *row;
	size_t row_count, row_cap;
};

/* ---- numbers ---- */

static uint64_t get(struct cursor *c, unsigned n)
{
	uint64_t value = 0;

	if ((size_t)(c->end - c->p) < n) {
		c->bad = true;
		c->p = c->end;
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		if (i < 8)
			value |= (uint64_t)c->p[i] << 8 * i;
	c->p += n;
	return value;
}

static unsigned get_byte(struct cursor *c)
{
	if (c->p < c->end)
		return *c->p++;
	c->bad = true;
	return 0;
}

static uint64_t get_uleb(struct cursor *c)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	/* Most are of one byte. */
	if (c->p < c->end && *c->p < 0x80)
		return *c->p++;
	do {
		byte = get_byte(c);
		value |= shift < 64 ? (byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static int64_t get_sleb(struct cursor *c)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = get_byte(c);
		value |= shift < 64 ? (byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= -(UINT64_C(1) << shift);
	return (int64_t)value;
}

static const char *get_string(struct cursor *c)
{
	const char *text = (const char *)c->p;
	const uint8_t *end = memchr(c->p, 0, (size_t)(c->end - c->p));

	c->bad |= !end;
	c->p = end ? end + 1 : c->end;
	return end ? text : "";
}

static void pass(struct cursor *c, uint64_t n)
{
	if (n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		n = (uint64_t)(c->end - c->p);
	}
	c->p += n;
}

/* ---- names ---- */

static int room(void *rows, size_t count, size_t *cap, size_t max, size_t size)
{
	void **at = rows, *bigger;
	const size_t want = *cap ? *cap * 2 : 64;

	if (count < *cap)
		return 0;
	if (count >= max)
		return HF_ERR_ELF_LIMIT;
	bigger = realloc(*at, want * size);
	if (!bigger)
		return HF_ERR_NOMEM;
	*at = bigger;
	*cap = want;
	return 0;
}

/* Gives back what is not used. */
static void shrink(void *rows, size_t count, size_t *cap, size_t size)
{
	void **at = rows, *smaller = count && count < *cap ? realloc(*at, count * size) : NULL;

	if (smaller) {
		*at = smaller;
		*cap = count;
	}
}

static int add_char(struct hf_lines *lines, char c)
{
	int err = room(&lines->names, lines->names_size, &lines->names_cap, NAMES_MAX, 1);

	if (!err)
		lines->names[lines->names_size++] = c;
	return err;
}

/* The last component of a path, as it is shown. */
static int add_name(struct reader *r, const char *path, uint32_t *ret_name)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const size_t n = strnlen(name, HF_LINES_NAME_MAX);
	int err = 0;

	*ret_name = (uint32_t)r->lines->names_size;
	for (size_t i = 0; i < n && !err; i++) {
		const char c = name[n] && i + 3 >= n ? '.' : name[i];

		err = add_char(r->lines, c > ' ' && c <= '~' && c != '<' && c != '>' ? c : '?');
	}
	return err ? err : add_char(r->lines, '\0');
}

static int add_file(struct reader *r, const char *path)
{
	const int err = room(&r->file, r->file_count, &r->file_cap, FILES_MAX, sizeof *r->file);

	if (!err)
		r->file[r->file_count++] = (struct source_file){path, 0};
	return err;
}

/* The name of a file of the table; 0 if it has none of that number. */
static int name_of(struct reader *r, uint64_t number, uint32_t *ret_name)
{
	struct source_file *file;
	int err = 0;

	*ret_name = 0;
	number -= r->first_file;
	if (number >= r->file_count)
		return 0;
	file = &r->file[number];
	if (!file->name)
		err = add_name(r, file->path, &file->name);
	*ret_name = file->name;
	return err;
}

/* ---- the header of a table (DWARF 5, 6.2.4) ---- */

static const char *string_at(const struct bytes *strings, uint64_t offset)
{
	if (offset >= strings->size)
		return "";
	return (const char *)strings->at + offset;
}

/* A value of that form: *ret_text if it is a string. False for a form that has no place here. */
static bool get_form(struct reader *r, struct cursor *c, uint64_t form, const char **ret_text)
{
	*ret_text = NULL;
	switch (form) {
	case STRING:
		*ret_text = get_string(c);
		return true;
	case LINE_STRP:
		*ret_text = string_at(&r->line_strings, get(c, r->word));
		return true;
	/* Compilers put names of files into .debug_line_str. */
	case STRP:
	case STRP_SUP:
		get(c, r->word);
		return true;
	case UDATA:
		get_uleb(c);
		return true;
	case BLOCK:
		pass(c, get_uleb(c));
		return true;
	case DATA1:
		get(c, 1);
		return true;
	case DATA2:
		get(c, 2);
		return true;
	case DATA4:
		get(c, 4);
		return true;
	case DATA8:
		get(c, 8);
		return true;
	case DATA16:
		get(c, 16);
		return true;
	default:
		return false;
	}
}

/* Directories or files of version 5. */
static int get_entries(struct reader *r, struct cursor *c, bool files)
{
	uint64_t format[FORMATS_MAX][2], count;
	const unsigned formats = (unsigned)get(c, 1);
	int err = 0;

	if (formats > FORMATS_MAX)
		return HF_ERR_CORRUPT;
	for (unsigned i = 0; i < formats; i++) {
		format[i][0] = get_uleb(c);
		format[i][1] = get_uleb(c);
	}
	count = get_uleb(c);
	/* An entry that has no bytes would come for ever. */
	for (uint64_t k = 0; formats && k < count && k < FILES_MAX && !c->bad && !err; k++) {
		const char *path = "", *text;

		for (unsigned i = 0; i < formats; i++) {
			if (!get_form(r, c, format[i][1], &text))
				return HF_ERR_CORRUPT;
			path = format[i][0] == CONTENT_PATH && text ? text : path;
		}
		err = files ? add_file(r, path) : 0;
	}
	return err;
}

static int get_old_entries(struct reader *r, struct cursor *c)
{
	int err = 0;

	while (!c->bad && *get_string(c))
		;
	while (!c->bad && !err) {
		const char *path = get_string(c);

		if (!*path)
			break;
		err = add_file(r, path);
		for (unsigned i = 0; i < 3; i++)
			get_uleb(c);
	}
	return err;
}

/* Up to the program: *c ends there. */
static int get_header(struct reader *r, struct cursor *c)
{
	struct cursor header;
	uint64_t length;
	int err;

	r->version = (unsigned)get(c, 2);
	if (r->version < 2 || r->version > 5)
		return HF_ERR_UNSUPPORTED;
	r->address_size = r->version >= 5 ? (unsigned)get(c, 1) : 8;
	if (r->version >= 5)
		get(c, 1);
	length = get(c, r->word);
	header = *c;
	pass(c, length);
	header.end = c->p;
	r->min_length = (unsigned)get(&header, 1);
	if (r->version >= 4)
		get(&header, 1);
	get(&header, 1);
	r->line_base = (int8_t)get(&header, 1); /* NOLINT(bugprone-signed-char-misuse,cert-str34-c): a signed number */
	r->line_range = (unsigned)get(&header, 1);
	r->opcode_base = (unsigned)get(&header, 1);
	r->operands = header.p - 1;
	pass(&header, r->opcode_base ? r->opcode_base - 1 : 0);
	if (header.bad || c->bad || !r->line_range || !r->opcode_base)
		return HF_ERR_CORRUPT;
	r->file_count = 0;
	r->first_file = r->version < 5;
	if (r->version < 5)
		return get_old_entries(r, &header);
	err = get_entries(r, &header, false);
	return err ? err : get_entries(r, &header, true);
}

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
	err = room(&r->row, r->row_count, &r->row_cap, HF_LINES_ROWS_MAX, sizeof *r->row);
	if (!err)
		r->row[r->row_count++] = (struct row){state.address, file, state.line};
	return err;
}

/* Whether anything of [start, end) is asked for. */
static bool is_wanted(struct reader *r, uint64_t start, uint64_t end)
{
	if (!r->filter)
		return true;
	/* What was given last still is the first range behind start. */
	if (start < r->wanted_from || start >= r->wanted_end) {
		r->wanted_from = start;
		if (!r->filter->next(r->filter->ctx, start, &r->wanted_start, &r->wanted_end))
			r->wanted_start = r->wanted_end = UINT64_MAX;
	}
	return r->wanted_start < end && start < r->wanted_end;
}

static int keep(struct hf_lines *lines, uint64_t address, uint32_t file, uint32_t line)
{
	int err = room(&lines->row, lines->count, &lines->cap, HF_LINES_ROWS_MAX, sizeof *lines->row);

	if (!err)
		lines->row[lines->count++] = (struct row){address, file, line};
	return err;
}

static int keep_row(struct reader *r, uint64_t address, const struct row *row)
{
	uint32_t name;
	const int err = name_of(r, row->file, &name);

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
		if (!is_wanted(r, from, to)) {
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

static int run_extended(struct reader *r, struct cursor *c, struct state *state)
{
	const uint64_t size = get_uleb(c);
	struct cursor own = *c;
	unsigned code;
	int err = 0;

	pass(c, size);
	own.end = c->p;
	code = (unsigned)get(&own, 1);
	if (code == END_SEQUENCE) {
		err = end_sequence(r, state->address);
		*state = (struct state){.file = 1, .line = 1};
	} else if (code == SET_ADDRESS) {
		state->address = get(&own, size >= 9 ? 8 : size ? (unsigned)size - 1 : 0);
	} else if (code == DEFINE_FILE && r->version < 5) {
		err = add_file(r, get_string(&own));
	}
	return err;
}

static int run_standard(struct reader *r, struct cursor *c, unsigned opcode, struct state *state)
{
	switch (opcode) {
	case COPY:
		return add_row(r, *state);
	case ADVANCE_PC:
		state->address += get_uleb(c) * r->min_length;
		return 0;
	case ADVANCE_LINE:
		state->line += (uint32_t)get_sleb(c);
		return 0;
	case SET_FILE:
		state->file = get_uleb(c);
		return 0;
	case CONST_ADD_PC:
		state->address += (uint64_t)((255 - r->opcode_base) / r->line_range) * r->min_length;
		return 0;
	case FIXED_ADVANCE_PC:
		state->address += get(c, 2);
		return 0;
	default:
		for (unsigned i = 0; i < r->operands[opcode]; i++)
			get_uleb(c);
		return 0;
	}
}

/* One that makes a row by itself. */
static struct state after_special(const struct reader *r, struct state state, unsigned opcode)
{
	const unsigned special = opcode - r->opcode_base;

	state.address += (uint64_t)(special / r->line_range) * r->min_length;
	state.line += (uint32_t)(r->line_base + (int)(special % r->line_range));
	return state;
}

/* One whose operand is one byte of LEB128. */
static struct state after_short(const struct reader *r, struct state state, unsigned opcode, unsigned byte)
{
	if (opcode == ADVANCE_PC)
		state.address += (uint64_t)byte * r->min_length;
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
	return opcode <= SET_FILE ? 1 : r->operands[opcode];
}

/* The many opcodes that have no operand, or one in so many bytes; stops at the first other one. */
static int run_short(struct reader *r, struct cursor *c, struct state *ret_state)
{
	struct state state = *ret_state;
	const uint8_t *p = c->p;
	int err = 0;

	while (!err && c->end - p >= 3) {
		const unsigned opcode = p[0];

		if (opcode >= r->opcode_base) {
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

static int run(struct reader *r, struct cursor *c)
{
	struct state state = {.file = 1, .line = 1};
	int err = 0;

	r->row_count = 0;
	while (!err && c->p < c->end && !c->bad) {
		unsigned opcode;

		err = run_short(r, c, &state);
		if (err || c->p == c->end)
			return err;
		opcode = get_byte(c);
		if (opcode >= r->opcode_base) {
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
	struct cursor all = {r->section.at, r->section.at + r->section.size, false};
	int err = 0;

	while (!err && all.p < all.end) {
		struct cursor own;
		uint64_t length = get(&all, 4);

		r->word = length == 0xffffffff ? 8 : 4;
		if (r->word == 8)
			length = get(&all, 8);
		own = all;
		pass(&all, length);
		own.end = all.p;
		err = get_header(r, &own);
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
		if (order(&lines->row[i - 1], &lines->row[i], lines->names) > 0)
			return false;
	return true;
}

static void sort(struct hf_lines *lines)
{
	size_t kept = 0;

	if (!is_sorted(lines))
		qsort_r(lines->row, lines->count, sizeof *lines->row, order, lines->names);
	for (size_t i = 0; i < lines->count; i++) {
		kept -= kept && lines->row[kept - 1].address == lines->row[i].address;
		/* Neighbours of one line are one row. */
		if (!kept || lines->row[kept - 1].line != lines->row[i].line ||
		    lines->row[kept - 1].file != lines->row[i].file)
			lines->row[kept++] = lines->row[i];
	}
	lines->count = kept;
	shrink(&lines->row, kept, &lines->cap, sizeof *lines->row);
	shrink(&lines->names, lines->names_size, &lines->names_cap, 1);
}

static int load(const struct hf_elf_file *file, const char *name, struct bytes *ret, struct hf_diag *diag)
{
	return hf_elf_file_named(file, name, HF_LINES_SECTION_MAX, &ret->at, &ret->size, diag);
}

static bool has_code_at_0(struct hf_src *elf)
{
	struct hf_elf_file file;
	bool found = false;

	/* A debug file may have no segments. What can be moved begins with its headers. */
	if (hf_elf_file_open(elf, &file, NULL))
		return false;
	for (size_t i = 0; i < file.segment_count; i++)
		found |= file.type != ET_DYN && file.segments[i].flags & HF_ELF_X && !file.segments[i].address;
	hf_elf_file_close(&file);
	return found;
}

static int load_all(struct reader *r, const struct hf_elf_file *file, struct hf_diag *diag)
{
	int err = load(file, ".debug_line", &r->section, diag);

	if (err || !r->section.size)
		return err;
	return load(file, ".debug_line_str", &r->line_strings, diag);
}

int hf_lines_new(struct hf_src *elf, uint64_t bias, const struct hf_lines_filter *filter, struct hf_lines **ret_lines,
		 struct hf_diag *diag)
{
	struct reader r = {.lines = calloc(1, sizeof *r.lines), .filter = filter, .bias = bias};
	struct hf_elf_file file;
	int err = r.lines ? add_char(r.lines, '\0') : HF_ERR_NOMEM;

	if (!err)
		err = hf_elf_file_open_sections(elf, &file, diag);
	if (!err)
		err = load_all(&r, &file, diag);
	r.code_at_0 = !err && r.section.size && has_code_at_0(elf);
	if (!err && r.section.size)
		err = read_tables(&r);
	if (!err)
		sort(r.lines);
	free(r.section.at);
	free(r.line_strings.at);
	free(r.file);
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
	free(lines->names);
	free(lines);
}

size_t hf_lines_count(const struct hf_lines *lines)
{
	return lines->count;
}

size_t hf_lines_memory(const struct hf_lines *lines)
{
	return sizeof *lines + lines->cap * sizeof *lines->row + lines->names_cap;
}

void hf_lines_at(const struct hf_lines *lines, uint64_t pc, struct hf_line *ret_line)
{
	const size_t low = HF_COUNT_UP_TO(lines->row, lines->count, address, pc);
	const struct row *row = low ? &lines->row[low - 1] : NULL;

	assert(!low || lines->row);
	*ret_line = (struct hf_line){.start = row ? row->address : 0, .file = lines->names};
	ret_line->end = low < lines->count ? lines->row[low].address : UINT64_MAX;
	if (!row || !row->line)
		return;
	if (!lines->names[row->file])
		return;
	ret_line->file = lines->names + row->file;
	ret_line->file_size = (uint32_t)strlen(ret_line->file);
	ret_line->line = row->line;
}
