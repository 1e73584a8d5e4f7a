/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF files with the symbols of a capture: x.elf for x.stf.gz, those in the directory x.d and in the debug
 * directory. They are no part of the capture: only views that show symbols depend on them. A description names its
 * programs, with their addresses, and files with symbols: these take the place of x.elf and x.d.
 */
#ifndef HF_FS_SYMBOL_FILES_H
#define HF_FS_SYMBOL_FILES_H

#include "codecs/image/elf_symbol.h"
#include "codecs/image/symbols.h"
#include "fs/archive/open_files.h"
#include "fs/program/debug_file.h"
#include "fs/program/load_addresses.h"

/* A file that may have symbols of the capture. */
struct hf_symbol_file {
	char *path;	    /* from the archive's root, or with that of the debug directory before it */
	struct hf_src *src; /* NULL: it cannot be used, and diag says why */
	int64_t mtime_ns;
	uint16_t type, machine; /* e_type, e_machine */
	struct hf_debug_id id;
	struct hf_diag diag;
};

/* An ELF with its load address. */
struct hf_placed_elf {
	struct hf_src *src;   /* borrowed from a file, or of a description and owned */
	struct hf_src *debug; /* borrowed: the file with its lines and more of its symbols; NULL: there is none */
	uint64_t bias;
	uint32_t hart; /* HF_SETUP_ANY: of harts without one of their own */
	char name[HF_LINES_NAME_MAX + 1]; /* of a description: that of the file; else its path has it */
};

struct hf_debug_dir;
struct hf_stamp;
struct hf_trace;
struct hf_views;

struct hf_symbol_files {
	const struct hf_views *views; /* borrowed */
	/* ELF files. x.elf, which is the first, and those that a description names are in it even if they are none. */
	struct hf_symbol_file *file;
	size_t file_count, file_cap;
	bool stem;	   /* x.elf is there */
	uint64_t left_out; /* files beyond HF_ELF_NEARBY_MAX, and ELF files beyond HF_LOAD_ADDRESSES_FILES_MAX */
	uint64_t relocatable; /* files that are relocatable (HF_ERR_ELF_RELOCATABLE); not x.elf */
	uint64_t withheld; /* files of the debug directory that fewer may read than the directory */
	/* Debug files that were looked for by name. */
	struct hf_symbol_file *debug;
	size_t debug_count, debug_cap;
	struct hf_debug_dir *dir; /* borrowed */
	struct hf_load_addresses *addresses; /* NULL: not found yet, or of a description */
	struct hf_placed_elf *elf;	     /* those of the description first */
	size_t elf_count, given;      /* given: of these */
	struct hf_symbols *symbols; /* NULL: there are none */
	bool trusted; /* x.elf, fixed (no PIE) and not read yet: hf_symbol_files_trust */
	bool waiting; /* the symbols need an index: hf_symbol_files_place */
	unsigned options;	    /* which symbols: enum hf_symbols_options */
	char params[512];	    /* of the view that shows symbols */
};

/* For which capture. All is borrowed; views and debug_dir until the close. */
struct hf_symbol_files_ask {
	struct hf_open_files *open_files;
	const struct hf_views *views;
	struct hf_debug_dir *debug_dir;
	const char *path; /* of the capture */
	const struct hf_trace *trace;
	const struct hf_stamp *stamp;
};

/*
 * Opens the files beside the capture, or those that the trace's description names, with the symbols that views want. A
 * file that is no ELF is no error. Until hf_symbol_files_place only programs of a description have an address.
 * HF_ERR_CHANGED: the capture has another stamp by now. To be closed only after success.
 */
int hf_symbol_files_open(const struct hf_symbol_files_ask *ask, struct hf_symbol_files *ret_files);
void hf_symbol_files_close(struct hf_symbol_files *files);

/* From here on an x.elf that is fixed (no PIE) has its own addresses, until the code is known. */
int hf_symbol_files_trust(struct hf_symbol_files *files);

/* Finds the load addresses of the files in the executed code of this version's index, and reads symbols accordingly.
 * kept: of the capture. *ret_moved (may be NULL): the symbols are others than before. */
int hf_symbol_files_place(struct hf_symbol_files *files, struct hf_kept_load_addresses *kept, uint64_t version,
			  struct hf_index *index, bool *ret_moved);
/* The same with the index in that directory; without one as hf_symbol_files_trust. */
int hf_symbol_files_place_in(struct hf_symbol_files *files, struct hf_kept_load_addresses *kept, uint64_t version,
			     int dirfd, const struct hf_identity *identity, bool *ret_moved);

/* Whether its symbols are of that architecture (enum hf_arch). */
bool hf_symbol_files_fits(const struct hf_symbol_files *files, uint8_t arch);

/* All symbols of a hart, for program.elf. To be freed, names included, by hf_symbol_files_free_list. */
struct hf_elf_symbol_list {
	struct hf_elf_symbol *symbol;
	size_t count, cap;
};
int hf_symbol_files_list(const struct hf_symbol_files *files, uint32_t hart, struct hf_elf_symbol_list *ret_list);
void hf_symbol_files_free_list(struct hf_elf_symbol_list *list);
/* The first ELF of a hart whose code is of that name (struct hf_object), and has that bias (NULL: any), or NULL. Borrowed. */
const struct hf_placed_elf *hf_symbol_files_elf_of(const struct hf_symbol_files *files, uint32_t hart, const char *name,
						   const uint64_t *bias);
/* Adds the symbols of one, whose addresses are moved by bias. A list is to be freed after an error too. */
int hf_symbol_files_list_elf(const struct hf_placed_elf *elf, uint64_t bias, struct hf_elf_symbol_list *list);

/* All lines of the ELF files of a hart, executed or not. fn owns what it gets, and ends it with an error.
 * HF_ERR_ELF_LIMIT: there are too many. */
int hf_symbol_files_lines(const struct hf_symbol_files *files, uint32_t hart,
			  int (*fn)(void *ctx, struct hf_lines *lines), void *ctx);

#endif
