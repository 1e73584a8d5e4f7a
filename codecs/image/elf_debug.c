/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/elf_debug.h"

#include "codecs/base/bytes.h"
#include "codecs/base/hash_map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* DWARF 4: the numbers of chapter 7 that are written here. */
enum {
	VERSION = 4,
	TAG_COMPILE_UNIT = 0x11,
	AT_NAME = 0x03,
	AT_STMT_LIST = 0x10,
	AT_LOW_PC = 0x11,
	AT_PRODUCER = 0x25,
	AT_RANGES = 0x55,
	FORM_ADDR = 0x01,
	FORM_STRING = 0x08,
	FORM_SEC_OFFSET = 0x17,
	COPY = 1,
	ADVANCE_PC = 2,
	ADVANCE_LINE = 3,
	SET_FILE = 4,
	EXTENDED = 0,
	END_SEQUENCE = 1,
	SET_ADDRESS = 2,
	LENGTH_SIZE = 4, /* of a unit's first field, which does not count itself */
};

/* One unit without children, whose line table and ranges are the first of their sections. */
static const uint8_t abbrev[] = {1,
				 TAG_COMPILE_UNIT,
				 0,
				 AT_PRODUCER,
				 FORM_STRING,
				 AT_NAME,
				 FORM_STRING,
				 AT_STMT_LIST,
				 FORM_SEC_OFFSET,
				 AT_LOW_PC,
				 FORM_ADDR,
				 AT_RANGES,
				 FORM_SEC_OFFSET,
				 0,
				 0,
				 0};

struct writer {
	const struct hf_symbols *lines;
	bool wide;
	struct hf_sink program; /* of the line table */
	/* Names of files, numbered from 1, and a hash table of these numbers. */
	const char **name;
	size_t count;
	struct hf_hash_map map;
	/* The sequence being written; open: there is one, and it goes on at address. */
	bool open;
	uint64_t at, end;
	uint32_t file, line;
};

/* ---- numbers ---- */

static void put_uleb(struct hf_sink *sink, uint64_t value)
{
	sink->p = hf_put_varint(hf_sink_room(sink, HF_VARINT_MAX), value);
}

static void put_sleb(struct hf_sink *sink, int64_t value)
{
	uint8_t *p = hf_sink_room(sink, 10);

	for (; value < -64 || value > 63; value >>= 7)
		*p++ = (uint8_t)(value | 0x80);
	*p++ = (uint8_t)(value & 0x7f);
	sink->p = p;
}

static void put(struct hf_sink *sink, uint64_t value, unsigned size)
{
	uint8_t *p = hf_sink_room(sink, 8);

	for (unsigned i = 0; i < size; i++)
		*p++ = (uint8_t)(value >> 8 * i);
	sink->p = p;
}

static void put_address(struct hf_sink *sink, bool wide, uint64_t address)
{
	put(sink, address, wide ? 8 : 4);
}

/* The length of a unit that began there, now that it is known. */
static void end_unit(struct hf_sink *sink, size_t start)
{
	if (!sink->err)
		hf_put32(sink->start + start, (uint32_t)((size_t)(sink->p - sink->start) - start - LENGTH_SIZE));
}

/* ---- names of files ---- */

static int number_of(struct writer *w, const char *name, uint32_t *ret_number)
{
	const uint32_t hash = (uint32_t)XXH3_64bits(name, strlen(name));
	int err;

	HF_HASH_EACH(&w->map, hash, i)
	if (!strcmp(w->name[i], name)) {
		*ret_number = i + 1;
		return 0;
	}
	err = hf_hash_map_add_row(&w->map, hash, &w->name, sizeof *w->name);
	if (err)
		return err;
	w->name[w->count++] = name;
	*ret_number = (uint32_t)w->count;
	return 0;
}

/* ---- the program of the line table ---- */

static void advance(struct writer *w, uint64_t to)
{
	if (to == w->at)
		return;
	put(&w->program, ADVANCE_PC, 1);
	put_uleb(&w->program, to - w->at);
	w->at = to;
}

static void close_sequence(struct writer *w)
{
	if (!w->open)
		return;
	advance(w, w->end);
	put(&w->program, EXTENDED, 1);
	put_uleb(&w->program, 1);
	put(&w->program, END_SEQUENCE, 1);
	w->open = false;
}

static void open_sequence(struct writer *w, uint64_t address)
{
	close_sequence(w);
	put(&w->program, EXTENDED, 1);
	put_uleb(&w->program, w->wide ? 9 : 5);
	put(&w->program, SET_ADDRESS, 1);
	put_address(&w->program, w->wide, address);
	w->open = true;
	w->at = w->end = address;
	w->file = w->line = 1;
}

/* Code of n bytes that has one line. */
static int add_row(struct writer *w, uint64_t address, uint64_t n, const struct hf_line *line)
{
	uint32_t file;
	int err = number_of(w, line->file, &file);

	if (err)
		return err;
	if (!w->open || address != w->end)
		open_sequence(w, address);
	advance(w, address);
	if (file != w->file) {
		put(&w->program, SET_FILE, 1);
		put_uleb(&w->program, file);
	}
	if (line->line != w->line) {
		put(&w->program, ADVANCE_LINE, 1);
		put_sleb(&w->program, (int64_t)line->line - w->line);
	}
	put(&w->program, COPY, 1);
	w->file = file;
	w->line = line->line;
	w->end = address + n;
	return w->program.err;
}

