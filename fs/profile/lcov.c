/* SPDX-License-Identifier: Apache-2.0 */
/* lcov.info: which lines, functions and branches of the source were executed, for lcov and genhtml. */
#include "codecs/base/array.h"
#include "codecs/base/search.h"
#include "fs/profile/sources.h"
#include "fs/program/symbol_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A contiguous range of code of one line. */
struct range {
	uint64_t start, end;
	const struct hf_symbol *symbol; /* in which it begins */
	uint32_t file, line;
	uint64_t count; /* of its first instruction that was executed */
};

/* A function, by the range in which it begins. */
struct function {
	uint32_t file, line;
	const char *name; /* borrowed; as the linker has it */
	uint64_t start, count;
};

struct branch {
	uint32_t file, line;
	const struct hf_count *row;
};

struct coverage {
	const struct hf_profiled *of;
	struct hf_sources sources;
	bool *wanted; /* of each file of the first ones: something was executed */
	size_t wanted_count;
	struct hf_lines **lines; /* own the names of other files */
	size_t lines_count, lines_room;
	struct range *range;
	size_t ranges, ranges_room;
	struct function *function;
	size_t functions, functions_room;
	struct branch *branch;
	size_t branches, branches_room;
	struct hf_elf_symbol_list names;
};

/* ---- what there is ---- */

static uint64_t count_of(const struct hf_profiled *of, uint64_t start, uint64_t end)
{
	const struct hf_counts *counts = of->counts;
	size_t i = hf_profile_row_at(of, start);
	uint64_t n = 0;

	if (i == counts->n || counts->row[i].pc >= end)
		return 0;
	for (start = counts->row[i].pc; i < counts->n && counts->row[i].pc == start; i++)
		n += counts->row[i].count;
	return n;
}

static int add_range(struct coverage *c, const struct hf_line *at)
{
	struct range *last = c->ranges ? &c->range[c->ranges - 1] : NULL;
	uint32_t file;
	int err = hf_sources_number(&c->sources, at->path, at->path_size, &file);

	if (err || file >= c->wanted_count || !c->wanted[file])
		return err;
	if (last && last->end == at->start && last->file == file && last->line == at->line) {
		last->end = at->end;
		return 0;
	}
	err = hf_array_reserve(&c->range, c->ranges + 1, &c->ranges_room, sizeof *c->range);
	if (!err)
		c->range[c->ranges++] =
			(struct range){.start = at->start, .end = at->end, .file = file, .line = at->line};
	return err;
}

/* Takes the lines. */
static int add_lines(void *ctx, struct hf_lines *lines)
{
	struct coverage *c = ctx;
	struct hf_line at = {0};
	int err = hf_array_reserve(&c->lines, c->lines_count + 1, &c->lines_room, sizeof *c->lines);

	if (err) {
		hf_lines_free(lines);
		return err;
	}
	c->lines[c->lines_count++] = lines;
	do {
		hf_lines_at(lines, at.end, &at);
		if (at.line)
			err = add_range(c, &at);
	} while (!err && at.end != UINT64_MAX && at.end > at.start);
	return err;
}

static int find_ranges(struct coverage *c)
{
	const struct hf_profile_source *source = c->of->source;
	int err = hf_sources_init(&c->sources, c->of, true);

	if (err)
		return err;
	c->wanted_count = c->sources.file_count;
	c->wanted = calloc(c->wanted_count + 1, sizeof *c->wanted);
	if (!c->wanted)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < c->of->counts->n; i++)
		c->wanted[c->sources.row[i].file] = c->sources.row[i].file != 0;
	err = hf_symbol_files_lines(&source->open->symbol_files, source->hart, add_lines, c);
	for (size_t i = 0; i < c->ranges; i++) {
		c->range[i].symbol = hf_symbols_at(c->of->symbols, c->range[i].start);
		c->range[i].count = count_of(c->of, c->range[i].start, c->range[i].end);
	}
	return err;
}

/* ---- functions ---- */

static int by_address(const void *a, const void *b)
{
	const struct hf_elf_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return hf_symbols_prefer(x, y);
}

