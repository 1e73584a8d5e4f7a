/* SPDX-License-Identifier: Apache-2.0 */
/* The source line of each row of counts, with numbers for the files. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_SOURCES_H
#define HF_FS_PROFILE_SOURCES_H

#include "codecs/base/hash_map.h"
#include "fs/profile/texts.h"

struct hf_source_file {
	const char *name; /* borrowed from the symbols; not terminated */
	uint32_t size;
};

struct hf_source_place {
	uint32_t file; /* number; 0: none is known */
	uint32_t line; /* from 1; 0: none */
};

/* A zeroed one is empty. */
struct hf_sources {
	bool any;		     /* the symbols have lines */
	struct hf_source_place *row; /* for each row of the counts */
	struct hf_source_file *file; /* the first is none; two of one name are one */
	size_t file_count;
	struct hf_hash_map map;
};

/* paths: names are with directories. To be freed, also after an error, which is HF_ERR_NOMEM. */
int hf_sources_init(struct hf_sources *sources, const struct hf_profiled *of, bool paths);
void hf_sources_free(struct hf_sources *sources);

/* The number of the file with that name, perhaps a new one. */
int hf_sources_number(struct hf_sources *sources, const char *name, uint32_t size, uint32_t *ret_number);
/* The row of the counts that is the first at or behind pc. */
size_t hf_profile_row_at(const struct hf_profiled *of, uint64_t pc);

#endif
