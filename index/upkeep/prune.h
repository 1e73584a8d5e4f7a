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
/* Used later than so many seconds ago, an index does not go to keep the limit. */
#define HF_PRUNE_USED_S 60
/*
 * Removes the index files of the captures, and packs, that were used longest ago, until the directory has no more than
 * limit bytes, or the others are in use: open in any process, or used lately. Catalogues, private files and what is not
 * ours count, and stay. *ret_bytes: what is there now. The time of use is that of the file system: with relatime it is
 * within a day, with noatime that of making it.
 */
int hf_prune_to_limit(struct hf_prune *prune, uint64_t limit, uint64_t *ret_bytes);
/* Only counts what an older version made or put aside; nothing is removed. */
int hf_prune_count_old(struct hf_prune *prune);

#endif