/* How often control came from elsewhere: not by a jump or a branch of its own. */
static uint64_t count_entries(const struct hf_profiled *of, const struct hf_symbol *symbol)
{
	const struct hf_counts *counts = of->counts;
	uint64_t n = count_of(of, symbol->start, symbol->start + 1), target;

	for (size_t i = hf_profile_row_at(of, symbol->start); i < counts->n && counts->row[i].pc < symbol->end; i++) {
		const struct hf_count *row = &counts->row[i];
		const uint8_t flow = hf_profile_flow(row, of->extensions);

		if ((flow == HF_FLOW_BRANCH || flow == HF_FLOW_JUMP) && hf_profile_target(row, &target) &&
		    target == symbol->start)
			n -= row->taken < n ? row->taken : n;
	}
	return n;
}

static const char *name_at(const struct coverage *c, uint64_t address)
{
	const size_t low = address ? HF_COUNT_UP_TO(c->names.symbol, c->names.count, address, address - 1) : 0;

	return low < c->names.count && c->names.symbol[low].address == address ? c->names.symbol[low].name : NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	const int order = x->file == y->file ? strcmp(x->name, y->name) : 0;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return order ? order : x->start < y->start ? -1 : x->start > y->start;
}

static int find_functions(struct coverage *c)
{
	int err = hf_symbol_files_list(&c->of->source->open->symbol_files, c->of->source->hart, &c->names);

	if (!err && c->names.count)
		qsort(c->names.symbol, c->names.count, sizeof *c->names.symbol, by_address);
	for (size_t i = 0; i < c->ranges && !err; i++) {
		const struct range *range = &c->range[i];
		const bool begins = range->symbol && range->symbol->start == range->start;
		const char *name = begins ? name_at(c, range->start) : NULL;

		if (!name)
			continue;
		err = hf_array_reserve(&c->function, c->functions + 1, &c->functions_room, sizeof *c->function);
		if (!err)
			c->function[c->functions++] = (struct function){.file = range->file,
									.line = range->line,
									.name = name,
									.start = range->start,
									.count = count_entries(c->of, range->symbol)};
	}
	if (!err && c->functions)
		qsort(c->function, c->functions, sizeof *c->function, by_name);
	return err;
}

/* A comma would end it. Of two functions of one name in a file the later ones have their addresses behind it. */
static void put_name(const struct coverage *c, size_t i, struct hf_sink *sink)
{
	const struct function *function = &c->function[i];

	for (const char *at = function->name; *at; at++)
		hf_sink_write(sink, *at == ',' || (unsigned char)*at <= ' ' || *at == 0x7f ? "_" : at, 1);
	if (i && function[-1].file == function->file && !strcmp(function[-1].name, function->name))
		hf_sink_printf(sink, ".%" PRIx64, function->start);
	hf_sink_printf(sink, "\n");
}

static void put_functions(const struct coverage *c, size_t first, size_t end, struct hf_sink *sink)
{
	uint64_t hit = 0;

	for (size_t i = first; i < end; i++) {
		hf_sink_printf(sink, "FN:%" PRIu32 ",", c->function[i].line);
		put_name(c, i, sink);
	}
	for (size_t i = first; i < end; i++) {
		hf_sink_printf(sink, "FNDA:%" PRIu64 ",", c->function[i].count);
		put_name(c, i, sink);
		hit += c->function[i].count != 0;
	}
	hf_sink_printf(sink, "FNF:%zu\nFNH:%" PRIu64 "\n", end - first, hit);
}

/* ---- branches ---- */

