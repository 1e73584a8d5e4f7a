/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/rvelf.h"

#include "codecs/base/bytes.h"
#include "tests/lib/check.h"

#include <elf.h>
#include <stdbool.h>

/* Where things are in the file; the sections are null, the attributes, symbols and their names. */
enum { SEGMENT = 0x100, TABLES = 0x1200, SYMBOLS = TABLES + 0x200, NAMES = SYMBOLS + 0x80, SECTIONS = NAMES + 0x40,
       SIZE = SECTIONS + 4 * 64, SECTION_COUNT = 4, SECTION_ATTRIBUTES = 0x70000003 };

static const char names[] = "\0__jvt_base$";

/* Attributes: a subsection of a vendor that nobody knows, then that of "riscv" with a stack alignment and the arch. */
static uint32_t put_attributes(uint8_t *p, const char *arch)
{
	static const uint8_t other[] = {'A', 9, 0, 0, 0, 'x', 'y', 'z', 0, 0};
	const uint32_t text = (uint32_t)strlen(arch) + 1, file = 5 + 2 + 1 + text;
	uint8_t *at = p + sizeof other;

	memcpy(p, other, sizeof other);
	hf_put32(at, 4 + 6 + file);
	memcpy(at + 4, "riscv", 6);
	at[10] = 1;
	hf_put32(at + 11, file);
	at[15] = 4;
	at[16] = 16;
	at[17] = 5;
	memcpy(at + 18, arch, text);
	return (uint32_t)sizeof other + 4 + 6 + file;
}

static void put_section(uint8_t *p, bool wide, Elf64_Shdr shdr)
{
	const Elf32_Shdr narrow = {.sh_type = shdr.sh_type, .sh_offset = (uint32_t)shdr.sh_offset,
				   .sh_size = (uint32_t)shdr.sh_size, .sh_link = shdr.sh_link,
				   .sh_entsize = (uint32_t)shdr.sh_entsize};

	memcpy(p, wide ? (const void *)&shdr : &narrow, wide ? sizeof shdr : sizeof narrow);
}

static void put_symbol(uint8_t *p, bool wide, uint64_t value)
{
	const Elf64_Sym sym = {.st_name = 1, .st_info = ELF64_ST_INFO(STB_WEAK, STT_NOTYPE), .st_shndx = SHN_ABS,
			       .st_value = value};
	const Elf32_Sym narrow = {.st_name = 1, .st_info = sym.st_info, .st_shndx = SHN_ABS, .st_value = (uint32_t)value};

	memcpy(p + (wide ? sizeof sym : sizeof narrow), wide ? (const void *)&sym : &narrow,
	       wide ? sizeof sym : sizeof narrow);
}

static void put_headers(uint8_t *p, const struct hf_rvelf *elf)
{
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)(void *)p;
	const Elf64_Phdr phdr = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = SEGMENT, .p_vaddr = elf->base,
				 .p_paddr = elf->base, .p_filesz = elf->code_size, .p_memsz = elf->code_size};

	*ehdr = (Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_EXEC, .e_machine = EM_RISCV, .e_version = EV_CURRENT, .e_entry = elf->base,
			     .e_phoff = sizeof *ehdr, .e_shoff = SECTIONS, .e_ehsize = sizeof *ehdr,
			     .e_phentsize = sizeof phdr, .e_phnum = 1, .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = SECTION_COUNT};
	memcpy(p + sizeof *ehdr, &phdr, sizeof phdr);
}

static void put_narrow_headers(uint8_t *p, const struct hf_rvelf *elf)
{
	Elf32_Ehdr *ehdr = (Elf32_Ehdr *)(void *)p;
	const Elf32_Phdr phdr = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = SEGMENT,
				 .p_vaddr = (uint32_t)elf->base, .p_paddr = (uint32_t)elf->base,
				 .p_filesz = (uint32_t)elf->code_size, .p_memsz = (uint32_t)elf->code_size};

	*ehdr = (Elf32_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_EXEC, .e_machine = EM_RISCV, .e_version = EV_CURRENT,
			     .e_entry = (uint32_t)elf->base, .e_phoff = sizeof *ehdr, .e_shoff = SECTIONS,
			     .e_ehsize = sizeof *ehdr, .e_phentsize = sizeof phdr, .e_phnum = 1,
			     .e_shentsize = sizeof(Elf32_Shdr), .e_shnum = SECTION_COUNT};
	memcpy(p + sizeof *ehdr, &phdr, sizeof phdr);
}

uint8_t *hf_rvelf_make(const struct hf_rvelf *elf, size_t *ret_size)
{
	const bool wide = elf->xlen == 64;
	const size_t row = wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), section = wide ? sizeof(Elf64_Shdr) :
											    sizeof(Elf32_Shdr);
	uint8_t *p = calloc(1, SIZE);

	CHECK(p && elf->code_size <= TABLES - SEGMENT && (!elf->arch || strlen(elf->arch) < 400));
	if (wide)
		put_headers(p, elf);
	else
		put_narrow_headers(p, elf);
	memcpy(p + SEGMENT, elf->code, elf->code_size);
	if (elf->arch)
		put_section(p + SECTIONS + section, wide, (Elf64_Shdr){
			.sh_type = SECTION_ATTRIBUTES, .sh_offset = TABLES, .sh_size = put_attributes(p + TABLES, elf->arch)});
	put_symbol(p + SYMBOLS, wide, elf->jvt);
	memcpy(p + NAMES, names, sizeof names);
	put_section(p + SECTIONS + 2 * section, wide, (Elf64_Shdr){
		.sh_type = SHT_SYMTAB, .sh_offset = SYMBOLS, .sh_size = (elf->jvt ? 2 : 1) * row, .sh_link = 3,
		.sh_entsize = row});
	put_section(p + SECTIONS + 3 * section, wide, (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = sizeof names});
	*ret_size = SIZE;
	return p;
}
