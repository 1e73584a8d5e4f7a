/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the files of an index are valid. */
#ifndef HF_INDEX_EXAMINE_H
#define HF_INDEX_EXAMINE_H

#include "index/base/identity.h"
#include "index/base/view_key.h"

/*
 * Checks the decode index and the tables of these views, where they exist. fn is called for each invalid one with its
 * name in the directory, and what is wrong in words that follow the name. Files of other users are never used, and
 * passed over. HF_ERR_INDEX_DIR or a shortage: one could not be read, which says nothing about it. *ret_found (may be
 * NULL): those that are valid and fit each other.
 */
enum hf_examine {
	HF_EXAMINE_OPENED, /* only opens them */
	HF_EXAMINE_PAGES, /* every page; an invalid file is removed, or put aside if hartfs did not make it */
};
struct hf_examined {
	bool index;
	bool summary;        /* there is one, or none is needed */
	uint64_t tables;     /* bit i: that of views[i] */
};
typedef void (*hf_examine_fn)(void *ctx, const char *name, const char *what);
int hf_index_examine(int dirfd, const struct hf_identity *identity, const struct hf_view_key *views, size_t view_count,
		     enum hf_examine how, hf_examine_fn fn, void *ctx, struct hf_examined *ret_found);

#endif
