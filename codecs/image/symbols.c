/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/symbols.h"

#include "codecs/base/array.h"
#include "codecs/base/search.h"
#include "codecs/image/elf_read.h"
#include "codecs/image/errors.h"
#include "codecs/image/function_name.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* More than any kernel has; what is larger is taken for damage. */
#define CANDIDATES_MAX ((size_t)2 << 20)
#define NAMES_MAX ((size_t)64 << 20)
#define SHOWN_MAX ((size_t)512 << 20)

struct hf_symbols {
	struct hf_symbol *row; /* sorted, not overlapping; behind these the other names that their places have */
	size_t count, aliases;
	char *names;
	struct own {
		uint32_t hart;
		struct hf_symbols *symbols;
	} *own; /* of harts that have others */
	size_t own_count;
	struct hf_lines **lines; /* of each file */
	size_t lines_count;
	struct hf_inlined **inlined; /* the same */
	size_t inlined_count;
	struct hf_objects objects, data; /* code, and what is none */
	uint16_t machine;
};

/* One symbol worth keeping, before overlaps are resolved. */
struct candidate {
	uint64_t start, end;
	uint64_t chooser; /* as struct hf_elf_symbol has it, where it was loaded */
	uint32_t name;	  /* offset among the names */
	bool indirect;
	uint8_t rank;  /* among symbols at one address the highest gives the name */
	uint8_t use;
};

/* What a rank is made of; names decide between equals. The same as perf has it, where old versions have names of their
 * own. */
enum { CURRENT = 1, GLOBAL = 2, STRONG = 4, SIZED = 8, FUNCTION = 16 };
/* What becomes of a candidate. */
enum { NONE, PLACE, ALIAS };

/* What is gathered from a file. */
struct heap {
	struct candidate *row;
	size_t count, cap;
	char *names; /* one behind the other, each with its zero byte */
	size_t names_size, names_cap;
	uint64_t bias;
};

static int make_room(void *rows, size_t count, size_t *cap, size_t more, size_t max, size_t size)
{
	return count + more <= max ? hf_array_reserve(rows, count + more, cap, size) : HF_ERR_ELF_LIMIT;
}

static uint8_t rank_of(const struct hf_elf_symbol *symbol)
{
	return (uint8_t)(FUNCTION * symbol->function + SIZED * (symbol->size != 0) + STRONG * !symbol->weak +
			 GLOBAL * (!symbol->local && !symbol->weak) + CURRENT * !symbol->old);
}

/* With its name, of so many bytes and another part. */
static int put_candidate(struct heap *heap, struct candidate *c, const char *name, size_t size, const char *part)
{
	const size_t more = strlen(part) + 1;
	int err = make_room(&heap->row, heap->count, &heap->cap, 1, CANDIDATES_MAX, sizeof *heap->row);

	if (!err)
		err = make_room(&heap->names, heap->names_size, &heap->names_cap, size + more, NAMES_MAX, 1);
	if (err)
		return err;
	c->name = (uint32_t)heap->names_size;
	memcpy(heap->names + heap->names_size, name, size);
	memcpy(heap->names + heap->names_size + size, part, more);
	heap->names_size += size + more;
	heap->row[heap->count++] = *c;
	return 0;
}

static int add_candidate(void *ctx, const struct hf_elf_symbol *symbol)
{
	struct heap *heap = ctx;
	struct candidate c = {.start = symbol->address + heap->bias,
			      .chooser = symbol->chooser ? symbol->chooser + heap->bias : 0,
			      .indirect = symbol->indirect};
	/* What is longer is not demangled, and cut when it is shown. */
	const size_t size = strnlen(symbol->name, HF_DEMANGLE_MAX);

	/* without a size it reaches to the next symbol, at most to the end of its section */
	c.end = c.start + (symbol->size ? symbol->size : symbol->end - symbol->address);
	c.rank = rank_of(symbol);
	/* an assembler's own labels are no names of places */
	if (!symbol->end || (!symbol->function && strncmp(symbol->name, ".L", 2) == 0) || c.end <= c.start)
		return 0;
	return put_candidate(heap, &c, symbol->name, size, "");
}

