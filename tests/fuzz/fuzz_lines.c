/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as an ELF with line tables: every place has a range that holds it and a name that can be shown, and
 * the ranges follow one another. The program.elf of code at such places has their lines, and none anywhere else.
 */
#include "codecs/image/elf_write.h"
#include "codecs/image/lines.h"
#include "tests/lib/fuzz.h"

#include <stdbool.h>
#include <string.h>

#define BIAS UINT64_C(0x5500000000)

static bool is_shown(const struct hf_line *line)
{
	for (uint32_t i = 0; i < line->file_size; i++)
		if (line->file[i] <= ' ' || line->file[i] > '~' || strchr("<>", line->file[i]))
			return false;
	return line->file_size && line->file_size <= HF_LINES_NAME_MAX && !line->file[line->file_size];
}

static void check(const struct hf_lines *lines)
{
	uint64_t pc = 0;

	for (size_t i = 0; i <= hf_lines_count(lines); i++) {
		struct hf_line line;

		hf_lines_at(lines, pc, &line);
		MUST(line.start <= pc && pc < line.end);
		MUST(!line.line || is_shown(&line));
		if (line.end == UINT64_MAX)
			return;
		pc = line.end;
	}
	MUST(0 && "more ranges than rows");
}

static bool next_wanted(void *ctx, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	(void)ctx;
	*ret_start = ((address >> 6) | 1) << 6;
	*ret_end = *ret_start + 64;
	return *ret_end > address;
}

/* An instruction where each of the first lines begins. */
static struct hf_image *executed(const struct hf_lines *lines, bool wide)
{
	enum { ROWS_MAX = 200 };
	struct hf_event ev = {.kind = HF_EVENT_INSN,
			      .insn = {.opcode = 1, .size = 2, .isa = wide ? HF_ISA_RV64 : HF_ISA_RV32}};
	struct hf_line line = {.end = 0};
	struct hf_image *image;

	MUST(hf_image_new(&image) == 0);
	for (unsigned i = 0; i < ROWS_MAX && line.end != UINT64_MAX; i++) {
		hf_lines_at(lines, line.end, &line);
		ev.insn.pc = line.start & ~UINT64_C(1);
		if (ev.insn.pc < (wide ? UINT64_MAX - 4096 : UINT32_MAX - 4096))
			MUST(hf_image_put(image, &ev, 1) == 0);
	}
	return image;
}

static bool same_line(const struct hf_line *a, const struct hf_line *b)
{
	return a->line == b->line && (!a->line || strcmp(a->file, b->file) == 0);
}

static void compare(const struct hf_image *image, const struct hf_symbols *symbols, const struct hf_lines *back)
{
	struct hf_image_cursor cursor = {0};
	struct hf_image_run run;
	struct hf_line want, got;
	uint64_t end = 0;

	while (hf_image_next_run(image, &cursor, &run)) {
		hf_lines_at(back, end, &got);
		MUST(!got.line || run.address == end);
		end = run.address + run.size;
		for (uint64_t pc = run.address; pc < end; pc++) {
			hf_symbols_line_at(symbols, pc, &want);
			hf_lines_at(back, pc, &got);
			MUST(same_line(&want, &got));
		}
	}
	hf_lines_at(back, end, &got);
	MUST(!got.line);
}

/* Takes lines. */
static void check_program(struct hf_lines *lines, bool wide)
{
	struct hf_image *image = executed(lines, wide);
	struct hf_symbols *symbols;
	struct hf_lines *back;
	struct hf_sink sink;
	struct hf_src *src;
	struct hf_elf *elf;

	MUST(hf_symbols_new_empty(&symbols) == 0 && hf_symbols_add_lines(symbols, lines) == 0);
	if (hf_elf_new(image, NULL, 0, symbols, &elf) == 0) {
		MUST(hf_sink_init_memory(&sink, 0) == 0 && hf_elf_write(elf, 0, UINT64_MAX, &sink) == 0);
		MUST(hf_sink_total(&sink) == hf_elf_size(elf));
		MUST(hf_src_memory_new(sink.start, hf_elf_size(elf), &src) == 0);
		MUST(hf_lines_new(src, 0, NULL, &back, NULL) == 0);
		compare(image, symbols, back);
		hf_lines_free(back);
		hf_src_free(src);
		hf_sink_fini_memory(&sink);
		hf_elf_free(elf);
	}
	hf_symbols_free(symbols);
	hf_image_free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hf_lines_filter filter = {next_wanted, NULL};
	struct hf_lines *lines;
	struct hf_src *src;

	if (hf_src_memory_new(data, size, &src))
		return 0;
	for (unsigned i = 0; i < 2; i++)
		if (hf_lines_new(src, i * BIAS, i ? &filter : NULL, &lines, NULL) == 0) {
			check(lines);
			check_program(lines, i);
		}
	hf_src_free(src);
	return 0;
}
