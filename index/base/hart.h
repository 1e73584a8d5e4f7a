/* SPDX-License-Identifier: Apache-2.0 */
/* A hart and a problem, as the index has them. */
#ifndef HF_INDEX_HART_H
#define HF_INDEX_HART_H

#include "codecs/base/err.h"

/* What the source says beside the flow: MARKER events, all others are markers. */
struct hf_told {
	uint64_t texts, samples, markers;
};

static inline void hf_told_add(struct hf_told *sum, const struct hf_told *more)
{
	sum->texts += more->texts;
	sum->samples += more->samples;
	sum->markers += more->markers;
}

struct hf_index_hart {
	uint64_t slot;	   /* the file's number for it */
	uint32_t id;	   /* source id: the directory is "hart<id>" */
	uint64_t insns;	   /* retired */
	uint64_t attempts; /* not retired */
	uint64_t events;
	uint64_t chunks; /* at least 1 */
	struct hf_told told;
};

/* A problem found while indexing, a line of errors.txt. */
struct hf_index_problem {
	struct hf_diag diag;
	uint64_t chunk; /* where it was met, as the file numbers it; HF_NOWHERE: it is of the whole file */
	uint32_t hart;
	bool fatal; /* the capture could not be opened at all */
	bool has_ordinal;
	uint64_t ordinal; /* retired instructions before it; HF_NOWHERE without has_ordinal */
	uint64_t bytes;	  /* passed over */
	uint64_t back;	  /* hf_event.back: of the instructions before it so many may be wrong, too */
};

/* Most problems that an index keeps. */
#define HF_INDEX_PROBLEM_MAX 4096

#endif
