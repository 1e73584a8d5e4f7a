/* SPDX-License-Identifier: Apache-2.0 */
/* What all texts of a profile are made of. */
#ifndef HF_FS_PROFILE_COUNTED_H
#define HF_FS_PROFILE_COUNTED_H

#include "fs/facts/opened.h"
#include "index/answer/counts.h"
#include "index/summary/summary_tree.h"

/* Without a summary a hart, or a slice, of more instructions has no profile. With one, the calls of a longer slice are an
 * estimate, and chunks that touch memory are counted instead of accesses. */
#define HF_PROFILE_DECODED (UINT64_C(10) << 20)

/* Where the counts come from, for what they do not tell. */
struct hf_profile_source {
	struct hf_open *open;
	struct hf_summary *summary; /* NULL: there is none */
	uint32_t hart;
	uint64_t first, end; /* ordinals of the instructions */
	bool slice;	     /* as in struct hf_profile_text */
	bool decodes;	     /* these are few enough to be decoded */
	bool by_chunks;	     /* pictures are made of the summary all the same, if there is one */
	bool (*stop)(void *ctx);
	void *ctx;
};

/* To be ended by hf_cursor_fini. */
static inline struct hf_cursor hf_profile_cursor(const struct hf_profile_source *source)
{
	return (struct hf_cursor){.stream = source->open->stream,
				  .src = source->open->source,
				  .index = source->open->index,
				  .hart = source->hart};
}

/* Whether these are all instructions of the hart. */
bool hf_profile_is_whole(const struct hf_profile_source *source);
/* HF_ERR_NOT_FOUND: they are too many to be decoded, and there is no summary. *ret_sampled: the tree is an estimate. */
int hf_profile_counted(const struct hf_profile_source *source, struct hf_counts *counts, struct hf_summary_tree **ret_tree,
		       bool *ret_sampled);

/* The executions and the calls of a hart, on the calling thread, to be freed. Errors as of struct hf_profile_text. */
int hf_profile_count(struct hf_open *open, uint32_t hart, struct hf_counts *ret_counts,
		     struct hf_summary_tree **ret_tree);

#endif