/* The one with fewer underscores before it, then the longer one. */
static int order_names(const char *x, const char *y)
{
	const size_t before[] = {strspn(x, "_"), strspn(y, "_")}, size[] = {strlen(x), strlen(y)};

	if (before[0] != before[1])
		return before[0] < before[1] ? -1 : 1;
	if (size[0] != size[1])
		return size[0] > size[1] ? -1 : 1;
	return strcmp(x, y);
}

int hf_symbols_prefer(const struct hf_elf_symbol *a, const struct hf_elf_symbol *b)
{
	const int ranks = rank_of(b) - rank_of(a);

	return ranks ? ranks : order_names(a->name, b->name);
}

static int order(const void *a, const void *b, void *names)
{
	const struct candidate *x = a, *y = b;
	int by_name;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	by_name = order_names((const char *)names + x->name, (const char *)names + y->name);
	if (by_name)
		return by_name;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* One symbol names each address: untyped labels inside functions go, a function ends where the next begins. */
static void resolve(struct heap *heap)
{
	struct candidate *c = heap->row, *last = NULL;

	if (heap->count)
		qsort_r(c, heap->count, sizeof *c, order, heap->names);
	for (size_t i = 0; i < heap->count; i++, c++) {
		if (last && c->start == last->start) {
			c->use = ALIAS;
			continue;
		}
		if (last && c->rank < FUNCTION && last->rank >= FUNCTION + SIZED && c->start < last->end)
			continue;
		if (last && last->end > c->start)
			last->end = c->start;
		c->use = PLACE;
		last = c;
	}
}

/* A stub that the file has no name for has that of the function whose code is chosen: "memcpy@plt". */
static int name_stubs(struct heap *heap)
{
	const size_t n = heap->count;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct candidate alias = heap->row[i];
		const size_t at = HF_COUNT_UP_TO(heap->row, n, start, alias.chooser - 1);
		char name[HF_DEMANGLE_MAX];
		size_t size;

		if (!alias.chooser || alias.use == NONE || at == n || heap->row[at].start != alias.chooser ||
		    !heap->row[at].indirect)
			continue;
		alias.use = ALIAS;
		/* The names may move. */
		size = strlen(heap->names + heap->row[at].name);
		memcpy(name, heap->names + heap->row[at].name, size);
		err = put_candidate(heap, &alias, name, size, "@plt");
	}
	return err;
}

/* Copies a row with its name to *p. */
static void copy_row(struct hf_symbol *to, const struct hf_symbol *from, char **p)
{
	*to = *from;
	to->name = memcpy(*p, from->name, from->name_size);
	*p += from->name_size;
	*(*p)++ = '\0';
}

static int by_name(const void *a, const void *b)
{
	const struct hf_symbol *x = a, *y = b;
	const int names = x->start == y->start ? strcmp(x->name, y->name) : 0;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : names;
}

/* Leaves those aliases of which a place begins there, with each name once. */
static void settle_aliases(struct hf_symbols *symbols)
{
	struct hf_symbol *alias = symbols->row + symbols->count;
	size_t kept = 0;

	qsort(alias, symbols->aliases, sizeof *alias, by_name);
	for (size_t i = 0; i < symbols->aliases; i++) {
		const struct hf_symbol *place = hf_symbols_at(symbols, alias[i].start);

		if (!place || place->start != alias[i].start || by_name(place, &alias[i]) == 0 ||
		    (kept && by_name(&alias[kept - 1], &alias[i]) == 0))
			continue;
		alias[kept] = alias[i];
		alias[kept++].end = place->end;
	}
	symbols->aliases = kept;
}

