/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of ELF files made here, in both classes; and as the listing shows them. */
#include "codecs/codec.h"
#include "codecs/image/errors.h"
#include "codecs/image/symbols.h"
#include "codecs/views.h"
#include "tests/lib/check.h"

#include <elf.h>

extern const struct hf_codec hf_codec_stf;

/* The file: header, section headers, symbols, strings. */
struct image64 {
	Elf64_Ehdr header;
	Elf64_Shdr section[5];
	Elf64_Sym symbol[24];
	char strings[512];
};

struct image32 {
	Elf32_Ehdr header;
	Elf32_Shdr section[5];
	Elf32_Sym symbol[24];
	char strings[512];
};

enum { TEXT = 1, RODATA, SYMTAB, STRTAB };

static const struct {
	const char *name;
	uint64_t value, size;
	uint8_t type, bind;
	uint16_t section;
} symbols[] = {
	{"main", 0x1000, 0x20, STT_FUNC, STB_GLOBAL, TEXT},
	{"inner_label", 0x1008, 0, STT_NOTYPE, STB_LOCAL, TEXT},   /* inside main: not a place of its own */
	{"$x", 0x1000, 0, STT_NOTYPE, STB_LOCAL, TEXT},
	{".L12", 0x1010, 0, STT_NOTYPE, STB_LOCAL, TEXT},
	{"alias", 0x1000, 0x20, STT_FUNC, STB_LOCAL, TEXT},        /* global names win */
	{"alias", 0x1000, 0x18, STT_FUNC, STB_LOCAL, TEXT},        /* each name once */
	{"_start", 0x1030, 0, STT_NOTYPE, STB_GLOBAL, TEXT},       /* up to the next symbol */
	{"bad name<1>\n", 0x1040, 0x100, STT_FUNC, STB_GLOBAL, TEXT},
	{"cuts", 0x1060, 0x10, STT_FUNC, STB_GLOBAL, TEXT},        /* overlaps: the one before ends here */
	{"tail", 0x1080, 0, STT_FUNC, STB_GLOBAL, TEXT},           /* up to the next symbol */
	{".dot", 0x10c0, 0x10, STT_FUNC, STB_LOCAL, TEXT},
	{".entry", 0x10d0, 0, STT_NOTYPE, STB_LOCAL, TEXT},
	{"$cash", 0x10e0, 0x10, STT_FUNC, STB_LOCAL, TEXT},
	{"table", 0x2000, 0x10, STT_OBJECT, STB_GLOBAL, RODATA},
	{"text_in_data", 0x2010, 0, STT_NOTYPE, STB_GLOBAL, RODATA},
	{"missing", 0x3000, 8, STT_FUNC, STB_GLOBAL, SHN_UNDEF},
	{"absolute", 0x3000, 8, STT_FUNC, STB_GLOBAL, SHN_ABS},
	{"wraps", UINT64_MAX - 8, 16, STT_FUNC, STB_GLOBAL, TEXT},
	{"", 0x10a0, 8, STT_FUNC, STB_GLOBAL, TEXT},
};

#define SYMBOLS (sizeof symbols / sizeof symbols[0])

