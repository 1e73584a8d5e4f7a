/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/elf_read.h"

#include "codecs/base/bytes.h"
#include "codecs/image/elf_class.h"
#include "codecs/image/errors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE 65536u
#define COMPRESS_ZSTD 2	   /* ELFCOMPRESS_ZSTD, which glibc has since 2.37 */
#define NAME_LOOKED_AT 4096 /* bytes of a name in which a version may begin */
#define VERSION_HIDDEN 0x8000 /* of a row of SHT_GNU_versym */
#define RISCV_IRELATIVE 58 /* R_RISCV_IRELATIVE and R_AARCH64_IRELATIVE, which musl does not have */
#define AARCH64_IRELATIVE 1032

static int fail(struct hf_diag *diag, int code, uint64_t offset)
{
	return hf_diag_set(diag, code, HF_SPACE_STREAM, offset, 0);
}

/* [offset, offset + n) lies within the first size bytes. */
static bool within(uint64_t offset, uint64_t n, uint64_t size)
{
	return offset <= size && n <= size - offset;
}

/* Exactly n bytes. */
static int read_all(struct hf_src *src, uint64_t offset, void *buf, size_t n, struct hf_diag *diag)
{
	size_t got;
	const int err = hf_src_read_all(src, offset, buf, n, &got, diag);

	return err || got == n ? err : fail(diag, HF_ERR_TRUNCATED, offset + got);
}

static bool is_wide(const struct hf_elf_file *file)
{
	return file->xlen == 64;
}

/* ---- headers ---- */

/* Whether these first bytes of a file look like an ELF that open takes. */
static bool is_elf(const uint8_t *head, size_t n)
{
	return n >= EI_NIDENT && memcmp(head, ELFMAG, SELFMAG) == 0 &&
	       (head[EI_CLASS] == ELFCLASS32 || head[EI_CLASS] == ELFCLASS64) && head[EI_DATA] == ELFDATA2LSB;
}

static int read_ehdr(struct hf_elf_file *file, Elf64_Ehdr *ret_ehdr, struct hf_diag *diag)
{
	uint8_t head[sizeof(Elf64_Ehdr)] = {0};
	size_t n = sizeof(Elf32_Ehdr);
	int err;

	if (file->src->size == HF_NOWHERE)
		return fail(diag, HF_ERR_UNSUPPORTED, HF_NOWHERE);
	err = read_all(file->src, 0, head, n, diag);
	if (err)
		return err;
	if (!is_elf(head, n))
		return fail(diag, memcmp(head, ELFMAG, SELFMAG) == 0 ? HF_ERR_UNSUPPORTED : HF_ERR_UNKNOWN_FORMAT, 0);
	file->xlen = head[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	if (is_wide(file))
		err = read_all(file->src, n, head + n, sizeof head - n, diag);
	if (err)
		return err;
	hf_elf_Ehdr_get(head, is_wide(file), ret_ehdr);
	if (ret_ehdr->e_type == ET_REL)
		return fail(diag, HF_ERR_ELF_RELOCATABLE, HF_NOWHERE);
	if (ret_ehdr->e_type != ET_EXEC && ret_ehdr->e_type != ET_DYN)
		return fail(diag, HF_ERR_UNSUPPORTED, offsetof(Elf64_Ehdr, e_type));
	file->type = ret_ehdr->e_type;
	file->machine = ret_ehdr->e_machine;
	file->flags = ret_ehdr->e_flags;
	file->entry = ret_ehdr->e_entry;
	file->section_offset = ret_ehdr->e_shoff;
	file->section_count = ret_ehdr->e_shnum;
	file->section_row = ret_ehdr->e_shentsize;
	file->section_names = ret_ehdr->e_shstrndx;
	return 0;
}

/* offset: of the program header, for *diag. */
static int add_segment(struct hf_elf_file *file, const Elf64_Phdr *phdr, uint64_t offset, struct hf_diag *diag)
{
	const uint64_t top = is_wide(file) ? UINT64_MAX : UINT32_MAX;

	if (phdr->p_type != PT_LOAD || phdr->p_filesz == 0)
		return 0;
	if (!within(phdr->p_offset, phdr->p_filesz, file->src->size))
		return fail(diag, HF_ERR_TRUNCATED, offset);
	if (phdr->p_memsz < phdr->p_filesz || phdr->p_memsz - 1 > top - phdr->p_vaddr)
		return fail(diag, HF_ERR_CORRUPT, offset);
	file->segments[file->segment_count++] = (struct hf_elf_segment){
		.address = phdr->p_vaddr,
		.size = phdr->p_filesz,
		.memory_size = phdr->p_memsz,
		.offset = phdr->p_offset,
		.flags = phdr->p_flags,
	};
	return 0;
}

static int read_segments(struct hf_elf_file *file, const Elf64_Ehdr *ehdr, struct hf_diag *diag)
{
	const size_t row = hf_elf_Phdr_size(is_wide(file)), n = ehdr->e_phnum;
	uint8_t *table;
	int err;

	if (n == 0)
		return 0;
	if (ehdr->e_phentsize != row)
		return fail(diag, HF_ERR_CORRUPT, 0);
	/* More segments would be told by section 0; no program has as many. */
	if (n == PN_XNUM)
		return fail(diag, HF_ERR_UNSUPPORTED, 0);
	if (!within(ehdr->e_phoff, n * row, file->src->size))
		return fail(diag, HF_ERR_TRUNCATED, ehdr->e_phoff);
	file->segments = calloc(n, sizeof *file->segments);
	table = malloc(n * row);
	err = file->segments && table ? read_all(file->src, ehdr->e_phoff, table, n * row, diag) :
					hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_STREAM, HF_NOWHERE, 0);
	for (size_t i = 0; i < n && !err; i++) {
		Elf64_Phdr phdr;

		hf_elf_Phdr_get(table + i * row, is_wide(file), &phdr);
		err = add_segment(file, &phdr, ehdr->e_phoff + i * row, diag);
	}
	free(table);
	return err;
}

