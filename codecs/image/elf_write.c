/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/elf_write.h"

#include "codecs/base/bytes.h"
#include "codecs/base/search.h"
#include "codecs/image/elf_class.h"
#include "codecs/image/elf_debug.h"
#include "codecs/image/pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Not in every <elf.h>: RISC-V psABI, ELF object files. */
#define RISCV_ATTRIBUTES 0x70000003u
#define RISCV_RVC 0x0001u
/* Arm AAELF32 5.2. */
#define ARM_EABI5 0x05000000u

#define NAME_MAX_BYTES 65536u
/* ".text." and 16 digits */
#define TEXT_NAME_MAX 24u

/* Unknown bytes between two runs of one segment: fewer than this. */
#define GAP_MAX HF_IMAGE_PAGE

struct segment {
	uint64_t address, size, offset;
};

/* One of the caller's symbols that lies in segment number section - 1. */
struct chosen {
	size_t index;
	uint32_t section;
};

struct hf_elf {
	const struct hf_image *image;
	const struct hf_elf_symbol *symbols; /* the caller's */
	struct segment *segments;
	size_t segment_count;
	struct chosen *chosen;
	size_t chosen_count, locals;
	uint64_t maps; /* mapping symbols */
	bool wide;     /* ELF64 */
	uint16_t machine;
	uint32_t flags;
	uint64_t entry;
	/* offsets and sizes of what follows the code, in this order */
	uint64_t attributes, attributes_size; /* 0: none */
	struct hf_elf_debug debug;
	uint64_t debug_offset;
	uint64_t symtab, symtab_size;
	uint64_t strtab, strtab_size;
	uint64_t shstrtab, shstrtab_size;
	uint64_t headers; /* of sections */
	uint64_t size;
};

/* ---- names: fixed ones first, so that their offsets are constants ---- */

static const char map_names[] = "\0$x\0$d\0$a\0$t"; /* the end of the literal ends the last one */
enum {
	MAP_CODE = 1, /* RISC-V psABI, mapping symbols; AAELF64 */
	MAP_DATA = 4,
	MAP_ARM = 7, /* AAELF32 5.5.5 */
	MAP_THUMB = 10,
};

static const char section_names[] = "\0.symtab\0.strtab\0.shstrtab\0.riscv.attributes\0.debug_abbrev\0.debug_info"
				    "\0.debug_line\0.debug_ranges\0.text";
enum {
	NAME_SYMTAB = 1,
	NAME_STRTAB = 9,
	NAME_SHSTRTAB = 17,
	NAME_ATTRIBUTES = 27,
	NAME_ABBREV = 45,
	NAME_INFO = 59,
	NAME_LINE = 71,
	NAME_RANGES = 83,
	NAME_TEXT = 97, /* the first segment's; the others have their address behind it */
	NAME_MORE = 103
};

static const uint8_t debug_names[HF_ELF_DEBUG_COUNT] = {
	[HF_ELF_DEBUG_ABBREV] = NAME_ABBREV,
	[HF_ELF_DEBUG_INFO] = NAME_INFO,
	[HF_ELF_DEBUG_LINE] = NAME_LINE,
	[HF_ELF_DEBUG_RANGES] = NAME_RANGES,
};

static_assert(sizeof section_names == NAME_MORE, "the offsets above are those of the string");
static_assert(sizeof map_names == MAP_THUMB + 3, "the offsets above are those of the string");

static unsigned text_name(const struct segment *segment, char name[TEXT_NAME_MAX])
{
	return (unsigned)snprintf(name, TEXT_NAME_MAX, ".text.%" PRIx64, segment->address);
}

/*
 * What disassemblers need to know beyond e_flags, as the RISC-V psABI lays it out ("Attributes"): the extensions whose
 * encodings do not clash. A file without the section is disassembled by LLVM as if the hart had only I.
 */
#define ARCH_NAMES \
	"v1p0_h1p0_zicbom1p0_zicbop1p0_zicboz1p0_zicsr2p0_zifencei2p0_zihintpause2p0_zawrs1p0_zfh1p0_zba1p0_" \
	"zbb1p0_zbc1p0_zbkb1p0_zbkc1p0_zbkx1p0_zbs1p0_zknd1p0_zkne1p0_zknh1p0_zksed1p0_zksh1p0_svinval1p0"