/* The same statements fill both classes. */
#define FILL(image, bits) \
	do { \
		char *name = (image)->strings + 1; \
		memset(image, 0, sizeof *(image)); \
		memcpy((image)->header.e_ident, ELFMAG, SELFMAG); \
		(image)->header.e_ident[EI_CLASS] = ELFCLASS##bits; \
		(image)->header.e_ident[EI_DATA] = ELFDATA2LSB; \
		(image)->header.e_type = ET_EXEC; \
		(image)->header.e_machine = EM_RISCV; \
		(image)->header.e_shoff = sizeof (image)->header; \
		(image)->header.e_shentsize = sizeof (image)->section[0]; \
		(image)->header.e_shnum = 5; \
		(image)->section[TEXT].sh_type = SHT_PROGBITS; \
		(image)->section[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR; \
		(image)->section[TEXT].sh_addr = 0x1000; \
		(image)->section[TEXT].sh_size = 0x100; \
		(image)->section[RODATA].sh_type = SHT_PROGBITS; \
		(image)->section[RODATA].sh_flags = SHF_ALLOC; \
		(image)->section[RODATA].sh_addr = 0x2000; \
		(image)->section[RODATA].sh_size = 0x100; \
		(image)->section[SYMTAB].sh_type = SHT_SYMTAB; \
		(image)->section[SYMTAB].sh_link = STRTAB; \
		(image)->section[SYMTAB].sh_offset = (uint##bits##_t)((char *)(image)->symbol - (char *)(image)); \
		(image)->section[SYMTAB].sh_size = sizeof (image)->symbol; \
		(image)->section[STRTAB].sh_type = SHT_STRTAB; \
		(image)->section[STRTAB].sh_offset = (uint##bits##_t)((image)->strings - (char *)(image)); \
		(image)->section[STRTAB].sh_size = sizeof (image)->strings; \
		for (size_t i = 0; i < SYMBOLS; i++) { \
			(image)->symbol[i + 1].st_name = (uint32_t)(name - (image)->strings); \
			(image)->symbol[i + 1].st_value = (uint##bits##_t)symbols[i].value; \
			(image)->symbol[i + 1].st_size = (uint##bits##_t)symbols[i].size; \
			(image)->symbol[i + 1].st_shndx = symbols[i].section; \
			(image)->symbol[i + 1].st_info = (uint8_t)(symbols[i].bind << 4 | symbols[i].type); \
			name = stpcpy(name, symbols[i].name) + 1; \
		} \
	} while (0)

static int load(const void *bytes, size_t size, uint64_t bias, struct hf_symbols **ret)
{
	struct hf_diag diag;
	struct hf_src *src;
	int err;

	CHECK_EQ(hf_src_memory_new(bytes, size, &src), 0);
	err = hf_symbols_new(src, bias, HF_SYMBOLS_DEMANGLE, ret, &diag);
	hf_src_free(src);
	return err;
}

static void check_at(const struct hf_symbols *table, uint64_t pc, const char *name, uint64_t offset)
{
	const struct hf_symbol *symbol = hf_symbols_at(table, pc);

	CHECK_STR(symbol ? symbol->name : "none", name);
	CHECK_EQ(symbol ? pc - symbol->start : 0, offset);
}

static void check_table(const struct hf_symbols *table, uint64_t bias)
{
	check_at(table, bias + 0xfff, "none", 0);
	check_at(table, bias + 0x1000, "main", 0);
	check_at(table, bias + 0x101f, "main", 0x1f);
	check_at(table, bias + 0x1020, "none", 0);
	check_at(table, bias + 0x1030, "_start", 0);
	check_at(table, bias + 0x103f, "_start", 0xf);
	check_at(table, bias + 0x1044, "bad name<1>?", 4);
	check_at(table, bias + 0x1060, "cuts", 0);
	check_at(table, bias + 0x1070, "none", 0);
	check_at(table, bias + 0x10bf, "tail", 0x3f);
	check_at(table, bias + 0x10c4, ".dot", 4);
	check_at(table, bias + 0x10d4, ".entry", 4);
	check_at(table, bias + 0x10e4, "$cash", 4);
	check_at(table, bias + 0x1100, "none", 0);
	check_at(table, bias + 0x2000, "none", 0);
	check_at(table, bias + 0x2010, "none", 0);
	check_at(table, bias + 0x3000, "none", 0);
}

/* Names that give none of the places are found all the same, but not labels within functions. */
static void check_alias(const struct hf_symbols *table)
{
	const struct hf_symbol *symbol = NULL;
	unsigned aliases = 0;

	while ((symbol = hf_symbols_next(table, symbol))) {
		CHECK(strcmp(symbol->name, "inner_label") != 0);
		aliases += strcmp(symbol->name, "alias") == 0 && symbol->start == 0x1000;
	}
	CHECK_EQ(aliases, 1);
}

static void test_classes(void)
{
	static struct image64 wide;
	static struct image32 narrow;
	struct hf_symbols *table;

	FILL(&wide, 64);
	CHECK_EQ(load(&wide, sizeof wide, 0, &table), 0);
	CHECK_EQ(hf_symbols_count(table), 8);
	check_alias(table);
	check_table(table, 0);
	hf_symbols_free(table);
	CHECK_EQ(load(&wide, sizeof wide, 0x55550000, &table), 0);
	check_table(table, 0x55550000);
	hf_symbols_free(table);
	FILL(&narrow, 32);
	CHECK_EQ(load(&narrow, sizeof narrow, 0, &table), 0);
	check_table(table, 0);
	hf_symbols_free(table);
}

/* T32 functions have bit 0 set in their value. */
static void test_thumb(void)
{
	static struct image32 narrow;
	struct hf_symbols *table;

	FILL(&narrow, 32);
	narrow.header.e_machine = EM_ARM;
	narrow.symbol[1].st_value |= 1;
	CHECK_EQ(load(&narrow, sizeof narrow, 0, &table), 0);
	check_at(table, 0x1000, "main", 0);
	hf_symbols_free(table);
}

/* Of a name that is too long one sees that it is. */
static void test_long_names(void)
{
	static const unsigned lengths[] = {HF_SYMBOL_NAME_MAX, HF_SYMBOL_NAME_MAX + 1};
	struct hf_symbols *table;
	struct image64 image;
	char expected[HF_SYMBOL_NAME_MAX + 1] = "";

	for (unsigned k = 0; k < 2; k++) {
		FILL(&image, 64);
		memset(image.strings + 256, 'n', lengths[k]);
		image.symbol[1].st_name = 256; /* main */
		memset(expected, 'n', HF_SYMBOL_NAME_MAX);
		if (k)
			memcpy(expected + HF_SYMBOL_NAME_MAX - 3, "...", 3);
		CHECK_EQ(load(&image, sizeof image, 0, &table), 0);
		check_at(table, 0x1000, expected, 0);
		/* shorter ones, whatever follows them */
		check_at(table, 0x1030, "_start", 0);
		check_at(table, 0x1080, "tail", 0);
		hf_symbols_free(table);
	}
}

/* Of two symbols at one place the first gives it the name: perf's order. */
static const struct {
	const char *name;
	uint64_t size;
	uint8_t type, bind;
} pairs[][2] = {
	{{"sized", 8, STT_FUNC, STB_LOCAL}, {"not_sized", 0, STT_FUNC, STB_GLOBAL}},
	{{"__strong", 8, STT_FUNC, STB_LOCAL}, {"bcmp", 8, STT_FUNC, STB_WEAK}},
	{{"__open", 8, STT_FUNC, STB_GLOBAL}, {"secret_name", 8, STT_FUNC, STB_LOCAL}},
	{{"malloc", 8, STT_FUNC, STB_GLOBAL}, {"__libc_malloc", 8, STT_FUNC, STB_GLOBAL}},
	{{"printf", 8, STT_FUNC, STB_GLOBAL}, {"_IO_printf", 8, STT_FUNC, STB_GLOBAL}},
	{{"memmove", 8, STT_GNU_IFUNC, STB_GLOBAL}, {"move", 8, STT_FUNC, STB_GLOBAL}},
	{{"_function", 0, STT_GNU_IFUNC, STB_WEAK}, {"label", 8, STT_NOTYPE, STB_GLOBAL}},
	{{"aa", 8, STT_FUNC, STB_GLOBAL}, {"bb", 16, STT_FUNC, STB_GLOBAL}},
	{{"free", 8, STT_FUNC, STB_GLOBAL}, {"cfree@GLIBC_2.17", 8, STT_FUNC, STB_GLOBAL}},
};

static void fill_pair(struct image64 *image, size_t pair, bool second_first)
{
	FILL(image, 64);
	memset(image->symbol, 0, sizeof image->symbol);
	for (unsigned i = 0; i < 2; i++) {
		const unsigned k = i ^ second_first;

		image->symbol[1 + i] = (Elf64_Sym){.st_name = 1 + 64 * i,
						   .st_value = 0x1000,
						   .st_size = pairs[pair][k].size,
						   .st_shndx = TEXT,
						   .st_info = (uint8_t)(pairs[pair][k].bind << 4 | pairs[pair][k].type)};
		strcpy(image->strings + 1 + 64 * i, pairs[pair][k].name);
	}
}

static void check_pair(const struct hf_symbols *table, const char *first, const char *second)
{
	const struct hf_symbol *symbol = hf_symbols_next(table, NULL);

	check_at(table, 0x1000, first, 0);
	CHECK_EQ(hf_symbols_count(table), 1);
	CHECK(symbol && strcmp(symbol->name, first) == 0);
	symbol = hf_symbols_next(table, symbol);
	CHECK(symbol && strcmp(symbol->name, second) == 0 && symbol->start == 0x1000);
	CHECK(!hf_symbols_next(table, symbol));
}

static void test_order(void)
{
	static struct image64 image;
	struct hf_symbols *table;

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		for (unsigned k = 0; k < 2; k++) {
			fill_pair(&image, i, k);
			CHECK_EQ(load(&image, sizeof image, 0, &table), 0);
			check_pair(table, pairs[i][0].name, pairs[i][1].name);
			hf_symbols_free(table);
		}
}

/* What the linker writes behind a name is not shown of a version that is used. */
static void test_versions(void)
{
	static const uint16_t versions[24] = {0, 0x8002, 2};
	static struct image64 image;
	struct hf_symbols *table;

	fill_pair(&image, 3, false);
	strcpy(image.strings + 1, "malloc@@GLIBC_2.27");
	CHECK_EQ(load(&image, sizeof image, 0, &table), 0);
	check_pair(table, "malloc", "__libc_malloc");
	hf_symbols_free(table);
	/* In .dynsym a table of their own says which are old. */
	fill_pair(&image, 8, true);
	strcpy(image.strings + 1, "cfree");
	image.section[SYMTAB].sh_type = SHT_DYNSYM;
	image.section[RODATA].sh_type = SHT_GNU_versym;
	image.section[RODATA].sh_offset = (uint64_t)(image.strings + 256 - (char *)&image);
	image.section[RODATA].sh_size = sizeof versions;
	memcpy(image.strings + 256, versions, sizeof versions);
	CHECK_EQ(load(&image, sizeof image, 0, &table), 0);
	check_pair(table, "free", "cfree");
	hf_symbols_free(table);
	/* One that lies elsewhere says nothing. */
	image.section[RODATA].sh_offset = sizeof image;
	CHECK_EQ(load(&image, sizeof image, 0, &table), 0);
	check_pair(table, "cfree", "free");
	hf_symbols_free(table);
}

/* A place that both files name keeps its name, and has all others too. */
static void test_join(void)
{
	static struct image64 image;
	struct hf_symbols *all, *more;

	CHECK_EQ(hf_symbols_new_empty(&all), 0);
	fill_pair(&image, 3, false);
	image.symbol[1].st_name = image.symbol[2].st_name;
	for (unsigned k = 0; k < 2; k++) {
		CHECK_EQ(load(&image, sizeof image, 0, &more), 0);
		CHECK_EQ(hf_symbols_join(all, more), 0);
		hf_symbols_free(more);
		fill_pair(&image, 3, false);
	}
	check_pair(all, "__libc_malloc", "malloc");
	hf_symbols_free(all);
}

static void test_bad(void)
{
	static struct image64 wide;
	struct hf_symbols *table;

	FILL(&wide, 64);
	for (size_t size = 0; size < sizeof wide; size++) /* cut anywhere: an error and nothing leaked */
		CHECK(load(&wide, size, 0, &table) < 0);
	wide.header.e_type = ET_REL;
	CHECK_EQ(load(&wide, sizeof wide, 0, &table), HF_ERR_ELF_RELOCATABLE);
	wide.header.e_type = ET_CORE;
	CHECK_EQ(load(&wide, sizeof wide, 0, &table), HF_ERR_UNSUPPORTED);
	FILL(&wide, 64);
	wide.header.e_ident[EI_DATA] = ELFDATA2MSB;
	CHECK_EQ(load(&wide, sizeof wide, 0, &table), HF_ERR_UNSUPPORTED);
	FILL(&wide, 64);
	wide.section[SYMTAB].sh_link = 77;
	CHECK_EQ(load(&wide, sizeof wide, 0, &table), HF_ERR_CORRUPT);
	FILL(&wide, 64);
	wide.section[SYMTAB].sh_size = UINT64_MAX;
	CHECK_EQ(load(&wide, sizeof wide, 0, &table), HF_ERR_ELF_LIMIT);
	FILL(&wide, 64);
	wide.header.e_shoff = 0; /* stripped of everything */
	CHECK_EQ(load(&wide, sizeof wide, 0, &table), 0);
	CHECK_EQ(hf_symbols_count(table), 0);
	check_at(table, 0x1000, "none", 0);
	hf_symbols_free(table);
}

static void test_listing(void)
{
	static const struct hf_stream stream = {.codec = &hf_codec_stf, .info = {.arch = HF_ARCH_RISCV}};
	static const uint64_t pcs[] = {0x1000, 0x1004, 0x1020, 0x1030};
	static struct image64 wide;
	struct hf_symbols *table;
	struct hf_enc_env env;
	struct hf_sink sink;
	struct hf_enc *enc;

	FILL(&wide, 64);
	CHECK_EQ(load(&wide, sizeof wide, 0, &table), 0);
	env = (struct hf_enc_env){.symbols = table};
	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	CHECK_EQ(hf_enc_new(&hf_view_listing, &stream, 0, &env, &enc), 0);
	for (size_t i = 0; i < sizeof pcs / sizeof pcs[0]; i++) {
		struct hf_event ev = {.kind = HF_EVENT_INSN, .flags = HF_EVF_TAKEN,
				      .insn = {.pc = pcs[i], .opcode = 0x13, .size = 4, .target = 8}};

		hf_enc_put(enc, &ev, 1, &sink);
	}
	hf_enc_end(enc, &sink);
	*hf_sink_room(&sink, 1) = 0;
	CHECK_STR((char *)sink.start,
		  "0 ? 0000000000001000 00000013 <main> -> 0000000000000008\n"
		  "1 ? 0000000000001004 00000013 <main+0x4> -> 0000000000000008\n"
		  "2 ? 0000000000001020 00000013 -> 0000000000000008\n"
		  "3 ? 0000000000001030 00000013 <_start> -> 0000000000000008\n");
	hf_enc_free(enc);
	hf_sink_fini_memory(&sink);
	hf_symbols_free(table);
}

int main(void)
{
	test_classes();
	test_thumb();
	test_long_names();
	test_order();
	test_versions();
	test_join();
	test_bad();
	test_listing();
	return 0;
}