int hf_elf_file_open(struct hf_src *src, struct hf_elf_file *ret_file, struct hf_diag *diag)
{
	Elf64_Ehdr ehdr = {0};
	int err;

	*ret_file = (struct hf_elf_file){.src = src};
	err = read_ehdr(ret_file, &ehdr, diag);
	if (!err)
		err = read_segments(ret_file, &ehdr, diag);
	if (err)
		hf_elf_file_close(ret_file);
	return err;
}

int hf_elf_file_open_sections(struct hf_src *src, struct hf_elf_file *ret_file, struct hf_diag *diag)
{
	Elf64_Ehdr ehdr = {0};

	*ret_file = (struct hf_elf_file){.src = src};
	return read_ehdr(ret_file, &ehdr, diag);
}

bool hf_elf_file_address_of(const struct hf_elf_file *file, uint64_t offset, uint64_t *ret_address)
{
	enum { PAGE_MAX = 0x10000 };

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct hf_elf_segment *segment = &file->segments[i];

		if (offset + PAGE_MAX > segment->offset && offset < segment->offset + segment->size && segment->flags & HF_ELF_X) {
			*ret_address = segment->address + (offset - segment->offset);
			return true;
		}
	}
	return false;
}

void hf_elf_file_close(struct hf_elf_file *file)
{
	free(file->segments);
	*file = (struct hf_elf_file){0};
}

/* ---- symbols ---- */

/* What a walk over the symbols holds. */
struct walk {
	const struct hf_elf_file *file;
	hf_elf_symbol_fn fn;
	void *ctx;
	const char *only; /* the one name that is wanted, of any type; NULL: see is_wanted */
	struct hf_diag *diag;
	Elf64_Shdr *sections;
	size_t section_count;
	char *names; /* of symbols; a zero byte ends it */
	uint64_t names_size;
	uint8_t *piece; /* of the table */
	uint8_t *versions; /* of its symbols, two bytes each; NULL: there are none */
	uint64_t version_count;
};

