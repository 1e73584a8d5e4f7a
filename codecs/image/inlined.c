/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over the entries of all units that have executed code. */
#include "codecs/image/inlined.h"

#include "codecs/image/inlined_name.h"
#include "codecs/image/line_header.h"

#include <stdlib.h>

/* A call that was inlined, and holds what is being read. */
struct open_call {
	uint32_t call; /* 0: it was not needed yet */
	bool has_origin;
	uint64_t origin; /* the function's entry, in .debug_info */
	uint64_t file, line;
};

/* An entry whose children are being read: it is within the calls from first to end. */
struct level {
	uint32_t first, end;
};

struct reader {
	struct hf_inlined *inlined;
	struct hf_inlined_ranges ranges;
	struct hf_wanted wanted;
	struct hf_dwarf dwarf;
	struct hf_inlined_namer namer;
	struct hf_line_header header; /* of the unit, from when it is asked for */
	bool has_header;
	uint64_t bias;
	struct level level[HF_INLINED_DEPTH_MAX];
	struct open_call call[HF_INLINED_DEPTH_MAX];
	uint32_t depth;
	const struct hf_dwarf_unit *unit;
	uint64_t lines; /* of the unit: where its line table is */
	uint32_t unknown;
};

/* ---- calls ---- */

/* A table that cannot be read has no files. */
static int open_header(struct reader *r)
{
	struct hf_dwarf_cursor c = hf_dwarf_cursor_at(&r->dwarf.sections.row[HF_DWARF_LINE], r->lines), own;
	const uint8_t *start;
	unsigned word;
	int err;

	r->has_header = true;
	r->header.file_count = 0;
	if (c.bad)
		return 0;
	hf_dwarf_get_unit(&c, &word, &own);
	start = own.p;
	err = hf_line_header_read(&r->header, &own, word);
	if (!err)
		err = hf_dwarf_work(&r->dwarf, (uint64_t)(own.p - start));
	return err == HF_ERR_CORRUPT || err == HF_ERR_UNSUPPORTED ? 0 : err;
}

static int add_call(struct reader *r, const struct open_call *open, uint32_t outer, uint32_t *ret_call)
{
	struct hf_inlined_node node = {.name = HF_INLINED_NO_NAME, .outer = outer};
	int err = r->has_header ? 0 : open_header(r);

	if (!err)
		err = hf_line_header_name(&r->header, open->file, &r->inlined->names, &node.file);
	if (!err && open->has_origin)
		err = hf_inlined_name(&r->namer, open->origin, &r->inlined->names, &node.name);
	node.line = open->line <= UINT32_MAX ? (uint32_t)open->line : 0;
	return err ? err : hf_inlined_add_call(r->inlined, node, ret_call);
}

/* The innermost call, 0 if there is none; those that were not needed yet are made. */
static int make_calls(struct reader *r, uint32_t *ret_call)
{
	const struct level *level = &r->level[r->depth - 1];
	uint32_t i = level->end;
	int err = 0;

	while (i > level->first && !r->call[i - 1].call)
		i--;
	*ret_call = i > level->first ? r->call[i - 1].call : 0;
	for (; i < level->end && !err; i++) {
		err = add_call(r, &r->call[i], *ret_call, ret_call);
		r->call[i].call = *ret_call;
	}
	return err;
}

/* ---- entries ---- */

/* Whether the code was executed; moves it to where it was. */
static bool place(struct reader *r, uint64_t *start, uint64_t *end)
{
	*start += r->bias;
	*end += r->bias;
	return *start < *end && hf_is_wanted(&r->wanted, *start, *end);
}

static int add_range(void *ctx, uint64_t start, uint64_t end)
{
	struct reader *r = ctx;
	uint32_t call;
	int err;

	if (!place(r, &start, &end))
		return 0;
	err = make_calls(r, &call);
	return err ? err : hf_inlined_add_range(&r->ranges, start, end, call);
}

static int add_unknown(void *ctx, uint64_t start, uint64_t end)
{
	struct reader *r = ctx;

	return place(r, &start, &end) ? hf_inlined_add_range(&r->ranges, start, end, r->unknown) : 0;
}

static int find_wanted(void *ctx, uint64_t start, uint64_t end)
{
	enum { FOUND = 1 };

	return place(ctx, &start, &end) ? FOUND : 0;
}

static uint64_t number_of(const struct hf_dwarf_entry *entry, enum hf_dwarf_attribute attribute)
{
	const struct hf_dwarf_value *value = &entry->value[attribute];

	return hf_dwarf_has(entry, attribute) && value->class == HF_DWARF_NUMBER ? value->number : 0;
}

static struct open_call call_of(const struct reader *r, const struct hf_dwarf_entry *entry)
{
	struct open_call call = {.file = number_of(entry, HF_DWARF_AT_CALL_FILE),
				 .line = number_of(entry, HF_DWARF_AT_CALL_LINE)};

