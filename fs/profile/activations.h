/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activations: each time that a function was called, from its first instruction to where it returned, in the order in
 * which they began. Of a long hart, from a summary: what was seen at the starts of chunks, one behind the other.
 * Internal to fs/profile/.
 */
#ifndef HF_FS_PROFILE_ACTIVATIONS_H
#define HF_FS_PROFILE_ACTIVATIONS_H

#include "fs/profile/clock.h"
#include "fs/profile/texts.h"

/* More are not kept: then the shortest are left out. */
#define HF_ACTIVATIONS (1u << 18)

struct hf_activation {
	uint64_t begin, end; /* ordinals: its instructions, and those of what it called, are in [begin, end) */
	uint32_t node;	     /* of the tree */
	bool open;	     /* while they are made: it has not returned yet */
	bool resumed;	     /* it was there before: another context ran in between. Only where all are exact */
};

struct hf_activations {
	struct hf_activation *at;
	size_t count;
	bool exact;	   /* else from the summary */
	uint64_t least;	   /* instructions: all that were left out are shorter */
	uint64_t left_out; /* so many */
	struct hf_clock clock;
	uint64_t beyond; /* stacks with calls beyond the limits, which have none */
};

/* To be freed in any case. Errors as hf_profile_timeline. */
int hf_activations_make(const struct hf_profiled *of, struct hf_activations *ret_activations);
void hf_activations_free(struct hf_activations *activations);
/* Leaves out the shortest, until there are so many, at least 1; of those that are equally long every so manieth stays.
 * HF_ERR_NOMEM. */
int hf_activations_drop(struct hf_activations *activations, size_t most);

#endif