/* How many sections there are: what e_shnum cannot hold is the size of the first one (ELF, e_shnum). */
static int count_sections(struct walk *walk)
{
	const struct hf_elf_file *file = walk->file;
	uint8_t first[sizeof(Elf64_Shdr)];
	Elf64_Shdr shdr = {0};
	int err;

	if (file->section_row < hf_elf_Shdr_size(is_wide(file)))
		return fail(walk->diag, HF_ERR_CORRUPT, file->section_offset);
	walk->section_count = file->section_count;
	if (walk->section_count)
		return 0;
	err = read_all(file->src, file->section_offset, first, hf_elf_Shdr_size(is_wide(file)), walk->diag);
	if (err)
		return err;
	hf_elf_Shdr_get(first, is_wide(file), &shdr);
	if (shdr.sh_size > HF_ELF_SECTIONS_MAX)
		return fail(walk->diag, HF_ERR_ELF_LIMIT, file->section_offset);
	walk->section_count = (size_t)shdr.sh_size;
	return 0;
}

static int load_sections(struct walk *walk)
{
	const struct hf_elf_file *file = walk->file;
	const size_t row = file->section_row, n = walk->section_count;
	uint8_t *table;
	int err;

	if (n == 0)
		return 0;
	if (!within(file->section_offset, n * row, file->src->size))
		return fail(walk->diag, HF_ERR_TRUNCATED, file->section_offset);
	walk->sections = calloc(n, sizeof *walk->sections);
	table = malloc(n * row);
	err = walk->sections && table ? read_all(file->src, file->section_offset, table, n * row, walk->diag) :
					fail(walk->diag, HF_ERR_NOMEM, HF_NOWHERE);
	for (size_t i = 0; i < n && !err; i++)
		hf_elf_Shdr_get(table + i * row, is_wide(file), &walk->sections[i]);
	free(table);
	return err;
}

/* The first section of a type, or NULL. */
static const Elf64_Shdr *find_section(const struct walk *walk, uint32_t type)
{
	for (size_t i = 0; i < walk->section_count; i++)
		if (walk->sections[i].sh_type == type)
			return &walk->sections[i];
	return NULL;
}

static uint64_t place_of(const struct walk *walk, const Elf64_Shdr *section)
{
	return walk->file->section_offset + (uint64_t)(section - walk->sections) * walk->file->section_row;
}

static int load_names(struct walk *walk, const Elf64_Shdr *symtab)
{
	const Elf64_Shdr *strtab;

	if (symtab->sh_link >= walk->section_count)
		return fail(walk->diag, HF_ERR_CORRUPT, place_of(walk, symtab));
	strtab = &walk->sections[symtab->sh_link];
	if (strtab->sh_type != SHT_STRTAB || !within(strtab->sh_offset, strtab->sh_size, walk->file->src->size))
		return fail(walk->diag, HF_ERR_CORRUPT, place_of(walk, strtab));
	if (strtab->sh_size > HF_ELF_STRINGS_MAX)
		return fail(walk->diag, HF_ERR_ELF_LIMIT, place_of(walk, strtab));
	walk->names_size = strtab->sh_size;
	walk->names = malloc((size_t)strtab->sh_size + 1);
	if (!walk->names)
		return fail(walk->diag, HF_ERR_NOMEM, HF_NOWHERE);
	walk->names[strtab->sh_size] = 0;
	return read_all(walk->file->src, strtab->sh_offset, walk->names, (size_t)strtab->sh_size, walk->diag);
}

/* "$x", "$d.12", "$xrv64i2p1_...": RISC-V psABI, AAELF64, AAELF32; no name of a program's own. */
static bool is_mapping(const char *name)
{
	if (name[0] != '$' || !name[1] || !strchr("xdat", name[1]))
		return false;
	return name[2] == 0 || name[2] == '.' || (name[1] == 'x' && strncmp(name + 2, "rv", 2) == 0);
}

/* NULL for a symbol of no section: SHN_ABS, or one that does not exist. */
static const Elf64_Shdr *section_of(const struct walk *walk, const Elf64_Sym *sym)
{
	return sym->st_shndx < walk->section_count ? &walk->sections[sym->st_shndx] : NULL;
}

static bool is_wanted(const struct walk *walk, const Elf64_Sym *sym)
{
	const unsigned type = ELF64_ST_TYPE(sym->st_info);
	const Elf64_Shdr *section = section_of(walk, sym);

	if (sym->st_shndx == SHN_UNDEF || sym->st_name >= walk->names_size || !walk->names[sym->st_name])
		return false;
	if (walk->only)
		return strcmp(walk->names + sym->st_name, walk->only) == 0;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && section && section->sh_flags & SHF_EXECINSTR &&
	       !is_mapping(walk->names + sym->st_name);
}