#define ATTRIBUTES_MAX 512u

static size_t make_attributes(const struct hf_elf *elf, uint8_t buf[ATTRIBUTES_MAX])
{
	enum { SIZE = 1, VENDOR = 5, FILE_TAG = 11, FILE_SIZE = 12, ARCH_TAG = 16, ARCH = 17 };
	size_t n = ARCH;

	n += (size_t)snprintf((char *)buf + n, ATTRIBUTES_MAX - n, "rv%di2p1_m2p0_a2p1_f2p2_d2p2_%s" ARCH_NAMES,
			      elf->wide ? 64 : 32, elf->flags & RISCV_RVC ? "c2p0_" : "") + 1;
	buf[0] = 'A';
	hf_put32(buf + SIZE, (uint32_t)(n - SIZE));
	memcpy(buf + VENDOR, "riscv", sizeof "riscv");
	buf[FILE_TAG] = 1;
	hf_put32(buf + FILE_SIZE, (uint32_t)(n - FILE_TAG));
	buf[ARCH_TAG] = 5;
	return n;
}

/* ---- layout ---- */

static uint64_t align_up(uint64_t offset, uint64_t to)
{
	return (offset + to - 1) / to * to;
}

/* Null, one for each segment, perhaps the attributes and the lines, .symtab, .strtab, .shstrtab. */
static unsigned section_count(const struct hf_elf *elf)
{
	return 1 + (unsigned)elf->segment_count + (elf->attributes_size ? 1 : 0) +
	       (elf->debug.bytes ? HF_ELF_DEBUG_COUNT : 0) + 3;
}

/* Both counts fit the 16-bit fields of the header: segments are a page apart, so there are no more than pages. */
static_assert(HF_IMAGE_PAGES_MAX + 5 + HF_ELF_DEBUG_COUNT < SHN_LORESERVE && HF_IMAGE_PAGES_MAX < PN_XNUM, "no extended numbering");

static void choose_machine(struct hf_elf *elf)
{
	const uint32_t isas = hf_image_isas(elf->image);
	const bool riscv = isas & (1u << HF_ISA_RV32 | 1u << HF_ISA_RV64);

	elf->wide = isas & (1u << HF_ISA_RV64 | 1u << HF_ISA_A64);
	if (riscv) {
		elf->machine = EM_RISCV;
		elf->flags = hf_image_narrow(elf->image) ? RISCV_RVC : 0;
	} else {
		elf->machine = elf->wide ? EM_AARCH64 : EM_ARM;
		elf->flags = elf->wide ? 0 : ARM_EABI5;
	}
}

/* Where the hart began. Bit 0 says that it is T32 code (AAELF32 5.3.1). */
static uint64_t entry_of(const struct hf_image *image)
{
	struct hf_image_cursor cursor = {0};
	struct hf_image_run run;
	uint64_t pc;

	if (!hf_image_entry(image, &pc) || !(hf_image_isas(image) & 1u << HF_ISA_T32))
		return pc;
	while (hf_image_next_run(image, &cursor, &run))
		if (pc - run.address < run.size)
			return run.thumb ? pc | 1 : pc;
	return pc;
}

/* Gathers the runs into segments, and counts the mapping symbols: one a run, one a gap. */
static int layout_segments(struct hf_elf *elf)
{
	struct hf_image_cursor cursor = {0};
	struct hf_image_run run;
	struct segment *last = NULL;

	elf->segments = calloc(hf_image_pages(elf->image), sizeof *elf->segments);
	if (!elf->segments)
		return HF_ERR_NOMEM;
	while (hf_image_next_run(elf->image, &cursor, &run)) {
		uint64_t gap = last ? run.address - (last->address + last->size) : GAP_MAX;

		if (gap >= GAP_MAX) {
			last = &elf->segments[elf->segment_count++];
			*last = (struct segment){.address = run.address};
			gap = 0;
		}
		last->size += gap + run.size;
		elf->maps += gap ? 2 : 1;
	}
	return 0;
}

