/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF files that name the places of a capture: x.elf for x.stf.gz, those in the directory x.d and in the debug
 * directory. They are no part of the capture: the views that show symbols depend on them, the others do not. A capture
 * with a description has its programs as members, at the places that it says, and what it calls symbols instead of
 * x.elf and x.d.
 */
#ifndef HF_FS_SYMBOL_FILES_H
#define HF_FS_SYMBOL_FILES_H

#include "codecs/image/elf_symbol.h"
#include "codecs/image/symbols.h"
#include "fs/archive/open_files.h"
#include "fs/program/debug_file.h"
#include "fs/program/load_addresses.h"

/* A file that may name places of the capture. */
struct hf_symbol_file {
	char *path;	    /* from the archive's root, or with that of the debug directory before it */
	struct hf_src *src; /* NULL: it is of no use, and diag says why */
	int64_t mtime_ns;
	uint16_t type, machine; /* e_type, e_machine */
	struct hf_debug_id id;
	struct hf_diag diag;
};

/* An ELF at its place. */
struct hf_placed_elf {
	struct hf_src *src;   /* borrowed from a file, or of a description and owned */
	struct hf_src *debug; /* borrowed: the file with its lines and more of its symbols; NULL: there is none */
	uint64_t bias;
	uint32_t hart; /* HF_SETUP_ANY: of those that have none of their own */
	char name[HF_LINES_NAME_MAX + 1]; /* of a description: that of the file; else its path has it */
};

struct hf_debug_dir;
struct hf_stamp;
struct hf_trace;
struct hf_views;

struct hf_symbol_files {
	const struct hf_views *views; /* borrowed */
	/* ELF files; x.elf is the first, if it is there, whatever it is, and so is what a description names. */
	struct hf_symbol_file *file;
	size_t file_count, file_cap;
	bool stem;	   /* x.elf is there */
	uint64_t left_out; /* files beyond HF_ELF_NEARBY_MAX, and ELF files beyond HF_LOAD_ADDRESSES_FILES_MAX */
	uint64_t relocatable; /* files that HF_ERR_ELF_RELOCATABLE says everything of; not x.elf */
	uint64_t withheld; /* files of the debug directory that fewer may read than that */
	/* Debug files that were looked for by name. */
	struct hf_symbol_file *debug;
	size_t debug_count, debug_cap;
	struct hf_debug_dir *dir; /* borrowed */
	struct hf_load_addresses *addresses; /* NULL: not found yet, or of a description */
	struct hf_placed_elf *elf;	     /* those of the description first */
	size_t elf_count, given;      /* given: of these */
	struct hf_symbols *symbols; /* NULL: there are none */
	bool trusted; /* an x.elf that cannot be moved, of which nothing was read yet: hf_symbol_files_trust */
	bool waiting; /* which symbols there are only an index can tell: hf_symbol_files_place */
	unsigned options;	    /* which symbols: enum hf_symbols_options */
	char params[512];	    /* of the view that shows symbols */
};

/* What is around which capture is opened. All is borrowed; views and debug_dir as long as what is opened. */
struct hf_symbol_files_ask {
	struct hf_open_files *open_files;
	const struct hf_views *views;
	struct hf_debug_dir *debug_dir;
	const char *path; /* of the capture */
	const struct hf_trace *trace;
	const struct hf_stamp *stamp;
};

/*
 * Opens what is around the capture while that has this stamp, or what the trace's description names, with the symbols
 * that the view wants that shows them. What is no good as an ELF is no error. Until hf_symbol_files_place the program
 * of a description counts as where it says, and no other file as anything. HF_ERR_CHANGED if the stamp is another one by
 * now; to be closed only after success.
 */
int hf_symbol_files_open(const struct hf_symbol_files_ask *ask, struct hf_symbol_files *ret_files);
void hf_symbol_files_close(struct hf_symbol_files *files);

/* An x.elf that cannot be moved counts as where it says from here on, as long as nothing is known of the code. */
int hf_symbol_files_trust(struct hf_symbol_files *files);

/* Finds the places of the files in the code that the index has of this version of the capture, and takes the symbols
 * from there. kept: of the capture. *ret_moved (may be NULL): they are others than before. */
int hf_symbol_files_place(struct hf_symbol_files *files, struct hf_kept_load_addresses *kept, uint64_t version,
			  struct hf_index *index, bool *ret_moved);
/* The same with the index in that directory; if it is not there an x.elf is trusted. */
int hf_symbol_files_place_in(struct hf_symbol_files *files, struct hf_kept_load_addresses *kept, uint64_t version,
			     int dirfd, const struct hf_identity *identity, bool *ret_moved);

/* Whether what it names is code of that architecture (enum hf_arch). */
bool hf_symbol_files_fits(const struct hf_symbol_files *files, uint8_t arch);

/* All symbols of a hart, for program.elf. To be freed, names included, by hf_symbol_files_free_list. */
struct hf_elf_symbol_list {
	struct hf_elf_symbol *symbol;
	size_t count, cap;
};
int hf_symbol_files_list(const struct hf_symbol_files *files, uint32_t hart, struct hf_elf_symbol_list *ret_list);
void hf_symbol_files_free_list(struct hf_elf_symbol_list *list);

/* All lines of the ELF files of a hart, whether they were executed or not. fn owns what it gets; an error of it ends it.
 * HF_ERR_ELF_LIMIT: there are too many. */
int hf_symbol_files_lines(const struct hf_symbol_files *files, uint32_t hart,
			  int (*fn)(void *ctx, struct hf_lines *lines), void *ctx);

#endif