/* What the linker writes behind the name of a symbol of .symtab, "@VERSION" or "@@VERSION"; NULL: nothing, or its place
 * is further behind than names are looked at. */
static char *version_of(const struct walk *walk, const Elf64_Sym *sym)
{
	char *name = walk->names + sym->st_name;

	return *name == '@' ? NULL : memchr(name, '@', strnlen(name, NAME_LOOKED_AT));
}

/* Whether that symbol of the table is not what a program that is linked today gets by this name: the version of it is
 * hidden (LSB, Symbol Version Table). */
static bool is_old(const struct walk *walk, const char *version, uint64_t number)
{
	if (number < walk->version_count)
		return hf_get16(walk->versions + 2 * number) & VERSION_HIDDEN;
	return version && version[1] != '@';
}

static int give(const struct walk *walk, const Elf64_Sym *sym, uint64_t number)
{
	const Elf64_Shdr *section = section_of(walk, sym);
	char *version = version_of(walk, sym);
	struct hf_elf_symbol symbol = {
		.address = sym->st_value,
		.size = sym->st_size,
		.name = walk->names + sym->st_name,
		.end = section ? section->sh_addr + section->sh_size : 0,
		.function = ELF64_ST_TYPE(sym->st_info) != STT_NOTYPE,
		.indirect = ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC,
		.local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL,
		.weak = ELF64_ST_BIND(sym->st_info) == STB_WEAK,
		.old = is_old(walk, version, number),
	};

	/* What is used is known without its version. */
	if (version && version[1] == '@')
		*version = 0;
	/* AAELF32 5.5.3: bit 0 of a function's value says that it is T32 code. */
	if (walk->file->machine == EM_ARM && symbol.function)
		symbol.address &= ~UINT64_C(1);
	return walk->fn(walk->ctx, &symbol);
}

static int walk_table(struct walk *walk, const Elf64_Shdr *symtab)
{
	const size_t row = hf_elf_Sym_size(is_wide(walk->file)), rows = PIECE / row;
	const uint64_t count = symtab->sh_size / row;

	if (count > HF_ELF_SYMBOLS_MAX)
		return fail(walk->diag, HF_ERR_ELF_LIMIT, place_of(walk, symtab));
	if (!within(symtab->sh_offset, symtab->sh_size, walk->file->src->size))
		return fail(walk->diag, HF_ERR_CORRUPT, place_of(walk, symtab));
	for (uint64_t first = 0; first < count; first += rows) {
		size_t n = count - first < rows ? (size_t)(count - first) : rows;
		int err = read_all(walk->file->src, symtab->sh_offset + first * row, walk->piece, n * row, walk->diag);

		for (size_t i = 0; i < n && !err; i++) {
			Elf64_Sym sym;

			hf_elf_Sym_get(walk->piece + i * row, is_wide(walk->file), &sym);
			if (is_wanted(walk, &sym))
				err = give(walk, &sym, first + i);
		}
		if (err)
			return err;
	}
	return 0;
}

/* Those of the dynamic symbols. What is damaged tells nothing. */
static int load_versions(struct walk *walk)
{
	const Elf64_Shdr *section = find_section(walk, SHT_GNU_versym);
	const uint64_t size = section ? section->sh_size : 0;
	int err;

	if (!size || !within(section->sh_offset, size, walk->file->src->size) || size / 2 > HF_ELF_SYMBOLS_MAX)
		return 0;
	walk->versions = malloc((size_t)size);
	if (!walk->versions)
		return fail(walk->diag, HF_ERR_NOMEM, HF_NOWHERE);
	err = read_all(walk->file->src, section->sh_offset, walk->versions, (size_t)size, walk->diag);
	walk->version_count = size / 2;
	return err;
}

