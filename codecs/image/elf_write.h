/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.elf: a collected image as an ELF executable that loaders, decoders and disassemblers take. Its size is
 * known before it is written, and any range of it can be written by itself; the bytes depend on the image and the
 * symbols alone.
 *
 * File: ELF header, program headers, the code (one PT_LOAD and one .text section for each stretch without a gap of a
 * page), .riscv.attributes, the lines if there are any (elf_debug.h), .symtab, .strtab, .shstrtab, section headers.
 * Unknown bytes inside a stretch are zero and marked as data by mapping symbols ($d), so that a disassembler passes
 * over them.
 */
#ifndef HF_IMAGE_ELF_WRITE_H
#define HF_IMAGE_ELF_WRITE_H

#include "codecs/image/collect.h"
#include "codecs/image/elf_read.h"
#include "codecs/image/elf_symbol.h"
#include "codecs/image/symbols.h"

struct hf_elf;

/*
 * Lays out the file. image and symbols are borrowed and must not change; the symbols appear in the order given, those
 * outside the code or at odd addresses not at all. lines, which is for this call only, may be NULL. HF_ERR_UNSUPPORTED
 * if the image refuses (hf_image_refuses), HF_ERR_LIMIT if a name is absurdly long or a 32-bit file would outgrow its
 * offsets.
 */
int hf_elf_new(const struct hf_image *image, const struct hf_elf_symbol *symbols, size_t count,
	       const struct hf_symbols *lines, struct hf_elf **ret_elf);
void hf_elf_free(struct hf_elf *elf);

/* Bytes of memory that lines take. */
size_t hf_elf_lines_memory(const struct hf_elf *elf);

uint64_t hf_elf_size(const struct hf_elf *elf);

/* Its PT_LOAD segments, as hf_elf_file_open would find them, for the caller to free; NULL: out of memory. */
struct hf_elf_segment *hf_elf_segments(const struct hf_elf *elf, size_t *ret_count);

/* Bytes [from, from + n) of the file, cut at its end, into sink; returns sink->err. Thread-safe. */
int hf_elf_write(const struct hf_elf *elf, uint64_t from, uint64_t n, struct hf_sink *sink);

#endif
