/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where two harts part, and where they meet again: of any two captures, in any formats. Compared are retired
 * instructions, pc and opcode of each, and their accesses if that is wanted. What else a trace tells, modes, traps,
 * attempts, contexts, times, losses, is not. Long stretches that are equal are not decoded: what the index has of them
 * (index/base/prefix_digest.h) is.
 */
#ifndef HF_DIFF_DIFF_H
#define HF_DIFF_DIFF_H

#include "codecs/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_fs;

/* So many instructions behind the place where two harts part it is looked for a place where they meet again. */
#define HF_DIFF_AHEAD (UINT64_C(1) << 20)
/* They meet where at least so many instructions are the same. */
#define HF_DIFF_MEET 16u
/* More differences are not looked for, nor any behind windows of so many instructions in all. */
#define HF_DIFF_PARTS UINT64_C(65536)
#define HF_DIFF_LOOKED (UINT64_C(256) << 20)
/* What they agree in from there on convinces if it is as long as that in which they differ, or has so many
 * instructions. */
#define HF_DIFF_SURE 4096u

/* One of the two. */
struct hf_diff_hart {
	struct hf_fs *fs;
	const char *path; /* of the capture; it has been indexed */
	uint32_t hart;
	uint64_t from; /* ordinal of the first instruction that is compared */
};

enum hf_diff_kind {
	HF_DIFF_FLOW,   /* other instructions */
	HF_DIFF_ACCESS, /* the same instructions with other accesses */
	HF_DIFF_APART,  /* other instructions, and they do not meet again within HF_DIFF_AHEAD */
};

/* Something in which they differ: these instructions of the one, and these of the other. Equal numbers lie between two of
 * them. */
struct hf_diff_part {
	enum hf_diff_kind kind;
	uint64_t ordinal[2], count[2]; /* of HF_DIFF_APART count is all up to the end of the hart */
	uint64_t same; /* instructions behind them that are equal; then comes the next part, or the end of both */
	bool last;
	bool no_code; /* of HF_DIFF_APART: the two have no code in common, and cannot meet */
};

/* How it was found out. */
struct hf_diff_told {
	uint64_t parts;	     /* in which they differ, as far as it was looked for them */
	uint64_t insns[2];   /* of the harts */
	uint64_t digests;    /* stretches that were compared without their instructions */
	uint64_t decoded[2]; /* chunks; one that was needed twice counts twice */
	bool stopped;	     /* there are more, but these are too many or took too long; at at */
	uint64_t at[2];
	bool values;	     /* accesses were compared with their values, which both captures have */
};

/* What is compared, and who gets what differs. All is borrowed. */
struct hf_diff {
	struct hf_diff_hart hart[2];
	bool accesses;
	uint64_t limit; /* of parts, at least 1 */
	uint64_t look;	/* for tests: stretches up to that are compared by their instructions; 0: as usual */
	void *ctx;
	bool (*part)(void *ctx, const struct hf_diff_part *part); /* in order; false: that is enough; may be NULL */
	void (*progress)(void *ctx, double share);		  /* 0 to 1; may be NULL */
};

/*
 * 0, and ret_told->parts says whether there is any difference. HF_ERR_NOT_FOUND: there is no such hart or instruction;
 * HF_ERR_UNSUPPORTED: a capture does not tell of accesses. Both with why[size] in words; it is empty with others, which
 * are those of reading, and then *ret_which says of which capture they are.
 */
int hf_fs_diff(const struct hf_diff *diff, struct hf_diff_told *ret_told, unsigned *ret_which, char *why, size_t size);

#endif
