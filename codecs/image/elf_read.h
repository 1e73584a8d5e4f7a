/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files as the archive has them: segments and symbols, 32 and 64 bits, little endian. Everything in the file is
 * taken for hostile; what has no use here (relocations, notes, dynamic linking) is not looked at.
 */
#ifndef HF_IMAGE_ELF_READ_H
#define HF_IMAGE_ELF_READ_H

#include "codecs/image/elf_symbol.h"
#include "codecs/source/source.h"

/* Limits: beyond them the file is refused (segments: the format has no more), or its symbols are. */
#define HF_ELF_STRINGS_MAX (UINT64_C(128) << 20) /* bytes of a string table */
#define HF_ELF_SYMBOLS_MAX (UINT64_C(1) << 24)  /* rows of a symbol table */
#define HF_ELF_SECTIONS_MAX 65536u

enum hf_elf_segment_flags { HF_ELF_X = 1, HF_ELF_W = 2, HF_ELF_R = 4 }; /* p_flags */

/* A PT_LOAD segment with bytes in the file. All of [offset, offset + size) lies in it, and address does not wrap. */
struct hf_elf_segment {
	uint64_t address;
	uint64_t size;        /* bytes that the file has */
	uint64_t memory_size; /* >= size; zeros follow */
	uint64_t offset;
	uint32_t flags;
};

struct hf_elf_file {
	struct hf_src *src; /* borrowed */
	uint8_t xlen;       /* 32, 64 */
	uint16_t type;      /* e_type: ET_EXEC 2, ET_DYN 3 */
	uint16_t machine;   /* e_machine */
	uint32_t flags;     /* e_flags */
	uint64_t entry;
	struct hf_elf_segment *segments; /* in the order of the file */
	size_t segment_count;
	/* e_shoff, e_shnum, e_shentsize as they are, for the symbols */
	uint64_t section_offset;
	uint16_t section_count, section_row, section_names;
};

/*
 * Reads the headers. Addresses are the file's; a load bias is the caller's to add. UNSUPPORTED for big endian
 * and core files, and for a source of unknown size; ELF_RELOCATABLE for files without segments of their own.
 */
int hf_elf_file_open(struct hf_src *src, struct hf_elf_file *ret_file, struct hf_diag *diag);
/* The same without the segments, which files of symbols alone may lack: for the functions below. */
int hf_elf_file_open_sections(struct hf_src *src, struct hf_elf_file *ret_file, struct hf_diag *diag);
/*
 * The address that a file offset has in the file, where code lies there: mapped code is moved against it. The first page of
 * a mapping may begin before its segment.
 */
bool hf_elf_file_address_of(const struct hf_elf_file *file, uint64_t offset, uint64_t *ret_address);
void hf_elf_file_close(struct hf_elf_file *file);

/*
 * Gives fn every function, and every untyped symbol of an executable section, of .symtab, or of .dynsym if there is
 * none, in the order of the file; mapping symbols ($x and the like), undefined and nameless ones are left out.
 * sym->name is valid during the call; non-zero from fn ends the walk and is returned. A file without symbols is fine;
 * a damaged table is an error, behind the symbols that were given by then.
 */
typedef int (*hf_elf_symbol_fn)(void *ctx, const struct hf_elf_symbol *symbol);
int hf_elf_file_symbols(const struct hf_elf_file *file, hf_elf_symbol_fn fn, void *ctx, struct hf_diag *diag);

/*
 * Gives fn a symbol "NAME@plt" for each stub of the procedure linkage table, which the file has no symbols for: the
 * names are those of its relocations, as binutils makes them. RISC-V and AArch64; none of other machines, and none of a
 * table that is not as expected.
 */
int hf_elf_file_plt(const struct hf_elf_file *file, hf_elf_symbol_fn fn, void *ctx, struct hf_diag *diag);

/* The value of the defined symbol of that name, of whatever type; HF_ERR_NOT_FOUND, or what is wrong with the table. */
int hf_elf_file_symbol(const struct hf_elf_file *file, const char *name, uint64_t *ret_value, struct hf_diag *diag);

/* The bytes of the first section of a type, for the caller to free; NULL if there is none. HF_ERR_ELF_LIMIT if they are
 * more than max. */
int hf_elf_file_section(const struct hf_elf_file *file, uint32_t type, size_t max, uint8_t **ret_bytes,
			size_t *ret_size, struct hf_diag *diag);

/* The bytes of the section of that name, decompressed (zlib, zstd), with a zero byte behind them, for the caller to
 * free; NULL and 0 if there is none. HF_ERR_ELF_LIMIT if they are more than max. */
int hf_elf_file_named(const struct hf_elf_file *file, const char *name, size_t max, uint8_t **ret_bytes,
		      size_t *ret_size, struct hf_diag *diag);

#endif
