/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/symbols.h"

#include "codecs/base/bytes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* More than any kernel has; what is larger is taken for damage. */
#define SECTIONS_MAX 65536
#define SYMTAB_MAX (UINT64_C(32) << 20)
#define STRTAB_MAX (UINT64_C(128) << 20)
#define NAMES_MAX (UINT64_C(64) << 20)

struct hf_symbols {
	struct hf_symbol *row; /* sorted, not overlapping */
	size_t count;
	char *names;
	struct own {
		uint32_t hart;
		struct hf_symbols *symbols;
	} *own; /* of harts that have others */
	size_t own_count;
};

struct section {
	uint32_t type, link;
	uint64_t flags, addr, offset, size;
};

struct elf {
	struct hf_src *src;
	struct hf_diag *diag;
	bool wide;
	uint16_t machine;
	uint64_t bias;
	struct section *sections;
	uint32_t section_count;
	uint8_t *symtab;
	char *strtab;
	uint64_t symtab_size, strtab_size;
};

/* One symbol worth keeping, before names are copied and overlaps resolved. */
struct candidate {
	uint64_t start, end;
	uint32_t name; /* offset in strtab */
	uint8_t rank;  /* among symbols at one address the highest is kept */
};

static int fail(struct elf *elf, int code, uint64_t offset)
{
	return hf_diag_set(elf->diag, code, HF_SPACE_FILE, offset, 0);
}

/* Exactly n bytes. */
static int read_bytes(struct elf *elf, uint64_t offset, void *buf, uint64_t n)
{
	uint64_t done = 0;

	if (offset + n < offset || (elf->src->size != HF_NOWHERE && offset + n > elf->src->size))
		return fail(elf, HF_ERR_TRUNCATED, offset);
	while (done < n) {
		size_t got = 0;
		int err = hf_src_read_at(elf->src, offset + done, (uint8_t *)buf + done, n - done, &got, elf->diag);

		if (err < 0)
			return err;
		if (got == 0)
			return fail(elf, HF_ERR_TRUNCATED, offset + done);
		done += got;
	}
	return 0;
}

/* Reads a table into fresh memory, but no more than max bytes. */
static int read_table(struct elf *elf, uint64_t offset, uint64_t size, uint64_t max, void *ret_bytes)
{
	void *bytes;
	int err;

	if (size > max)
		return fail(elf, HF_ERR_ELF_LIMIT, offset);
	bytes = malloc(size ? size : 1);
	if (!bytes)
		return HF_ERR_NOMEM;
	err = read_bytes(elf, offset, bytes, size);
	if (err) {
		free(bytes);
		return err;
	}
	memcpy(ret_bytes, &bytes, sizeof bytes);
	return 0;
}

static struct section section_of(bool wide, const uint8_t *p)
{
	if (wide) {
		Elf64_Shdr h;

		memcpy(&h, p, sizeof h);
		return (struct section){h.sh_type, h.sh_link, h.sh_flags, h.sh_addr, h.sh_offset, h.sh_size};
	}
	Elf32_Shdr h;

	memcpy(&h, p, sizeof h);
	return (struct section){h.sh_type, h.sh_link, h.sh_flags, h.sh_addr, h.sh_offset, h.sh_size};
}

static int read_sections(struct elf *elf, uint64_t offset, unsigned entry, uint64_t count)
{
	unsigned least = elf->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint8_t first[sizeof(Elf64_Shdr)], *bytes;
	int err;

	if (offset == 0)
		return 0;
	if (entry < least || entry > 1024)
		return fail(elf, HF_ERR_CORRUPT, offset);
	if (count == 0) { /* more than fit into e_shnum: the first section's size is their number */
		err = read_bytes(elf, offset, first, least);
		if (err)
			return err;
		count = section_of(elf->wide, first).size;
	}
	if (count > SECTIONS_MAX)
		return fail(elf, HF_ERR_ELF_LIMIT, offset);
	err = read_table(elf, offset, count * entry, UINT64_MAX, &bytes);
	if (err)
		return err;
	elf->sections = calloc(count ? count : 1, sizeof *elf->sections);
	for (uint32_t i = 0; elf->sections && i < count; i++)
		elf->sections[i] = section_of(elf->wide, bytes + (size_t)i * entry);
	elf->section_count = (uint32_t)count;
	free(bytes);
	return elf->sections ? 0 : HF_ERR_NOMEM;
}