/* File offsets equal addresses modulo the page (ELF, program header: p_align). */
static uint64_t place_segments(struct hf_elf *elf)
{
	uint64_t offset = hf_elf_Ehdr_size(elf->wide) + elf->segment_count * hf_elf_Phdr_size(elf->wide);

	for (size_t i = 0; i < elf->segment_count; i++) {
		struct segment *segment = &elf->segments[i];

		segment->offset = offset + (segment->address - offset) % HF_IMAGE_PAGE;
		offset = segment->offset + segment->size;
	}
	return offset;
}

/* The segment that holds address, numbered from 1; 0 if none. */
static uint32_t section_of(const struct hf_elf *elf, uint64_t address)
{
	const size_t low = HF_COUNT_UP_TO(elf->segments, elf->segment_count, address, address);

	return low && address - elf->segments[low - 1].address < elf->segments[low - 1].size ? (uint32_t)low : 0;
}

/* Chooses symbol i if it lies in a segment. At an odd address no instruction begins, and disassemblers stumble. */
static int choose_symbol(struct hf_elf *elf, size_t i)
{
	uint32_t section = section_of(elf, elf->symbols[i].address);
	size_t n;

	if (!section || elf->symbols[i].address & 1)
		return 0;
	n = strnlen(elf->symbols[i].name, NAME_MAX_BYTES);
	if (n == NAME_MAX_BYTES || elf->strtab_size + n >= UINT32_MAX)
		return HF_ERR_LIMIT;
	elf->strtab_size += n + 1;
	elf->chosen[elf->chosen_count++] = (struct chosen){.index = i, .section = section};
	return 0;
}

/* Locals come first, as the ELF specification wants it (symbol table section, sh_info). */
static int layout_symbols(struct hf_elf *elf, size_t count)
{
	int err = 0;

	elf->strtab_size = sizeof map_names;
	if (count == 0)
		return 0;
	elf->chosen = calloc(count, sizeof *elf->chosen);
	if (!elf->chosen)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < count && !err; i++)
		if (elf->symbols[i].local)
			err = choose_symbol(elf, i);
	elf->locals = elf->chosen_count;
	for (size_t i = 0; i < count && !err; i++)
		if (!elf->symbols[i].local)
			err = choose_symbol(elf, i);
	return err;
}

static void layout_tables(struct hf_elf *elf, uint64_t offset)
{
	char name[TEXT_NAME_MAX];
	uint8_t attributes[ATTRIBUTES_MAX];

	elf->attributes = offset;
	elf->attributes_size = elf->machine == EM_RISCV ? make_attributes(elf, attributes) : 0;
	elf->debug_offset = offset + elf->attributes_size;
	elf->symtab = align_up(elf->debug_offset + elf->debug.offset[HF_ELF_DEBUG_COUNT], 8);
	elf->symtab_size = (1 + elf->maps + elf->chosen_count) * hf_elf_Sym_size(elf->wide);
	elf->strtab = elf->symtab + elf->symtab_size;
	elf->shstrtab = elf->strtab + elf->strtab_size;
	elf->shstrtab_size = sizeof section_names;
	for (size_t i = 1; i < elf->segment_count; i++)
		elf->shstrtab_size += text_name(&elf->segments[i], name) + 1;
	elf->headers = align_up(elf->shstrtab + elf->shstrtab_size, 8);
	elf->size = elf->headers + section_count(elf) * hf_elf_Shdr_size(elf->wide);
}

static int layout_lines(struct hf_elf *elf, const struct hf_symbols *lines)
{
	struct hf_elf_debug_range *range = calloc(elf->segment_count + 1, sizeof *range);
	int err = HF_ERR_NOMEM;

	if (!range)
		return err;
	for (size_t i = 0; i < elf->segment_count; i++)
		range[i] = (struct hf_elf_debug_range){elf->segments[i].address, elf->segments[i].size};
	err = hf_elf_debug_init(elf->image, lines, range, elf->segment_count, elf->wide, &elf->debug);
	free(range);
	return err;
}

static int layout(struct hf_elf *elf, size_t count, const struct hf_symbols *lines)
{
	int err = layout_segments(elf);

	if (!err)
		err = layout_lines(elf, lines);
	if (!err)
		err = layout_symbols(elf, count);
	if (err)
		return err;
	layout_tables(elf, place_segments(elf));
	return elf->wide || elf->size <= UINT32_MAX ? 0 : HF_ERR_LIMIT;
}