/* Those candidates with their names as they are shown. cap: of symbols->names. */
static int copy_rows(const struct heap *heap, uint8_t use, struct hf_demangler *demangler, struct hf_symbols *symbols,
		     size_t *size, size_t *cap)
{
	char name[HF_SYMBOL_NAME_MAX + 1];
	int err = 0;

	for (size_t i = 0; i < heap->count && !err; i++) {
		const struct candidate *c = &heap->row[i];
		size_t length;

		if (c->use != use)
			continue;
		length = hf_function_name(name, heap->names + c->name, demangler);
		err = make_room(&symbols->names, *size, cap, length + 1, SHOWN_MAX, 1);
		if (err)
			return err;
		assert(symbols->names);
		symbols->row[symbols->count + symbols->aliases] =
			(struct hf_symbol){c->start, c->end, NULL, (uint32_t)length, c->indirect};
		symbols->count += use == PLACE;
		symbols->aliases += use == ALIAS;
		memcpy(symbols->names + *size, name, length + 1);
		*size += length + 1;
	}
	return 0;
}

static int make_rows(const struct heap *heap, struct hf_demangler *demangler, struct hf_symbols *symbols)
{
	size_t size = 0, cap = 0, n = 1;
	int err;

	for (size_t i = 0; i < heap->count; i++)
		n += heap->row[i].use != NONE;
	symbols->row = calloc(n, sizeof *symbols->row);
	if (!symbols->row)
		return HF_ERR_NOMEM;
	err = copy_rows(heap, PLACE, demangler, symbols, &size, &cap);
	if (!err)
		err = copy_rows(heap, ALIAS, demangler, symbols, &size, &cap);
	if (err)
		return err;
	for (size_t i = 0, at = 0; i < symbols->count + symbols->aliases; at += symbols->row[i++].name_size + 1)
		symbols->row[i].name = symbols->names + at;
	settle_aliases(symbols);
	return 0;
}

/* All of the file into the heap. */
static int gather(struct hf_src *elf, struct heap *heap, uint16_t *ret_machine, struct hf_diag *diag)
{
	struct hf_elf_file file;
	int err = hf_elf_file_open_sections(elf, &file, diag);

	if (err)
		return err;
	*ret_machine = file.machine;
	err = hf_elf_file_symbols(&file, add_candidate, heap, diag);
	return err ? err : hf_elf_file_plt(&file, add_candidate, heap, diag);
}

int hf_symbols_new(struct hf_src *elf, uint64_t bias, unsigned options, struct hf_symbols **ret_symbols,
		   struct hf_diag *diag)
{
	struct heap heap = {.bias = bias};
	struct hf_symbols *symbols = calloc(1, sizeof *symbols);
	struct hf_demangler *demangler = options & HF_SYMBOLS_DEMANGLE ? calloc(1, sizeof *demangler) : NULL;
	int err = symbols && (demangler || !(options & HF_SYMBOLS_DEMANGLE)) ? 0 : HF_ERR_NOMEM;

	if (!err)
		err = gather(elf, &heap, &symbols->machine, diag);
	if (!err) {
		resolve(&heap);
		err = name_stubs(&heap);
	}
	if (!err)
		err = make_rows(&heap, demangler, symbols);
	free(demangler);
	free(heap.row);
	free(heap.names);
	if (err) {
		hf_symbols_free(symbols);
		return err;
	}
	*ret_symbols = symbols;
	return 0;
}

int hf_symbols_new_empty(struct hf_symbols **ret_symbols)
{
	*ret_symbols = calloc(1, sizeof **ret_symbols);
	return *ret_symbols ? 0 : HF_ERR_NOMEM;
}

void hf_symbols_free(struct hf_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->own_count; i++)
		hf_symbols_free(symbols->own[i].symbols);
	for (size_t i = 0; i < symbols->lines_count; i++)
		hf_lines_free(symbols->lines[i]);
	for (size_t i = 0; i < symbols->inlined_count; i++)
		hf_inlined_free(symbols->inlined[i]);
	hf_objects_fini(&symbols->objects);
	hf_objects_fini(&symbols->data);
	free(symbols->inlined);
	free(symbols->lines);
	free(symbols->own);
	free(symbols->row);
	free(symbols->names);
	free(symbols);
}

