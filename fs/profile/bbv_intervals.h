/* SPDX-License-Identifier: Apache-2.0 */
/* The intervals of which bbv.bb has vectors: where they begin, if only the instructions of some modes are in them. */
#ifndef HF_FS_PROFILE_BBV_INTERVALS_H
#define HF_FS_PROFILE_BBV_INTERVALS_H

#include "fs/profile/texts.h"

struct hf_bbv_intervals {
	uint64_t length;	      /* instructions that are in the vector of each */
	uint64_t count;		      /* whole intervals */
	uint64_t *at;		      /* owned: count + 1 ordinals, one is in [at[i], at[i + 1]) */
	const struct hf_modes *modes; /* none named: all instructions are in vectors */
	uint64_t rest;		      /* instructions of these modes that are in no whole interval */
	uint64_t unknown;	      /* of which the trace does not tell it, so that they are in no vector */
};

/* HF_ERR_NOMEM, or what reading the capture or its summary returns. */
int hf_bbv_intervals_find(const struct hf_profiled *of, uint64_t length, struct hf_bbv_intervals *ret_intervals);
void hf_bbv_intervals_free(struct hf_bbv_intervals *intervals);

/* The lines of the head that say what intervals these are. */
void hf_bbv_intervals_put(const struct hf_bbv_intervals *intervals, struct hf_sink *sink);

#endif
