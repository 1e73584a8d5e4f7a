/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF beside a capture that names its places: x.elf for x.stf.gz. It is no part of the capture: the views that show
 * symbols depend on it, the others do not. A capture with a description has its ELF files as members instead.
 */
#ifndef HF_FS_COMPANION_H
#define HF_FS_COMPANION_H

#include "codecs/image/elf_symbol.h"
#include "codecs/image/symbols.h"
#include "fs/archive/access.h"
#include "fs/archive/held.h"
#include "index/index.h"

/* One that the capture's description names instead. */
struct hf_companion_elf {
	struct hf_src *file;
	uint64_t bias;
	uint32_t hart; /* HF_SETUP_ANY: of those that have none of their own */
};

struct hf_companion {
	char *path;                 /* from the archive's root; NULL: there is none */
	struct hf_src *file;        /* NULL: it is of no use, and diag says why */
	struct hf_companion_elf *elf; /* of a description; then there is no path */
	size_t elf_count;
	struct hf_symbols *symbols; /* NULL: likewise */
	bool relocatable;           /* ET_DYN: its addresses are taken as they are, which may not be where it ran */
	struct hf_diag diag;
	char params[320];           /* of the views that show symbols */
};

/* What tells one ELF from another without opening it: *ret_stamp is 0 if there is none beside the capture at path. It
 * is added to *access (may be NULL). The only errors are shortages (hf_err_is_shortage). */
int hf_companion_look(const struct hf_archive *archive, const char *path, struct hf_access *access,
		      uint64_t *ret_stamp);

struct hf_trace;

/*
 * Opens that of stamp, or those that the trace's description names; params: of views without symbols. What is no good
 * as an ELF is no error. HF_ERR_CHANGED if the stamp is another one by now; to be closed only after success.
 */
int hf_companion_open(struct hf_held_files *held, const char *path, const struct hf_trace *trace,
		      uint64_t stamp, const char *params, struct hf_companion *ret_companion);
void hf_companion_close(struct hf_companion *companion);

/* Whether what it names is code of that architecture (enum hf_arch). */
bool hf_companion_fits(const struct hf_companion *companion, uint8_t arch);

/* All symbols of a hart, for program.elf. To be freed, names included, by hf_companion_free_list. */
struct hf_elf_symbol_list {
	struct hf_elf_symbol *symbol;
	size_t count, cap;
};
int hf_companion_list(const struct hf_companion *companion, uint32_t hart, struct hf_elf_symbol_list *ret_list);
void hf_companion_free_list(struct hf_elf_symbol_list *list);

#endif
