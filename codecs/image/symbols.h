/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which function a pc lies in: the symbol table of an ELF, for views that name places. The file is taken to be
 * hostile. Immutable once made, so any number of threads may ask.
 */
#ifndef HF_IMAGE_SYMBOLS_H
#define HF_IMAGE_SYMBOLS_H

#include "codecs/image/elf_symbol.h"
#include "codecs/image/inlined.h"
#include "codecs/image/lines.h"
#include "codecs/image/objects.h"
#include "codecs/source/source.h"

enum hf_symbols_options {
	HF_SYMBOLS_DEMANGLE = 1, /* names as they are in C++ and Rust */
	HF_SYMBOLS_LINES = 2,	 /* places of the source, which hf_symbols_add_lines gives them */
	HF_SYMBOLS_INLINED = 4,	 /* what was inlined, which hf_symbols_add_inlined gives them */
};

/* [start, end) is named so. Every character of the name is printable, and, but in a name that was demangled, none is a
 * blank, '<' or '>'. */
struct hf_symbol {
	uint64_t start, end;
	const char *name;
	uint32_t name_size;
	bool indirect; /* what is there chooses the function of that name when the program is loaded */
};

struct hf_symbols;

/*
 * The function symbols, the untyped ones in executable sections, and the stubs of the PLT, of an ELF32 or ELF64 (little
 * endian); bias is added to their values. Of several at one address one gives it its name, and the others are aliases: a
 * function comes before an untyped one; then, as perf chooses, one with a size before one without, one that is not weak, a
 * global one, one of a current version, one with fewer underscores before its name, the longer name. A file without symbols
 * gives an empty table. HF_ERR_CORRUPT, HF_ERR_UNSUPPORTED, HF_ERR_ELF_RELOCATABLE, HF_ERR_ELF_LIMIT, and what
 * reading returns. elf is borrowed for the call.
 */
int hf_symbols_new(struct hf_src *elf, uint64_t bias, unsigned options, struct hf_symbols **ret_symbols,
		   struct hf_diag *diag);
/* The same choice: less than 0 if a is the one of the two symbols at one address that gives it its name. */
int hf_symbols_prefer(const struct hf_elf_symbol *a, const struct hf_elf_symbol *b);
/* None, to be joined by others. */
int hf_symbols_new_empty(struct hf_symbols **ret_symbols);
void hf_symbols_free(struct hf_symbols *symbols);

/* Adds a copy of those of more, which is of no further use here; where both name a place the ones that were there stay.
 * On HF_ERR_NOMEM symbols is as before. */
int hf_symbols_join(struct hf_symbols *symbols, const struct hf_symbols *more);

/* Lines of a file, which are owned by symbols from here on, also on failure. */
int hf_symbols_add_lines(struct hf_symbols *symbols, struct hf_lines *lines);
bool hf_symbols_have_lines(const struct hf_symbols *symbols);
/* The line of pc, as hf_lines_at gives it: of the first file that has one. */
void hf_symbols_line_at(const struct hf_symbols *symbols, uint64_t pc, struct hf_line *ret_line);

/* The same for what was inlined: *ret_inlined, borrowed, has the call. */
int hf_symbols_add_inlined(struct hf_symbols *symbols, struct hf_inlined *inlined);
bool hf_symbols_have_inlined(const struct hf_symbols *symbols);
void hf_symbols_inlined_at(const struct hf_symbols *symbols, uint64_t pc, struct hf_inlined_place *ret_place,
			   const struct hf_inlined **ret_inlined);

/* A file whose code lies there, as hf_objects_add takes it; symbols may have none of it. */
int hf_symbols_add_object(struct hf_symbols *symbols, struct hf_src *elf, uint64_t bias, const char *path);
/* The file in which pc lies, or NULL. Borrowed from symbols, which may be NULL. */
const struct hf_object *hf_symbols_object_at(const struct hf_symbols *symbols, uint64_t pc);
/* The file behind that one, in the order of addresses, a piece for each segment; the first one behind NULL. */
const struct hf_object *hf_symbols_next_object(const struct hf_symbols *symbols, const struct hf_object *object);

/* Of the files' parts, code or not, that end behind an address the first; NULL: there is none. Borrowed from symbols, which
 * may be NULL. Takes time in proportion to the parts. */
const struct hf_object *hf_symbols_part_from(const struct hf_symbols *symbols, uint64_t address);

/* From here on that hart has symbols of its own, which are owned by symbols, also on failure. */
int hf_symbols_set_hart(struct hf_symbols *symbols, uint32_t hart, struct hf_symbols *own);
/* Those that are the hart's: its own, or symbols itself. */
const struct hf_symbols *hf_symbols_of(const struct hf_symbols *symbols, uint32_t hart);

/* Bytes of memory. symbols may be NULL. */
size_t hf_symbols_memory(const struct hf_symbols *symbols);
size_t hf_symbols_count(const struct hf_symbols *symbols);
/* e_machine of their file; 0 if they were joined from several. */
uint16_t hf_symbols_machine(const struct hf_symbols *symbols);

/* The symbol that covers pc, or NULL. Borrowed from symbols. */
const struct hf_symbol *hf_symbols_at(const struct hf_symbols *symbols, uint64_t pc);
/* The one behind symbol, in the order of addresses, and then aliases; the first one behind NULL. NULL: there are no more. */
const struct hf_symbol *hf_symbols_next(const struct hf_symbols *symbols, const struct hf_symbol *symbol);

#endif
