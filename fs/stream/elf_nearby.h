/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files beside a capture that may name its places: x.elf for x.stf.gz, and what lies in the directory x.d. They are
 * looked at by name and stat alone; symbol_files.h opens them.
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
		uint64_t stamp; /* tells one file at that path from another */
	} * file;		/* x.elf is the first, if it is there; the others by path */
	size_t count, cap;
	bool stem;	   /* x.elf is there */
	uint64_t left_out; /* files beyond the limit */
	uint64_t withheld; /* files that fewer may read than hf_elf_nearby_list_flat was told */
};

/*
 * What there is now, added to *access (may be NULL) with the directories. What cannot be looked at is not there, and
 * nobody may read the views. The only errors are shortages (hf_err_is_shortage). To be freed after success.
 */
int hf_elf_nearby_list(const struct hf_archive *archive, const char *path, struct hf_access *access,
		       struct hf_elf_nearby *ret_nearby);
/*
 * The files that lie in the root of the archive itself, in the order of their names, as far as whoever access lets read
 * may read them. Errors as above.
 */
int hf_elf_nearby_list_flat(const struct hf_archive *archive, const struct hf_access *access,
			    struct hf_elf_nearby *ret_nearby);
void hf_elf_nearby_free(struct hf_elf_nearby *nearby);

/* One number for all of them; 0: there are none. */
uint64_t hf_elf_nearby_stamp(const struct hf_elf_nearby *nearby);
/* Of the file with that stat. */
uint64_t hf_elf_nearby_stamp_of(const struct stat *st);

#endif