int hf_elf_new(const struct hf_image *image, const struct hf_elf_symbol *symbols, size_t count,
	       const struct hf_symbols *lines, struct hf_elf **ret_elf)
{
	struct hf_elf *elf;
	char reason[256];
	int err;

	*ret_elf = NULL;
	if (hf_image_refuses(image, reason, sizeof reason))
		return HF_ERR_UNSUPPORTED;
	elf = calloc(1, sizeof *elf);
	if (!elf)
		return HF_ERR_NOMEM;
	elf->image = image;
	elf->symbols = symbols;
	elf->entry = entry_of(image);
	choose_machine(elf);
	err = layout(elf, count, lines);
	if (err) {
		hf_elf_free(elf);
		return err;
	}
	*ret_elf = elf;
	return 0;
}

void hf_elf_free(struct hf_elf *elf)
{
	if (!elf)
		return;
	hf_elf_debug_fini(&elf->debug);
	free(elf->segments);
	free(elf->chosen);
	free(elf);
}

struct hf_elf_segment *hf_elf_segments(const struct hf_elf *elf, size_t *ret_count)
{
	struct hf_elf_segment *segments = calloc(elf->segment_count + 1, sizeof *segments);

	for (size_t i = 0; segments && i < elf->segment_count; i++)
		segments[i] = (struct hf_elf_segment){
			.address = elf->segments[i].address,
			.size = elf->segments[i].size,
			.memory_size = elf->segments[i].size,
			.offset = elf->segments[i].offset,
			.flags = HF_ELF_R | HF_ELF_X,
		};
	*ret_count = elf->segment_count;
	return segments;
}

size_t hf_elf_lines_memory(const struct hf_elf *elf)
{
	return elf->debug.offset[HF_ELF_DEBUG_COUNT];
}

uint64_t hf_elf_size(const struct hf_elf *elf)
{
	return elf->size;
}

/* ---- writing: every byte goes by in order, those outside of the wanted range are dropped ---- */

struct out {
	struct hf_sink *sink;
	uint64_t at; /* offset in the file */
	uint64_t from, to;
};

/* Passes over n bytes if none of them is wanted. */
static bool skip(struct out *out, uint64_t n)
{
	if (out->at < out->to && out->at + n > out->from)
		return false;
	out->at += n;
	return true;
}

static void emit(struct out *out, const void *data, size_t n)
{
	uint64_t low = out->from > out->at ? out->from - out->at : 0;
	uint64_t high = out->to > out->at ? out->to - out->at : 0;

	if (high > n)
		high = n;
	if (low < high)
		hf_sink_write(out->sink, (const uint8_t *)data + low, (size_t)(high - low));
	out->at += n;
}

/* Zeros up to an offset that is not behind. */
static void emit_zeros(struct out *out, uint64_t to)
{
	static const uint8_t zeros[HF_IMAGE_PAGE];

	if (skip(out, to - out->at))
		return;
	while (out->at < to)
		emit(out, zeros, to - out->at < sizeof zeros ? (size_t)(to - out->at) : sizeof zeros);
}

/* A structure in the class of the file. */
#define EMIT(elf, out, name, from) \
	do { \
		uint8_t bytes[HF_ELF_STRUCTURE_MAX]; \
		const size_t n = hf_elf_##name##_put(&(from), (elf)->wide, bytes); \
\
		emit(out, bytes, n); \
	} while (0)

static void write_ehdr(const struct hf_elf *elf, struct out *out)
{
	const Elf64_Ehdr wide = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, elf->wide ? ELFCLASS64 : ELFCLASS32, ELFDATA2LSB,
			    EV_CURRENT, ELFOSABI_NONE},
		.e_type = ET_EXEC,
		.e_machine = elf->machine,
		.e_version = EV_CURRENT,
		.e_entry = elf->entry,
		.e_phoff = hf_elf_Ehdr_size(elf->wide),
		.e_shoff = elf->headers,
		.e_flags = elf->flags,
		.e_ehsize = (uint16_t)hf_elf_Ehdr_size(elf->wide),
		.e_phentsize = (uint16_t)hf_elf_Phdr_size(elf->wide),
		.e_phnum = (uint16_t)elf->segment_count,
		.e_shentsize = (uint16_t)hf_elf_Shdr_size(elf->wide),
		.e_shnum = (uint16_t)section_count(elf),
		.e_shstrndx = (uint16_t)(section_count(elf) - 1),
	};
	EMIT(elf, out, Ehdr, wide);
}

