/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packs of an index directory (pack.h). What a build makes goes into a pack in memory, if its struct hf_store_dir
 * says so, until a flush publishes that. If a file is too large the build fails with HF_ERR_INDEX_DIR, and the fault
 * has E2BIG. Thread-safe.
 */
#ifndef HF_INDEX_PACKS_H
#define HF_INDEX_PACKS_H

#include <stdbool.h>
#include <stddef.h>

struct hf_packed;
struct hf_packs;
struct hf_sharing;

/* dirfd: the index directory, borrowed. sharing NULL: it is not shared. HF_ERR_NOMEM. */
int hf_packs_new(int dirfd, const struct hf_sharing *sharing, struct hf_packs **ret_packs);
/* What waits is lost. */
void hf_packs_free(struct hf_packs *packs);

/* Complete files that wait to be published. */
size_t hf_packs_waiting(struct hf_packs *packs);
/* Whether they are so many, or so large, that they should wait no longer. */
bool hf_packs_is_full(struct hf_packs *packs);
/* Publishes what waits, but for packs in which a file is still being made; and puts packs that are not full together if
 * they are many. After an error all of it waits still: HF_ERR_INDEX_DIR, or a shortage. */
int hf_packs_flush(struct hf_packs *packs);

/* The rest is for file.c. */

/* A file: HF_ERR_NOT_FOUND. Give its reference back with hf_pack_close. */
int hf_packs_find(struct hf_packs *packs, const char *name, struct hf_packed *ret_file);
/* It is not found any more. */
void hf_packs_drop(struct hf_packs *packs, const char *name);
/* Begins a file: HF_ERR_BUSY if somebody else makes it. */
int hf_packs_begin(struct hf_packs *packs, const char *name, struct hf_packed *ret_file);
/* It is complete, and waits. */
void hf_packs_finish(struct hf_packs *packs, const struct hf_packed *file);
/* Ends making it. */
void hf_packs_end(struct hf_packs *packs, struct hf_packed *file);

#endif