	call.has_origin = hf_dwarf_has(entry, HF_DWARF_AT_ORIGIN) &&
			  hf_dwarf_reference(r->unit, &entry->value[HF_DWARF_AT_ORIGIN], &call.origin);
	return call;
}

/* What an entry is to its children, and its code. */
static int enter(struct reader *r, const struct hf_dwarf_entry *entry)
{
	struct level *level = &r->level[r->depth];

	if (r->depth == HF_INLINED_DEPTH_MAX)
		return HF_ERR_CORRUPT;
	*level = r->level[r->depth++ - 1];
	if (entry->tag == HF_DWARF_INLINED_SUBROUTINE)
		r->call[level->end++] = call_of(r, entry);
	else if (entry->tag == HF_DWARF_SUBPROGRAM)
		level->first = level->end;
	else
		return 0;
	return hf_dwarf_ranges(&r->dwarf, r->unit, entry, add_range, r);
}

/* The children of the first entry of a unit, and theirs. */
static int walk(struct reader *r, struct hf_dwarf_cursor *c)
{
	struct hf_dwarf_entry entry;
	int err = 0;

	r->depth = 1;
	r->level[0] = (struct level){0, 0};
	while (r->depth && !err) {
		/* The ends of the last lists of children may be left out. */
		if (c->p == c->end)
			return 0;
		err = hf_dwarf_entry_read(&r->dwarf, r->unit, c, &entry);
		if (err)
			return err;
		if (!entry.code) {
			r->depth--;
			continue;
		}
		err = enter(r, &entry);
		r->depth -= !err && !entry.children;
	}
	return err;
}

/* ---- units ---- */

/* Whether some of a unit ran; one that does not say where its code is counts as if. */
static int is_executed(struct reader *r, const struct hf_dwarf_entry *first, bool *ret_is)
{
	const unsigned says = 1u << HF_DWARF_AT_RANGES | 1u << HF_DWARF_AT_HIGH_PC;
	const int found = hf_dwarf_ranges(&r->dwarf, r->unit, first, find_wanted, r);

	*ret_is = found > 0 || !(first->has & says);
	return found > 0 ? 0 : found;
}

static int read_unit(struct reader *r, struct hf_dwarf_unit *unit)
{
	struct hf_dwarf_entry first;
	struct hf_dwarf_cursor c;
	bool executed;
	int err = hf_dwarf_unit_open(&r->dwarf, unit, &first, &c);

	r->unit = unit;
	if (err)
		return err;
	err = is_executed(r, &first, &executed);
	if (err || !executed)
		return err;
	r->lines = UINT64_MAX;
	if (hf_dwarf_has(&first, HF_DWARF_AT_LINES))
		r->lines = first.value[HF_DWARF_AT_LINES].number;
	r->has_header = false;
	if (first.children)
		err = walk(r, &c);
	else if (hf_dwarf_has(&first, HF_DWARF_AT_SPLIT_NAME))
		err = hf_dwarf_ranges(&r->dwarf, unit, &first, add_unknown, r);
	/* Of what was found before the damage nobody knows how much is right. */
	if (err == HF_ERR_CORRUPT && hf_dwarf_ranges(&r->dwarf, unit, &first, add_unknown, r) == 0)
		err = 0;
	return err;
}

static int read_units(struct reader *r)
{
	int err = hf_inlined_add_call(r->inlined, (struct hf_inlined_node){.name = HF_INLINED_NO_NAME}, &r->unknown);

	r->header.strings = r->dwarf.sections.row[HF_DWARF_LINE_STR];
	for (size_t i = 0; i < r->dwarf.unit_count && !err; i++)
		err = read_unit(r, &r->dwarf.unit[i]);
	return err ? err : hf_inlined_resolve(r->inlined, &r->ranges);
}

static int read_all(struct reader *r, struct hf_src *elf, struct hf_diag *diag)
{
	int err = hf_dwarf_open(elf, &r->dwarf, diag);

	if (!err && r->dwarf.unit_count)
		err = read_units(r);
	hf_dwarf_close(&r->dwarf);
	hf_line_header_free(&r->header);
	hf_number_map_free(&r->namer.known);
	free(r->ranges.row);
	return err;
}

int hf_inlined_new(struct hf_src *elf, uint64_t bias, bool demangle, const struct hf_lines_filter *filter,
		   struct hf_inlined **ret_inlined, struct hf_diag *diag)
{
	struct reader *r = calloc(1, sizeof *r);
	struct hf_demangler *demangler = demangle ? calloc(1, sizeof *demangler) : NULL;
	int err = r && (demangler || !demangle) ? hf_inlined_new_table(ret_inlined) : HF_ERR_NOMEM;

	if (!err) {
		r->inlined = *ret_inlined;
		r->wanted.filter = filter;
		r->bias = bias;
		r->namer.dwarf = &r->dwarf;
		r->namer.demangler = demangler;
		err = read_all(r, elf, diag);
		if (err)
			hf_inlined_free(*ret_inlined);
	}
	free(demangler);
	free(r);
	return err;
}
