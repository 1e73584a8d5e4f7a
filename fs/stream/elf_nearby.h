/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files beside a capture that may have its symbols: x.elf for x.stf.gz, and those in the directory x.d. Here they
 * are listed, with their stat; symbol_files.h opens them.
 */
#ifndef HF_FS_ELF_NEARBY_H
#define HF_FS_ELF_NEARBY_H

#include "fs/archive/access.h"
#include "fs/archive/archive.h"

enum {
	HF_ELF_NEARBY_MAX = 512, /* files of x.d, in the order of their paths */
	HF_ELF_NEARBY_DEPTH = 8, /* of directories in it */
};

struct hf_elf_nearby {
	struct hf_elf_nearby_file {
		char *path;	/* from the archive's root */
		uint64_t stamp; /* hf_elf_nearby_stamp_of */
	} * file;		/* x.elf is the first, if it is there; the others by path */
	size_t count, cap;
	bool stem;	   /* x.elf is there */
	uint64_t left_out; /* files beyond the limit */
	uint64_t withheld; /* files not listed, for fewer may read them than access says */
};

/*
 * Those of the capture at path; *access (may be NULL) is narrowed to who may read them all. One that cannot be looked
 * at is left out, and nobody may read the views. Errors are shortages (hf_err_is_shortage). To be freed after success.
 */
int hf_elf_nearby_list(const struct hf_archive *archive, const char *path, struct hf_access *access,
		       struct hf_elf_nearby *ret_nearby);
/*
 * The files in the root of the archive itself, in the order of their names, without those that fewer may read than
 * access says. Errors as above.
 */
int hf_elf_nearby_list_flat(const struct hf_archive *archive, const struct hf_access *access,
			    struct hf_elf_nearby *ret_nearby);
void hf_elf_nearby_free(struct hf_elf_nearby *nearby);

/* A number that changes with any of them; 0: there are none. */
uint64_t hf_elf_nearby_stamp(const struct hf_elf_nearby *nearby);
/* The stamp of a file with that stat. */
uint64_t hf_elf_nearby_stamp_of(const struct stat *st);

#endif