int hf_symbols_set_hart(struct hf_symbols *symbols, uint32_t hart, struct hf_symbols *own)
{
	if (hf_array_room(&symbols->own, symbols->own_count, sizeof *symbols->own)) {
		hf_symbols_free(own);
		return HF_ERR_NOMEM;
	}
	symbols->own[symbols->own_count++] = (struct own){hart, own};
	return 0;
}

const struct hf_symbols *hf_symbols_of(const struct hf_symbols *symbols, uint32_t hart)
{
	for (size_t i = 0; symbols && i < symbols->own_count; i++)
		if (symbols->own[i].hart == hart)
			return symbols->own[i].symbols;
	return symbols;
}

/* Whether a place that b names is named by a. */
static bool covers(const struct hf_symbols *a, const struct hf_symbol *b)
{
	const size_t low = HF_COUNT_UP_TO(a->row, a->count, end, b->start);

	return low < a->count && a->row[low].start < b->end;
}

/* Names that both have of places, with those of places that symbols names otherwise: behind the rows, of which there are
 * count. */
static size_t join_aliases(const struct hf_symbols *symbols, const struct hf_symbols *more, struct hf_symbol *row,
			   char **p)
{
	const struct hf_symbols *const both[] = {symbols, more};
	size_t n = 0;

	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < both[i]->count + both[i]->aliases; k++)
			if (k >= both[i]->count || (i && covers(symbols, &both[i]->row[k])))
				copy_row(&row[n++], &both[i]->row[k], p);
	return n;
}

int hf_symbols_join(struct hf_symbols *symbols, const struct hf_symbols *more)
{
	const struct hf_symbols *const both[] = {symbols, more};
	struct hf_symbol *row = calloc(symbols->count + symbols->aliases + more->count + more->aliases + 1, sizeof *row);
	size_t total = 1, n = 0, at[2] = {0};
	char *names, *p;

	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < both[i]->count + both[i]->aliases; k++)
			total += both[i]->row[k].name_size + 1;
	names = p = malloc(total);
	if (!row || !names) {
		free(row);
		free(names);
		return HF_ERR_NOMEM;
	}
	while (at[0] < symbols->count || at[1] < more->count) {
		const bool second = at[0] == symbols->count ||
				    (at[1] < more->count && more->row[at[1]].start < symbols->row[at[0]].start);
		const struct hf_symbol *next = &both[second]->row[at[second]++];

		if (!second || !covers(symbols, next))
			copy_row(&row[n++], next, &p);
	}
	symbols->aliases = join_aliases(symbols, more, row + n, &p);
	free(symbols->row);
	free(symbols->names);
	symbols->row = row;
	symbols->count = n;
	symbols->names = names;
	settle_aliases(symbols);
	return 0;
}

int hf_symbols_add_lines(struct hf_symbols *symbols, struct hf_lines *lines)
{
	if (hf_array_room(&symbols->lines, symbols->lines_count, sizeof lines)) {
		hf_lines_free(lines);
		return HF_ERR_NOMEM;
	}
	symbols->lines[symbols->lines_count++] = lines;
	return 0;
}

bool hf_symbols_have_lines(const struct hf_symbols *symbols)
{
	return symbols->lines_count > 0;
}

void hf_symbols_line_at(const struct hf_symbols *symbols, uint64_t pc, struct hf_line *ret_line)
{
	struct hf_line one;

	*ret_line = (struct hf_line){.end = UINT64_MAX};
	for (size_t i = 0; i < symbols->lines_count && !ret_line->line; i++) {
		hf_lines_at(symbols->lines[i], pc, &one);
		/* As far as none before it has a line. */
		one.start = one.start > ret_line->start ? one.start : ret_line->start;
		one.end = one.end < ret_line->end ? one.end : ret_line->end;
		*ret_line = one;
	}
}

