/* SPDX-License-Identifier: Apache-2.0 */
/* An index directory, with what takes its place in memory, as it is handed to whoever reads or writes its files. */
#ifndef HF_INDEX_STORE_DIR_H
#define HF_INDEX_STORE_DIR_H

#include <stdbool.h>
#include <sys/types.h>

struct hf_memdir;
struct hf_packs;

/* How users who write to one directory share it. {0}: not at all. */
struct hf_sharing {
	bool publish;  /* the directory's group may read what is made, if it may read the capture */
	bool trust;    /* files of others that have the group trusted, in a directory that has it, too, are as our own */
	gid_t trusted;
};

/* Where builds put their files. All of them are found wherever they are. */
enum hf_store_into { HF_INTO_DISK, HF_INTO_MEMORY, HF_INTO_PACKS };

/* All is borrowed, and outlives whatever is opened in it. */
struct hf_store_dir {
	int fd;			  /* -1: there is none on disk */
	struct hf_memdir *memory; /* NULL: there is none */
	struct hf_packs *packs;	  /* likewise */
	enum hf_store_into into;
	struct hf_sharing sharing;
};

#endif