static void write_phdr(const struct hf_elf *elf, const struct segment *segment, struct out *out)
{
	const Elf64_Phdr wide = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = segment->offset,
		.p_vaddr = segment->address,
		.p_paddr = segment->address,
		.p_filesz = segment->size,
		.p_memsz = segment->size,
		.p_align = HF_IMAGE_PAGE,
	};

	EMIT(elf, out, Phdr, wide);
}

static void write_segment(const struct hf_elf *elf, const struct segment *segment, struct out *out)
{
	uint8_t piece[HF_IMAGE_PAGE];

	emit_zeros(out, segment->offset);
	if (skip(out, segment->size))
		return;
	for (uint64_t at = 0, n; at < segment->size; at += n) {
		n = HF_IMAGE_PAGE - (segment->address + at) % HF_IMAGE_PAGE;
		if (n > segment->size - at)
			n = segment->size - at;
		if (skip(out, n))
			continue;
		hf_image_read(elf->image, segment->address + at, piece, (size_t)n);
		emit(out, piece, (size_t)n);
	}
}

static void write_map(const struct hf_elf *elf, struct out *out, size_t section, uint64_t address, unsigned name)
{
	const Elf64_Sym symbol = {
		.st_name = name,
		.st_value = address,
		.st_info = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE),
		.st_shndx = (uint16_t)section,
	};

	EMIT(elf, out, Sym, symbol);
}

/* The same walk as in layout_segments. A segment's last run needs no $d: its section ends there. */
static void write_maps(const struct hf_elf *elf, struct out *out)
{
	struct hf_image_cursor cursor = {0};
	struct hf_image_run run;
	uint64_t end = 0;
	size_t section = 0;

	if (skip(out, elf->maps * hf_elf_Sym_size(elf->wide)))
		return;
	while (hf_image_next_run(elf->image, &cursor, &run)) {
		if (section == 0 || run.address - end >= GAP_MAX)
			section++;
		else if (run.address != end)
			write_map(elf, out, section, end, MAP_DATA);
		write_map(elf, out, section, run.address,
			  elf->machine != EM_ARM ? MAP_CODE : run.thumb ? MAP_THUMB : MAP_ARM);
		end = run.address + run.size;
	}
}

static void write_symtab(const struct hf_elf *elf, struct out *out)
{
	const Elf64_Sym null = {0};
	uint32_t name = sizeof map_names;

	emit_zeros(out, elf->symtab);
	if (skip(out, elf->symtab_size))
		return;
	EMIT(elf, out, Sym, null);
	write_maps(elf, out);
	for (size_t i = 0; i < elf->chosen_count; i++) {
		const struct hf_elf_symbol *from = &elf->symbols[elf->chosen[i].index];
		const Elf64_Sym symbol = {
			.st_name = name,
			.st_value = from->address,
			.st_size = from->size,
			.st_info = (uint8_t)((from->local ? STB_LOCAL : STB_GLOBAL) << 4 |
					     (from->function ? STT_FUNC : STT_NOTYPE)),
			.st_shndx = (uint16_t)elf->chosen[i].section,
		};

		EMIT(elf, out, Sym, symbol);
		name += (uint32_t)strlen(from->name) + 1;
	}
}

static void write_strings(const struct hf_elf *elf, struct out *out)
{
	char name[TEXT_NAME_MAX];

	if (!skip(out, elf->strtab_size)) {
		emit(out, map_names, sizeof map_names);
		for (size_t i = 0; i < elf->chosen_count; i++) {
			const char *symbol = elf->symbols[elf->chosen[i].index].name;

			emit(out, symbol, strlen(symbol) + 1);
		}
	}
	if (skip(out, elf->shstrtab_size))
		return;
	emit(out, section_names, sizeof section_names);
	for (size_t i = 1; i < elf->segment_count; i++) {
		unsigned n = text_name(&elf->segments[i], name);

		emit(out, name, n + 1);
	}
}

