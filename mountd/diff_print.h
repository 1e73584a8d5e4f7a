/* SPDX-License-Identifier: Apache-2.0 */
/* What hartfs diff prints of a difference: listing lines of both sides, or an object of JSON. */
#ifndef HF_MOUNTD_DIFF_PRINT_H
#define HF_MOUNTD_DIFF_PRINT_H

#include "fs/diff/diff.h"
#include "fs/library.h"

/* Of a difference of more than three times as many instructions on a side only so many are printed at its beginning, and as
 * many at its end. */
#define HF_DIFF_SHOWN 20u

struct hf_diff_print {
	struct hf_diff_side_print {
		struct hartfs_archive *archive;
		const char *shown;    /* the capture, as the user calls it */
		const char *view_dir; /* in the archive */
		uint32_t hart;
		uint64_t from; /* what is compared begins there */
	} side[2];
	uint64_t context; /* instructions */
	bool json;
	/* its own */
	bool begun;
	uint64_t next; /* of the first side: the first instruction that is not printed yet */
	int error;	  /* of reading, which was said: hartfs_error */
};

/* false: it cannot go on. */
bool hf_diff_print_part(struct hf_diff_print *print, const struct hf_diff_part *part);

#endif
