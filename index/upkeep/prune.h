/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may go from an index directory: the files of captures that no catalogue knows, or that are gone or were changed
 * since; catalogues of archives that are gone; what an older version of the schema made, or put aside. All else that is
 * not ours stays, whatever its name, and so does what a newer version made. While a catalogue cannot be read, no file
 * of a capture that the others do not know goes.
 */
#ifndef HF_INDEX_PRUNE_H
#define HF_INDEX_PRUNE_H

#include "index/store/dir.h"

#include <stdbool.h>
#include <stdint.h>

struct hf_prune {
	int dirfd;
	struct hf_sharing sharing;
	bool dry_run; /* nothing is removed */
	/* Called for each file that goes; may be NULL. */
	void (*on_file)(void *ctx, const char *name, uint64_t bytes, const char *reason);
	void *ctx;
	/* results */
	uint64_t files, bytes; /* removed */
	uint64_t kept;         /* files of ours that stay */
};

/* Private files that no process has locked go when they are older than this. */
#define HF_PRUNE_PART_AGE (24 * 3600)

/* After an error some files may have gone; but if a catalogue cannot be read, no index has. */
int hf_prune_run(struct hf_prune *prune);
/* Only counts what an older version made or put aside; nothing is removed. */
int hf_prune_count_old(struct hf_prune *prune);

#endif