static int walk_file(struct walk *walk)
{
	const Elf64_Shdr *symtab;
	int err = count_sections(walk);

	if (!err)
		err = load_sections(walk);
	if (err)
		return err;
	symtab = find_section(walk, SHT_SYMTAB);
	if (!symtab)
		symtab = find_section(walk, SHT_DYNSYM);
	if (!symtab)
		return 0;
	err = load_names(walk, symtab);
	if (!err && symtab->sh_type == SHT_DYNSYM)
		err = load_versions(walk);
	if (err)
		return err;
	walk->piece = malloc(PIECE);
	if (!walk->piece)
		return fail(walk->diag, HF_ERR_NOMEM, HF_NOWHERE);
	return walk_table(walk, symtab);
}

static int walk_symbols(struct walk *walk)
{
	int err = walk->file->section_offset ? walk_file(walk) : 0;

	free(walk->sections);
	free(walk->names);
	free(walk->piece);
	free(walk->versions);
	return err;
}

int hf_elf_file_symbols(const struct hf_elf_file *file, hf_elf_symbol_fn fn, void *ctx, struct hf_diag *diag)
{
	struct walk walk = {.file = file, .fn = fn, .ctx = ctx, .diag = diag};

	return walk_symbols(&walk);
}

/* max: of its bytes. */
static int read_section(const struct walk *walk, const Elf64_Shdr *section, size_t max, uint8_t **ret_bytes)
{
	uint8_t *bytes;
	int err;

	if (!within(section->sh_offset, section->sh_size, walk->file->src->size))
		return fail(walk->diag, HF_ERR_CORRUPT, place_of(walk, section));
	if (section->sh_size > max)
		return fail(walk->diag, HF_ERR_ELF_LIMIT, place_of(walk, section));
	bytes = malloc((size_t)section->sh_size + 1);
	if (!bytes)
		return fail(walk->diag, HF_ERR_NOMEM, HF_NOWHERE);
	err = read_all(walk->file->src, section->sh_offset, bytes, (size_t)section->sh_size, walk->diag);
	if (err)
		free(bytes);
	else
		*ret_bytes = bytes;
	return err;
}

/* ---- stubs of the procedure linkage table ---- */

enum { PLT_HEADER = 32, PLT_STUB = 16, PLT_STUB_MAX = 64, PLT_BYTES_MAX = 64 << 20 };

/* The first section of that name, or NULL; names: of sections, a zero byte behind them. */
static const Elf64_Shdr *section_named(const struct walk *walk, const uint8_t *names, size_t size, const char *name)
{
	for (size_t i = 0; i < walk->section_count; i++)
		if (walk->sections[i].sh_name < size &&
		    strcmp((const char *)names + walk->sections[i].sh_name, name) == 0)
			return &walk->sections[i];
	return NULL;
}

static int load_section(const struct walk *walk, size_t index, uint8_t **ret_bytes, size_t *ret_size)
{
	int err;

	*ret_bytes = NULL;
	if (index >= walk->section_count)
		return fail(walk->diag, HF_ERR_CORRUPT, HF_NOWHERE);
	err = read_section(walk, &walk->sections[index], PLT_BYTES_MAX, ret_bytes);
	if (err)
		return err;
	*ret_size = (size_t)walk->sections[index].sh_size;
	(*ret_bytes)[*ret_size] = 0;
	return 0;
}

static bool is_jump_slot(const struct hf_elf_file *file, uint32_t type)
{
	if (file->machine == EM_RISCV)
		return type == R_RISCV_JUMP_SLOT || type == RISCV_IRELATIVE;
	return type == R_AARCH64_JUMP_SLOT || type == AARCH64_IRELATIVE;
}

/* What the stubs are made of. */
struct plt {
	const struct walk *walk;
	const Elf64_Shdr *section;
	uint8_t *relocations, *symbols, *strings;
	size_t relocations_size, symbols_size, strings_size;
};

/* The name of the symbol with that number, or NULL. */
static const char *plt_name(const struct plt *plt, uint64_t number)
{
	const bool wide = is_wide(plt->walk->file);
	const size_t row = hf_elf_Sym_size(wide);
	Elf64_Sym sym;

	if (number >= plt->symbols_size / row)
		return NULL;
	hf_elf_Sym_get(plt->symbols + number * row, wide, &sym);
	return sym.st_name < plt->strings_size ? (const char *)plt->strings + sym.st_name : NULL;
}

