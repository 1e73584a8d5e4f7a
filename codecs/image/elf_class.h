/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structures of ELF files in both classes: in memory the 64-bit ones, in a file either. Each is one list of fields,
 * from which come its size in a file, and the functions that take it out of a file and put it there.
 */
#ifndef HF_IMAGE_ELF_CLASS_H
#define HF_IMAGE_ELF_CLASS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* All but e_ident, which is the same in both. */
#define HF_ELF_FIELDS_Ehdr(F) \
	F(e_type) F(e_machine) F(e_version) F(e_entry) F(e_phoff) F(e_shoff) F(e_flags) F(e_ehsize) F(e_phentsize) \
	F(e_phnum) F(e_shentsize) F(e_shnum) F(e_shstrndx)
#define HF_ELF_FIELDS_Phdr(F) \
	F(p_type) F(p_flags) F(p_offset) F(p_vaddr) F(p_paddr) F(p_filesz) F(p_memsz) F(p_align)
#define HF_ELF_FIELDS_Shdr(F) \
	F(sh_name) F(sh_type) F(sh_flags) F(sh_addr) F(sh_offset) F(sh_size) F(sh_link) F(sh_info) F(sh_addralign) \
	F(sh_entsize)
#define HF_ELF_FIELDS_Rela(F) F(r_offset) F(r_info) F(r_addend)
#define HF_ELF_FIELDS_Sym(F) F(st_name) F(st_info) F(st_other) F(st_shndx) F(st_value) F(st_size)

#define HF_ELF_WIDEN(field) ret->field = narrow.field;
#define HF_ELF_NARROW(field) narrow.field = (__typeof__(narrow.field))from->field;
#define HF_ELF_STRUCTURE(name) \
	static inline size_t hf_elf_##name##_size(bool wide) \
	{ \
		return wide ? sizeof(Elf64_##name) : sizeof(Elf32_##name); \
	} \
	static inline void hf_elf_##name##_get(const uint8_t *p, bool wide, Elf64_##name *ret) \
	{ \
		Elf32_##name narrow; \
\
		memcpy(ret, p, wide ? sizeof *ret : sizeof narrow); \
		if (wide) \
			return; \
		memcpy(&narrow, p, sizeof narrow); \
		HF_ELF_FIELDS_##name(HF_ELF_WIDEN) \
	} \
	static inline size_t hf_elf_##name##_put(const Elf64_##name *from, bool wide, uint8_t *p) \
	{ \
		Elf32_##name narrow; \
\
		memcpy(&narrow, from, sizeof narrow); \
		HF_ELF_FIELDS_##name(HF_ELF_NARROW) \
		memcpy(p, wide ? (const void *)from : &narrow, hf_elf_##name##_size(wide)); \
		return hf_elf_##name##_size(wide); \
	}

HF_ELF_STRUCTURE(Ehdr)
HF_ELF_STRUCTURE(Phdr)
HF_ELF_STRUCTURE(Shdr)
HF_ELF_STRUCTURE(Sym)
HF_ELF_STRUCTURE(Rela)

/* The longest of them. */
#define HF_ELF_STRUCTURE_MAX sizeof(Elf64_Ehdr)
_Static_assert(sizeof(Elf64_Shdr) <= HF_ELF_STRUCTURE_MAX && sizeof(Elf64_Phdr) <= HF_ELF_STRUCTURE_MAX, "the longest");

#endif