static int read_header(struct elf *elf)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)] = {0};
	int err = read_bytes(elf, 0, bytes, sizeof(Elf32_Ehdr));
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;
	uint16_t type;

	if (err)
		return err;
	if (memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return fail(elf, HF_ERR_UNKNOWN_FORMAT, 0);
	elf->wide = bytes[EI_CLASS] == ELFCLASS64;
	if (bytes[EI_DATA] != ELFDATA2LSB || (!elf->wide && bytes[EI_CLASS] != ELFCLASS32))
		return fail(elf, HF_ERR_UNSUPPORTED, EI_CLASS);
	if (elf->wide) {
		err = read_bytes(elf, 0, bytes, sizeof wide);
		if (err)
			return err;
	}
	memcpy(&wide, bytes, sizeof wide);
	memcpy(&narrow, bytes, sizeof narrow);
	elf->machine = narrow.e_machine;
	type = narrow.e_type;
	if (type != ET_EXEC && type != ET_DYN) /* values of relocatable objects are not addresses */
		return fail(elf, HF_ERR_UNSUPPORTED, offsetof(Elf32_Ehdr, e_type));
	return elf->wide ? read_sections(elf, wide.e_shoff, wide.e_shentsize, wide.e_shnum) :
			   read_sections(elf, narrow.e_shoff, narrow.e_shentsize, narrow.e_shnum);
}

/* The static symbol table, or the dynamic one if there is no other. */
static int read_tables(struct elf *elf)
{
	const struct section *symtab = NULL;
	int err;

	for (uint32_t i = 0; i < elf->section_count; i++) {
		const struct section *s = &elf->sections[i];

		if (s->type == SHT_SYMTAB || (s->type == SHT_DYNSYM && !symtab))
			symtab = s;
		if (s->type == SHT_SYMTAB)
			break;
	}
	if (!symtab)
		return 0;
	if (symtab->link >= elf->section_count)
		return fail(elf, HF_ERR_CORRUPT, symtab->offset);
	err = read_table(elf, symtab->offset, symtab->size, SYMTAB_MAX, &elf->symtab);
	if (err)
		return err;
	elf->symtab_size = symtab->size;
	symtab = &elf->sections[symtab->link];
	err = read_table(elf, symtab->offset, symtab->size, STRTAB_MAX, &elf->strtab);
	elf->strtab_size = err ? 0 : symtab->size;
	return err;
}

static Elf64_Sym symbol_of(bool wide, const uint8_t *p)
{
	Elf64_Sym s;

	if (wide) {
		memcpy(&s, p, sizeof s);
		return s;
	}
	Elf32_Sym n;

	memcpy(&n, p, sizeof n);
	return (Elf64_Sym){n.st_name, n.st_info, n.st_other, n.st_shndx, n.st_value, n.st_size};
}

static uint32_t name_size(const struct elf *elf, uint32_t name)
{
	uint64_t left = elf->strtab_size - name;

	return (uint32_t)strnlen(elf->strtab + name, left < HF_SYMBOL_NAME_MAX ? left : HF_SYMBOL_NAME_MAX);
}

/* A name without an end is as long as the table. */
static bool is_longer(const struct elf *elf, uint32_t name)
{
	return name_size(elf, name) == HF_SYMBOL_NAME_MAX && elf->strtab_size - name > HF_SYMBOL_NAME_MAX &&
	       elf->strtab[name + HF_SYMBOL_NAME_MAX];
}

/* Whether a symbol names code; fills *ret. */
static bool is_code(const struct elf *elf, const Elf64_Sym *s, struct candidate *ret)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);
	const struct section *section;
	uint64_t value = s->st_value;

	if (s->st_shndx == SHN_UNDEF || s->st_shndx >= elf->section_count || s->st_name >= elf->strtab_size)
		return false;
	section = &elf->sections[s->st_shndx];
	if (type != STT_FUNC && type != STT_GNU_IFUNC && (type != STT_NOTYPE || !(section->flags & SHF_EXECINSTR)))
		return false;
	/* mapping symbols ($x, $d, $a, $t) and assembler labels are no names of places */
	if (elf->strtab[s->st_name] == '$' || elf->strtab[s->st_name] == '.' || name_size(elf, s->st_name) == 0)
		return false;
	if (elf->machine == EM_ARM && type == STT_FUNC)
		value &= ~UINT64_C(1); /* T32 */
	ret->start = value + elf->bias;
	/* without a size it reaches to the next symbol, at most to the end of its section */
	ret->end = ret->start + (s->st_size ? s->st_size : section->addr + section->size - value);
	if (ret->end <= ret->start)
		return false;
	ret->name = s->st_name;
	ret->rank = (uint8_t)(4 * (type != STT_NOTYPE) + 2 * (s->st_size != 0) +
			      (ELF64_ST_BIND(s->st_info) != STB_LOCAL));
	return true;
}

static int order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Leaves one symbol to each address: untyped labels inside functions go, a function ends where the next begins. */
static size_t resolve(struct candidate *c, size_t n)
{
	size_t kept = 0;

	qsort(c, n, sizeof *c, order);
	for (size_t i = 0; i < n; i++) {
		struct candidate *last = kept ? &c[kept - 1] : NULL;

		if (last && (c[i].start == last->start ||
			     (c[i].rank < 4 && last->rank >= 6 && c[i].start < last->end)))
			continue;
		if (last && last->end > c[i].start)
			last->end = c[i].start;
		c[kept++] = c[i];
	}
	return kept;
}