static int give_stub(const struct plt *plt, const Elf64_Rela *rela, uint64_t address, uint64_t size)
{
	const uint64_t number = is_wide(plt->walk->file) ? rela->r_info >> 32 : rela->r_info >> 8;
	const char *name = number ? plt_name(plt, number) : "";
	char text[512];

	if (!name)
		return 0;
	if (number)
		snprintf(text, sizeof text, "%.500s@plt", name);
	else
		snprintf(text, sizeof text, "*ABS*+0x%" PRIx64 "@plt", (uint64_t)rela->r_addend);
	return plt->walk->fn(plt->walk->ctx,
			     &(struct hf_elf_symbol){.address = address,
						     .size = size,
						     .name = text,
						     .end = plt->section->sh_addr + plt->section->sh_size,
						     .function = true,
						     .chooser = number ? 0 : (uint64_t)rela->r_addend,
						     .local = true});
}

/* The n-th stub belongs to the n-th relocation that fills a slot; the stubs share the table evenly, behind the first
 * entry, which is there if one of them names a symbol that the dynamic linker finds. */
static int give_stubs(const struct plt *plt)
{
	const bool wide = is_wide(plt->walk->file);
	const size_t row = hf_elf_Rela_size(wide), rows = plt->relocations_size / row;
	uint64_t count = 0, size, address = plt->section->sh_addr, header = 0;
	int err = 0;

	for (int pass = 0; pass < 2 && !err; pass++) {
		size = count && plt->section->sh_size > header ? (plt->section->sh_size - header) / count : 0;
		address += pass ? header : 0;
		if (pass && (size < PLT_STUB || size > PLT_STUB_MAX || size % 4))
			return 0;
		for (size_t i = 0; i < rows && !err; i++) {
			Elf64_Rela rela;

			hf_elf_Rela_get(plt->relocations + i * row, wide, &rela);
			if (!is_jump_slot(plt->walk->file, (uint32_t)(wide ? rela.r_info : rela.r_info & 0xff)))
				continue;
			count += !pass;
			header = (wide ? rela.r_info >> 32 : rela.r_info >> 8) ? PLT_HEADER : header;
			if (pass) {
				err = give_stub(plt, &rela, address, size);
				address += size;
			}
		}
	}
	return err;
}

static int load_plt(struct plt *plt, const Elf64_Shdr *relocations)
{
	const struct walk *walk = plt->walk;
	const size_t symtab = relocations->sh_link;
	int err = load_section(walk, (size_t)(relocations - walk->sections), &plt->relocations, &plt->relocations_size);

	if (!err)
		err = load_section(walk, symtab, &plt->symbols, &plt->symbols_size);
	if (!err)
		err = load_section(walk, walk->sections[symtab].sh_link, &plt->strings, &plt->strings_size);
	return err;
}

static int walk_plt(const struct walk *walk)
{
	struct plt plt = {.walk = walk};
	const Elf64_Shdr *relocations;
	uint8_t *names;
	size_t size;
	int err = load_section(walk, walk->file->section_names, &names, &size);

	if (err)
		return err;
	plt.section = section_named(walk, names, size, ".plt");
	relocations = section_named(walk, names, size, ".rela.plt");
	free(names);
	if (!plt.section || !relocations)
		return 0;
	err = load_plt(&plt, relocations);
	if (!err)
		err = give_stubs(&plt);
	free(plt.relocations);
	free(plt.symbols);
	free(plt.strings);
	return err;
}

int hf_elf_file_plt(const struct hf_elf_file *file, hf_elf_symbol_fn fn, void *ctx, struct hf_diag *diag)
{
	struct walk walk = {.file = file, .fn = fn, .ctx = ctx, .diag = diag};
	int err;

	if (!file->section_offset || (file->machine != EM_RISCV && file->machine != EM_AARCH64))
		return 0;
	err = count_sections(&walk);
	if (!err)
		err = load_sections(&walk);
	if (!err)
		err = walk_plt(&walk);
	free(walk.sections);
	/* Names of stubs are a bonus: without them the others stay. */
	return err == HF_ERR_CORRUPT || err == HF_ERR_ELF_LIMIT ? 0 : err;
}

/* ---- one symbol ---- */

