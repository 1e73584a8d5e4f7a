/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes from an index directory: files of captures that no catalogue knows, or that are gone or have changed;
 * catalogues of archives that are gone; files of older versions; damaged files (every page is read); files that were
 * put aside; and what has the name of a known capture's file and is none. Other files that hartfs did not make stay,
 * whatever their name, and so do those of newer versions. While a catalogue is damaged, valid files of captures that
 * the others do not know stay.
 */
#ifndef HF_INDEX_PRUNE_H
#define HF_INDEX_PRUNE_H

#include <stdbool.h>
#include <stdint.h>

struct hf_prune {
	int dirfd;
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

#endif