static int copy_rows(const struct elf *elf, const struct candidate *c, size_t n, struct hf_symbols *symbols)
{
	uint64_t total = 0;
	char *p;

	for (size_t i = 0; i < n; i++)
		total += name_size(elf, c[i].name) + 1;
	if (total > NAMES_MAX)
		return HF_ERR_ELF_LIMIT;
	symbols->row = calloc(n ? n : 1, sizeof *symbols->row);
	p = symbols->names = malloc(total ? total : 1);
	if (!symbols->row || !p)
		return HF_ERR_NOMEM;
	symbols->count = n;
	for (size_t i = 0; i < n; i++) {
		uint32_t size = name_size(elf, c[i].name);

		symbols->row[i] = (struct hf_symbol){c[i].start, c[i].end, p, size};
		for (uint32_t k = 0; k < size; k++) {
			char byte = elf->strtab[c[i].name + k];

			*p++ = byte > ' ' && byte <= '~' && byte != '<' && byte != '>' ? byte : '?';
		}
		if (is_longer(elf, c[i].name))
			memcpy(p - strlen("..."), "...", strlen("..."));
		*p++ = 0;
	}
	return 0;
}

static int collect(const struct elf *elf, struct hf_symbols *symbols)
{
	size_t entry = elf->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), n = 0;
	size_t count = elf->symtab_size / entry;
	struct candidate *c = malloc((count ? count : 1) * sizeof *c);
	int err;

	if (!c)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		Elf64_Sym s = symbol_of(elf->wide, elf->symtab + i * entry);

		n += is_code(elf, &s, &c[n]);
	}
	err = copy_rows(elf, c, resolve(c, n), symbols);
	free(c);
	return err;
}

int hf_symbols_new(struct hf_src *src, uint64_t bias, struct hf_symbols **ret_symbols, struct hf_diag *diag)
{
	struct elf elf = {.src = src, .diag = diag, .bias = bias};
	struct hf_symbols *symbols = calloc(1, sizeof *symbols);
	int err = symbols ? read_header(&elf) : HF_ERR_NOMEM;

	if (!err)
		err = read_tables(&elf);
	if (!err)
		err = collect(&elf, symbols);
	free(elf.sections);
	free(elf.symtab);
	free(elf.strtab);
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
	free(symbols->own);
	free(symbols->row);
	free(symbols->names);
	free(symbols);
}

int hf_symbols_set_hart(struct hf_symbols *symbols, uint32_t hart, struct hf_symbols *own)
{
	struct own *bigger = realloc(symbols->own, (symbols->own_count + 1) * sizeof *bigger);

	if (!bigger) {
		hf_symbols_free(own);
		return HF_ERR_NOMEM;
	}
	symbols->own = bigger;
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
	size_t low = 0, high = a->count;

	while (low < high) { /* the first that ends behind b's start */
		size_t middle = low + (high - low) / 2;

		if (a->row[middle].end <= b->start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->count && a->row[low].start < b->end;
}

/* Copies a row with its name to *p. */
static void copy_row(struct hf_symbol *to, const struct hf_symbol *from, char **p)
{
	*to = *from;
	to->name = memcpy(*p, from->name, from->name_size);
	*p += from->name_size;
	*(*p)++ = '\0';
}

int hf_symbols_join(struct hf_symbols *symbols, const struct hf_symbols *more)
{
	const struct hf_symbols *const both[] = {symbols, more};
	struct hf_symbol *row = calloc(symbols->count + more->count + 1, sizeof *row);
	size_t total = 1, n = 0, at[2] = {0};
	char *names, *p;

	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < both[i]->count; k++)
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
	free(symbols->row);
	free(symbols->names);
	symbols->row = row;
	symbols->count = n;
	symbols->names = names;
	return 0;
}

size_t hf_symbols_memory(const struct hf_symbols *symbols)
{
	size_t bytes = 0;

	if (!symbols)
		return 0;
	for (size_t i = 0; i < symbols->count; i++)
		bytes += sizeof *symbols->row + symbols->row[i].name_size + 1;
	for (size_t i = 0; i < symbols->own_count; i++)
		bytes += hf_symbols_memory(symbols->own[i].symbols);
	return bytes + sizeof *symbols;
}

size_t hf_symbols_count(const struct hf_symbols *symbols)
{
	return symbols->count;
}

const struct hf_symbol *hf_symbols_at(const struct hf_symbols *symbols, uint64_t pc)
{
	size_t low = 0, high = symbols->count;

	while (low < high) { /* the first that begins behind pc */
		size_t middle = low + (high - low) / 2;

		if (symbols->row[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && pc < symbols->row[low - 1].end ? &symbols->row[low - 1] : NULL;
}

const char *hf_symbols_find(const struct hf_symbols *symbols, uint64_t pc, uint64_t *ret_offset)
{
	const struct hf_symbol *symbol = hf_symbols_at(symbols, pc);

	if (!symbol)
		return NULL;
	*ret_offset = pc - symbol->start;
	return symbol->name;
}