static int by_line(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int find_branches(struct coverage *c)
{
	const struct hf_counts *counts = c->of->counts;
	int err = 0;

	for (size_t i = 0; i < counts->n && !err; i++) {
		const struct hf_source_place *place = &c->sources.row[i];

		if (!place->file || hf_profile_flow(&counts->row[i], c->of->extensions) != HF_FLOW_BRANCH)
			continue;
		err = hf_array_reserve(&c->branch, c->branches + 1, &c->branches_room, sizeof *c->branch);
		if (!err)
			c->branch[c->branches++] = (struct branch){place->file, place->line, &counts->row[i]};
	}
	if (!err && c->branches)
		qsort(c->branch, c->branches, sizeof *c->branch, by_line);
	return err;
}

static void put_branches(const struct coverage *c, size_t first, size_t end, struct hf_sink *sink)
{
	uint64_t hit = 0;
	uint32_t block = 0;

	for (size_t i = first; i < end; i++) {
		const struct branch *branch = &c->branch[i];
		const uint64_t taken = branch->row->taken, not_taken = branch->row->count - taken - branch->row->open;

		block = i > first && branch[-1].line == branch->line ? block + 1 : 0;
		hf_sink_printf(sink,
			       "BRDA:%" PRIu32 ",%" PRIu32 ",0,%" PRIu64 "\nBRDA:%" PRIu32 ",%" PRIu32 ",1,%" PRIu64
			       "\n",
			       branch->line, block, not_taken, branch->line, block, taken);
		hit += (uint64_t)(not_taken != 0) + (taken != 0);
	}
	hf_sink_printf(sink, "BRF:%zu\nBRH:%" PRIu64 "\n", 2 * (end - first), hit);
}

/* ---- lines ---- */

static int by_place(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->symbol != y->symbol)
		return (uintptr_t)x->symbol < (uintptr_t)y->symbol ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Of the ranges of one line in one function the largest; those of several functions, into which it was inlined, add up.
 */
static void put_lines(const struct coverage *c, size_t first, size_t end, struct hf_sink *sink)
{
	uint64_t found = 0, hit = 0;

	for (size_t i = first, next; i < end; i = next) {
		uint64_t sum = 0, most = 0;

		for (next = i; next < end && c->range[next].line == c->range[i].line; next++) {
			if (next > i && c->range[next].symbol != c->range[next - 1].symbol) {
				sum += most;
				most = 0;
			}
			most = c->range[next].count > most ? c->range[next].count : most;
		}
		sum += most;
		hf_sink_printf(sink, "DA:%" PRIu32 ",%" PRIu64 "\n", c->range[i].line, sum);
		found++;
		hit += sum != 0;
	}
	hf_sink_printf(sink, "LF:%" PRIu64 "\nLH:%" PRIu64 "\n", found, hit);
}

/* ---- the file ---- */

/* Where those of a file end, from the first of it on. */
#define END_OF_FILE(rows, count, first, number)                         \
	({                                                              \
		size_t end_ = (first);                                  \
		while (end_ < (count) && (rows)[end_].file == (number)) \
			end_++;                                         \
		end_;                                                   \
	})

static void put_files(const struct coverage *c, struct hf_sink *sink)
{
	size_t range = 0, function = 0, branch = 0;

	for (uint32_t file = 1; file < c->wanted_count; file++) {
		const size_t range_end = END_OF_FILE(c->range, c->ranges, range, file);
		const size_t function_end = END_OF_FILE(c->function, c->functions, function, file);
		const size_t branch_end = END_OF_FILE(c->branch, c->branches, branch, file);

		hf_sink_printf(sink, "TN:hart%" PRIu32 "\nSF:", c->of->hart);
		hf_sink_write(sink, c->sources.file[file].name, c->sources.file[file].size);
		hf_sink_printf(sink, "\n");
		put_functions(c, function, function_end, sink);
		put_branches(c, branch, branch_end, sink);
		put_lines(c, range, range_end, sink);
		hf_sink_printf(sink, "end_of_record\n");
		range = range_end;
		function = function_end;
		branch = branch_end;
	}
}

static void release(struct coverage *c)
{
	hf_sources_free(&c->sources);
	hf_symbol_files_free_list(&c->names);
	for (size_t i = 0; i < c->lines_count; i++)
		hf_lines_free(c->lines[i]);
	free(c->lines);
	free(c->wanted);
	free(c->range);
	free(c->function);
	free(c->branch);
}

int hf_profile_lcov(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct coverage c = {.of = of};
	int err;

	if (!of->symbols || !hf_symbols_have_lines(of->symbols))
		return HF_ERR_NOT_FOUND;
	err = find_ranges(&c);
	if (!err)
		err = find_functions(&c);
	if (!err)
		err = find_branches(&c);
	if (!err && c.ranges)
		qsort(c.range, c.ranges, sizeof *c.range, by_place);
	if (!err)
		put_files(&c, sink);
	release(&c);
	return err ? err : sink->err;
}
