/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions the code at an address was inlined from, and where they were called: from the entries of DWARF 2 to 5
 * (.debug_info) as rows of our own. The file is taken to be hostile: time and memory go with the sections' bytes, which
 * have a limit. Units whose entries are in another file (.dwo), and those that are damaged, are told of as unknown.
 * Immutable once made.
 */
#ifndef HF_IMAGE_INLINED_H
#define HF_IMAGE_INLINED_H

#include "codecs/image/names.h"
#include "codecs/image/wanted.h"
#include "codecs/source/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beyond these all is unknown. */
#define HF_INLINED_RANGES_MAX (UINT32_C(1) << 22)    /* pieces of code that are kept */
#define HF_INLINED_CALLS_MAX (UINT32_C(1) << 21)     /* calls that were inlined there */
#define HF_INLINED_FUNCTIONS_MAX (UINT32_C(1) << 18) /* of which */
#define HF_INLINED_DEPTH_MAX 4096		     /* of the entries of a unit, in each other */

struct hf_inlined;

/* Of [start, end) it is the innermost call; 0: nothing was inlined there, or the file does not say it. */
struct hf_inlined_place {
	uint64_t start, end;
	uint32_t call;
};

/* A call whose function was put in its place. */
struct hf_inlined_call {
	const char *name, *file; /* "?" and "": unknown. As struct hf_symbol and struct hf_line have them */
	uint32_t name_size, file_size;
	uint32_t line;	/* of the call; 0: unknown */
	uint32_t outer; /* the call within whose function it is; 0: it is in the function that has the code */
};

/*
 * bias is added to all addresses; filter, of what code something is asked for, may be NULL. A file without such a section
 * gives an empty table. HF_ERR_CORRUPT, HF_ERR_UNSUPPORTED, HF_ERR_ELF_RELOCATABLE, HF_ERR_ELF_LIMIT, HF_ERR_NOMEM, and
 * what reading returns. Demangling takes some 100 KiB of stack.
 */
int hf_inlined_new(struct hf_src *elf, uint64_t bias, bool demangle, const struct hf_lines_filter *filter,
		   struct hf_inlined **ret_inlined, struct hf_diag *diag);
/* All code of an ELF as unknown. */
int hf_inlined_new_unknown(struct hf_src *elf, uint64_t bias, struct hf_inlined **ret_inlined);
void hf_inlined_free(struct hf_inlined *inlined);

size_t hf_inlined_count(const struct hf_inlined *inlined);
size_t hf_inlined_memory(const struct hf_inlined *inlined);

void hf_inlined_at(const struct hf_inlined *inlined, uint64_t pc, struct hf_inlined_place *ret_place);
/* call: not 0, from this table. What comes back is borrowed from it. */
void hf_inlined_get(const struct hf_inlined *inlined, uint32_t call, struct hf_inlined_call *ret_call);

#endif