static int take_value(void *ctx, const struct hf_elf_symbol *symbol)
{
	*(uint64_t *)ctx = symbol->address;
	return 1;
}

int hf_elf_file_symbol(const struct hf_elf_file *file, const char *name, uint64_t *ret_value, struct hf_diag *diag)
{
	struct walk walk = {.file = file, .fn = take_value, .ctx = ret_value, .only = name, .diag = diag};
	const int err = walk_symbols(&walk);

	if (err == 1)
		return 0;
	return err ? err : fail(diag, HF_ERR_NOT_FOUND, HF_NOWHERE);
}

/* ---- other sections ---- */

int hf_elf_file_section(const struct hf_elf_file *file, uint32_t type, size_t max, uint8_t **ret_bytes,
			size_t *ret_size, struct hf_diag *diag)
{
	struct walk walk = {.file = file, .diag = diag};
	const Elf64_Shdr *section;
	int err;

	*ret_bytes = NULL;
	*ret_size = 0;
	if (!file->section_offset)
		return 0;
	err = count_sections(&walk);
	err = err ? err : load_sections(&walk);
	section = err ? NULL : find_section(&walk, type);
	if (section)
		err = read_section(&walk, section, max, ret_bytes);
	if (section && !err)
		*ret_size = (size_t)section->sh_size;
	free(walk.sections);
	return err;
}

/* A section begins with how and to what size it is compressed. */
static int decompress(const struct walk *walk, size_t max, uint8_t **bytes, size_t *size)
{
	const bool wide = is_wide(walk->file);
	const size_t head = wide ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	uint64_t whole;
	uint8_t *out;
	uLongf got;
	bool good;

	if (*size < head)
		return fail(walk->diag, HF_ERR_CORRUPT, HF_NOWHERE);
	whole = wide ? hf_get64(*bytes + 8) : hf_get32(*bytes + 4);
	if (whole > max)
		return fail(walk->diag, HF_ERR_ELF_LIMIT, HF_NOWHERE);
	out = malloc((size_t)whole + 1);
	if (!out)
		return fail(walk->diag, HF_ERR_NOMEM, HF_NOWHERE);
	got = (uLongf)whole;
	if (hf_get32(*bytes) == ELFCOMPRESS_ZLIB)
		good = uncompress(out, &got, *bytes + head, (uLong)(*size - head)) == Z_OK && got == whole;
	else
		good = hf_get32(*bytes) == COMPRESS_ZSTD &&
		       ZSTD_decompress(out, (size_t)whole, *bytes + head, *size - head) == whole;
	free(*bytes);
	*bytes = out;
	*size = (size_t)whole;
	out[whole] = 0;
	return good ? 0 : fail(walk->diag, HF_ERR_CORRUPT, HF_NOWHERE);
}

static int read_named(const struct walk *walk, const char *name, size_t max, uint8_t **ret_bytes, size_t *ret_size)
{
	const Elf64_Shdr *section;
	uint8_t *names;
	size_t size;
	int err = load_section(walk, walk->file->section_names, &names, &size);

	if (err)
		return err;
	section = section_named(walk, names, size, name);
	free(names);
	if (!section || section->sh_type == SHT_NOBITS)
		return 0;
	err = read_section(walk, section, max, ret_bytes);
	if (err)
		return err;
	*ret_size = (size_t)section->sh_size;
	(*ret_bytes)[*ret_size] = 0;
	return section->sh_flags & SHF_COMPRESSED ? decompress(walk, max, ret_bytes, ret_size) : 0;
}

int hf_elf_file_named(const struct hf_elf_file *file, const char *name, size_t max, uint8_t **ret_bytes,
		      size_t *ret_size, struct hf_diag *diag)
{
	struct walk walk = {.file = file, .diag = diag};
	int err;

	*ret_bytes = NULL;
	*ret_size = 0;
	if (!file->section_offset || !file->section_names)
		return 0;
	err = count_sections(&walk);
	err = err ? err : load_sections(&walk);
	err = err ? err : read_named(&walk, name, max, ret_bytes, ret_size);
	free(walk.sections);
	if (err) {
		free(*ret_bytes);
		*ret_bytes = NULL;
		*ret_size = 0;
	}
	return err;
}
