/* SPDX-License-Identifier: Apache-2.0 */
/* An index directory, with what takes its place in memory, as it is handed to whoever reads or writes its files. */
#ifndef HF_INDEX_STORE_DIR_H
#define HF_INDEX_STORE_DIR_H

struct hf_memdir;
struct hf_packs;

/* Where builds put their files. All of them are found wherever they are. */
enum hf_store_into { HF_INTO_DISK, HF_INTO_MEMORY, HF_INTO_PACKS };

/* All is borrowed, and outlives whatever is opened in it. */
struct hf_store_dir {
	int fd;			  /* -1: there is none on disk */
	struct hf_memdir *memory; /* NULL: there is none */
	struct hf_packs *packs;	  /* likewise */
	enum hf_store_into into;
};

#endif