int hf_symbols_add_inlined(struct hf_symbols *symbols, struct hf_inlined *inlined)
{
	if (hf_array_room(&symbols->inlined, symbols->inlined_count, sizeof inlined)) {
		hf_inlined_free(inlined);
		return HF_ERR_NOMEM;
	}
	symbols->inlined[symbols->inlined_count++] = inlined;
	return 0;
}

bool hf_symbols_have_inlined(const struct hf_symbols *symbols)
{
	return symbols->inlined_count > 0;
}

void hf_symbols_inlined_at(const struct hf_symbols *symbols, uint64_t pc, struct hf_inlined_place *ret_place,
			   const struct hf_inlined **ret_inlined)
{
	struct hf_inlined_place one;

	*ret_place = (struct hf_inlined_place){.end = UINT64_MAX};
	*ret_inlined = NULL;
	for (size_t i = 0; i < symbols->inlined_count && !ret_place->call; i++) {
		hf_inlined_at(symbols->inlined[i], pc, &one);
		/* As far as none before it has a call. */
		one.start = one.start > ret_place->start ? one.start : ret_place->start;
		one.end = one.end < ret_place->end ? one.end : ret_place->end;
		*ret_place = one;
		*ret_inlined = symbols->inlined[i];
	}
}

int hf_symbols_add_object(struct hf_symbols *symbols, struct hf_src *elf, uint64_t bias, const char *path)
{
	return hf_objects_add(&symbols->objects, &symbols->data, elf, bias, path);
}

const struct hf_object *hf_symbols_object_at(const struct hf_symbols *symbols, uint64_t pc)
{
	return symbols ? hf_objects_at(&symbols->objects, pc) : NULL;
}

const struct hf_object *hf_symbols_next_object(const struct hf_symbols *symbols, const struct hf_object *object)
{
	const size_t next = object ? (size_t)(object - symbols->objects.at) + 1 : 0;

	return next < symbols->objects.count ? &symbols->objects.at[next] : NULL;
}

static const struct hf_object *nearer(const struct hf_objects *objects, uint64_t address, const struct hf_object *than)
{
	for (size_t i = 0; i < objects->count; i++)
		if (objects->at[i].end > address && (!than || objects->at[i].start < than->start))
			than = &objects->at[i];
	return than;
}

const struct hf_object *hf_symbols_part_from(const struct hf_symbols *symbols, uint64_t address)
{
	return symbols ? nearer(&symbols->data, address, nearer(&symbols->objects, address, NULL)) : NULL;
}

size_t hf_symbols_memory(const struct hf_symbols *symbols)
{
	size_t bytes = 0;

	if (!symbols)
		return 0;
	for (size_t i = 0; i < symbols->count + symbols->aliases; i++)
		bytes += sizeof *symbols->row + symbols->row[i].name_size + 1;
	for (size_t i = 0; i < symbols->lines_count; i++)
		bytes += hf_lines_memory(symbols->lines[i]);
	for (size_t i = 0; i < symbols->inlined_count; i++)
		bytes += hf_inlined_memory(symbols->inlined[i]);
	for (size_t i = 0; i < symbols->own_count; i++)
		bytes += hf_symbols_memory(symbols->own[i].symbols);
	return bytes + (symbols->objects.count + symbols->data.count) * sizeof *symbols->objects.at + sizeof *symbols;
}

size_t hf_symbols_count(const struct hf_symbols *symbols)
{
	return symbols->count;
}

uint16_t hf_symbols_machine(const struct hf_symbols *symbols)
{
	return symbols->machine;
}

const struct hf_symbol *hf_symbols_at(const struct hf_symbols *symbols, uint64_t pc)
{
	const size_t low = HF_COUNT_UP_TO(symbols->row, symbols->count, start, pc);

	return low > 0 && pc < symbols->row[low - 1].end ? &symbols->row[low - 1] : NULL;
}

const struct hf_symbol *hf_symbols_next(const struct hf_symbols *symbols, const struct hf_symbol *symbol)
{
	const size_t next = symbol ? (size_t)(symbol - symbols->row) + 1 : 0;

	return next < symbols->count + symbols->aliases ? &symbols->row[next] : NULL;
}