static int add_run(struct writer *w, const struct hf_image_run *run)
{
	int err = 0;

	for (uint64_t at = 0, n; at < run->size && !err; at += n) {
		const uint64_t pc = run->address + at;
		struct hf_line line;

		hf_symbols_line_at(w->lines, pc, &line);
		n = line.end - pc < run->size - at ? line.end - pc : run->size - at;
		if (line.line)
			err = add_row(w, pc, n, &line);
		if (hf_sink_total(&w->program) > HF_ELF_DEBUG_LINE_MAX)
			return HF_ERR_LIMIT;
	}
	return err;
}

static int write_program(struct writer *w, const struct hf_image *image)
{
	struct hf_image_cursor cursor = {0};
	struct hf_image_run run;
	int err = 0;

	while (!err && hf_image_next_run(image, &cursor, &run))
		err = add_run(w, &run);
	close_sequence(w);
	return err ? err : w->program.err;
}

/* ---- the sections ---- */

static void write_info(const struct writer *w, struct hf_sink *sink)
{
	static const char producer[] = "hartfs", name[] = "program";
	const size_t start = (size_t)(sink->p - sink->start);

	put(sink, 0, LENGTH_SIZE);
	put(sink, VERSION, 2);
	put(sink, 0, 4);
	put(sink, w->wide ? 8 : 4, 1);
	put_uleb(sink, 1);
	hf_sink_write(sink, producer, sizeof producer);
	hf_sink_write(sink, name, sizeof name);
	put(sink, 0, 4);
	put_address(sink, w->wide, 0);
	put(sink, 0, 4);
	end_unit(sink, start);
}

static void write_lines(const struct writer *w, struct hf_sink *sink)
{
	/* One instruction at a time of any length, all rows statements; the line base and range are not made use of;
	 * how many operands the standard opcodes have. */
	static const uint8_t fields[] = {1, 1, 1, (uint8_t)-5, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1};
	const size_t start = (size_t)(sink->p - sink->start);
	size_t header;

	put(sink, 0, LENGTH_SIZE);
	put(sink, VERSION, 2);
	header = (size_t)(sink->p - sink->start);
	put(sink, 0, LENGTH_SIZE);
	hf_sink_write(sink, fields, sizeof fields);
	put(sink, 0, 1);
	/* In no directory, of no time and size. */
	for (size_t i = 0; i < w->count; i++) {
		hf_sink_write(sink, w->name[i], strlen(w->name[i]) + 1);
		put(sink, 0, 3);
	}
	put(sink, 0, 1);
	end_unit(sink, header);
	hf_sink_write(sink, w->program.start, (size_t)(w->program.p - w->program.start));
	end_unit(sink, start);
}

static void write_ranges(const struct writer *w, const struct hf_elf_debug_range *range, size_t count,
			 struct hf_sink *sink)
{
	for (size_t i = 0; i < count; i++) {
		put_address(sink, w->wide, range[i].address);
		put_address(sink, w->wide, range[i].address + range[i].size);
	}
	put_address(sink, w->wide, 0);
	put_address(sink, w->wide, 0);
}

static int write_sections(const struct writer *w, const struct hf_elf_debug_range *range, size_t count,
			  struct hf_elf_debug *debug)
{
	struct hf_sink sink;
	int err = hf_sink_init_memory(&sink, 0);

	if (err)
		return err;
	hf_sink_write(&sink, abbrev, sizeof abbrev);
	debug->offset[HF_ELF_DEBUG_INFO] = (size_t)hf_sink_total(&sink);
	write_info(w, &sink);
	debug->offset[HF_ELF_DEBUG_LINE] = (size_t)hf_sink_total(&sink);
	write_lines(w, &sink);
	debug->offset[HF_ELF_DEBUG_RANGES] = (size_t)hf_sink_total(&sink);
	write_ranges(w, range, count, &sink);
	debug->offset[HF_ELF_DEBUG_COUNT] = (size_t)hf_sink_total(&sink);
	err = sink.err;
	debug->bytes = err ? NULL : malloc(debug->offset[HF_ELF_DEBUG_COUNT]);
	if (debug->bytes)
		memcpy(debug->bytes, sink.start, debug->offset[HF_ELF_DEBUG_COUNT]);
	else if (!err)
		err = HF_ERR_NOMEM;
	hf_sink_fini_memory(&sink);
	return err;
}

int hf_elf_debug_init(const struct hf_image *image, const struct hf_symbols *lines,
		      const struct hf_elf_debug_range *range, size_t count, bool wide, struct hf_elf_debug *ret_debug)
{
	struct writer w = {.lines = lines, .wide = wide};
	int err;

	*ret_debug = (struct hf_elf_debug){.bytes = NULL};
	if (!lines || !hf_symbols_have_lines(lines))
		return 0;
	err = hf_sink_init_memory(&w.program, 0);
	if (err)
		return err;
	err = write_program(&w, image);
	if (!err && w.count)
		err = write_sections(&w, range, count, ret_debug);
	if (err)
		*ret_debug = (struct hf_elf_debug){.bytes = NULL};
	hf_sink_fini_memory(&w.program);
	free(w.name);
	hf_hash_map_free(&w.map);
	return err == HF_ERR_LIMIT ? 0 : err;
}

void hf_elf_debug_fini(struct hf_elf_debug *debug)
{
	free(debug->bytes);
	*debug = (struct hf_elf_debug){.bytes = NULL};
}