static void write_text_shdrs(const struct hf_elf *elf, struct out *out)
{
	char text[TEXT_NAME_MAX];
	uint32_t name = NAME_TEXT, next = NAME_MORE;

	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct segment *segment = &elf->segments[i];
		const Elf64_Shdr header = {
			.sh_name = name,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = segment->address,
			.sh_offset = segment->offset,
			.sh_size = segment->size,
			.sh_addralign = segment->address % 4 ? 2 : 4,
		};

		EMIT(elf, out, Shdr, header);
		name = next;
		if (i + 1 < elf->segment_count)
			next += text_name(&elf->segments[i + 1], text) + 1;
	}
}

static void write_debug_shdrs(const struct hf_elf *elf, struct out *out)
{
	for (size_t i = 0; elf->debug.bytes && i < HF_ELF_DEBUG_COUNT; i++) {
		const Elf64_Shdr header = {
			.sh_name = debug_names[i],
			.sh_type = SHT_PROGBITS,
			.sh_offset = elf->debug_offset + elf->debug.offset[i],
			.sh_size = elf->debug.offset[i + 1] - elf->debug.offset[i],
			.sh_addralign = 1,
		};

		EMIT(elf, out, Shdr, header);
	}
}

static void write_shdrs(const struct hf_elf *elf, struct out *out)
{
	const uint32_t last = section_count(elf) - 1;
	const Elf64_Shdr null = {0};
	const Elf64_Shdr attributes = {.sh_name = NAME_ATTRIBUTES, .sh_type = RISCV_ATTRIBUTES,
				       .sh_offset = elf->attributes, .sh_size = elf->attributes_size,
				       .sh_addralign = 1};
	const Elf64_Shdr symtab = {.sh_name = NAME_SYMTAB, .sh_type = SHT_SYMTAB, .sh_offset = elf->symtab,
				   .sh_size = elf->symtab_size, .sh_link = last - 1,
				   .sh_info = (uint32_t)(1 + elf->maps + elf->locals), .sh_addralign = 8,
				   .sh_entsize = hf_elf_Sym_size(elf->wide)};
	const Elf64_Shdr strtab = {.sh_name = NAME_STRTAB, .sh_type = SHT_STRTAB, .sh_offset = elf->strtab,
				   .sh_size = elf->strtab_size, .sh_addralign = 1};
	const Elf64_Shdr shstrtab = {.sh_name = NAME_SHSTRTAB, .sh_type = SHT_STRTAB, .sh_offset = elf->shstrtab,
				     .sh_size = elf->shstrtab_size, .sh_addralign = 1};

	emit_zeros(out, elf->headers);
	EMIT(elf, out, Shdr, null);
	write_text_shdrs(elf, out);
	if (elf->attributes_size)
		EMIT(elf, out, Shdr, attributes);
	write_debug_shdrs(elf, out);
	EMIT(elf, out, Shdr, symtab);
	EMIT(elf, out, Shdr, strtab);
	EMIT(elf, out, Shdr, shstrtab);
}

int hf_elf_write(const struct hf_elf *elf, uint64_t from, uint64_t n, struct hf_sink *sink)
{
	const uint64_t left = from < elf->size ? elf->size - from : 0;
	struct out out = {.sink = sink, .from = from, .to = n < left ? from + n : elf->size};
	uint8_t attributes[ATTRIBUTES_MAX];

	write_ehdr(elf, &out);
	for (size_t i = 0; i < elf->segment_count; i++)
		write_phdr(elf, &elf->segments[i], &out);
	for (size_t i = 0; i < elf->segment_count; i++)
		write_segment(elf, &elf->segments[i], &out);
	if (elf->attributes_size)
		emit(&out, attributes, make_attributes(elf, attributes));
	emit(&out, elf->debug.bytes, elf->debug.offset[HF_ELF_DEBUG_COUNT]);
	write_symtab(elf, &out);
	write_strings(elf, &out);
	write_shdrs(elf, &out);
	return sink->err;
}
