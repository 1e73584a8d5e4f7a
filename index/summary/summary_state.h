/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stage of a summary knows when a pass commits, in a private file of its own beside that of the summary. A build
 * that goes on after an interruption begins with it. "HARTKEPT", the members of struct hf_summary_place and what the stage
 * writes (summary/keep.h), XXH3-64 of all that. A new one is written beside the old one and takes its name when the rows
 * that belong to it are durable. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_STATE_H
#define HF_INDEX_SUMMARY_STATE_H

#include "index/summary/keep.h"
#include "index/store/file_name.h"

/* Up to where it goes. */
struct hf_summary_place {
	uint64_t slot;		/* of the hart */
	uint64_t chunk, events; /* so many events of this chunk, and all chunks of the hart before it: */
	uint64_t before;	/*   so many events */
	uint64_t rows;		/* of the summary, put before it: 0 if there is none, else the last one: */
	uint64_t table, key;
};

/* The stage's part. */
typedef void (*hf_summary_keep_fn)(void *ctx, struct hf_keep *keep);

/* Beside the one that there may be. */
int hf_summary_state_write(int dirfd, const struct hf_identity *identity, const struct hf_summary_place *place,
			   hf_summary_keep_fn fn, void *ctx);
/* What was written last gets its name, and is durable. */
int hf_summary_state_publish(int dirfd, const struct hf_identity *identity);
/* fn NULL: only the place. HF_ERR_NOT_FOUND, HF_ERR_STATE: it is damaged. */
int hf_summary_state_read(int dirfd, const struct hf_identity *identity, struct hf_summary_place *ret_place,
			  hf_summary_keep_fn fn, void *ctx);
void hf_summary_state_remove(int dirfd, const struct hf_identity *identity);

#endif
