/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on a terminal that says how far something is: name, share, rate and time left. It appears when that takes
 * more than a second, and not where standard error is no terminal. Not thread-safe.
 */
#ifndef HF_MOUNTD_BAR_H
#define HF_MOUNTD_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct hf_bar {
	bool wanted;                  /* someone can see it */
	int64_t begun_ns, drawn_ns;   /* 0: not drawn */
	double begun_share;           /* what was done before it began */
};

/* What it says. */
struct hf_bar_state {
	const char *name;        /* "" : none */
	double share;            /* 0..1 of all */
	uint64_t done, of;       /* captures; of 0 or 1 are not counted */
	double instructions;     /* since it began; 0: not told */
};

void hf_bar_begin(struct hf_bar *bar, int verbosity);
/* Draws it, at most ten times a second. */
void hf_bar_show(struct hf_bar *bar, const struct hf_bar_state *state);
/* Draws it of indexing: hartfs_index has such a function, for which bar is a struct hf_bar. */
bool hf_bar_show_indexing(void *bar, double percent, uint64_t insns);
/* Takes it away, before anything else is written; hf_bar_show brings it back. */
void hf_bar_clear(struct hf_bar *bar);

#endif
