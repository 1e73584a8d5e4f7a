/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who called whom, with what was executed until the return: the tree of calls as a graph of functions. Internal to
 * fs/profile/.
 *
 * A function that is called while an earlier call of it has not returned is a second one here (again), so that nothing is
 * counted twice in what a function and those below it executed. A call of the second one within the second one has
 * nothing below it: the outer one has that.
 */
#ifndef HF_FS_PROFILE_EDGES_H
#define HF_FS_PROFILE_EDGES_H

#include "fs/profile/functions_table.h"
#include "fs/profile/recursion.h"

struct hf_edge {
	uint32_t caller, callee;	  /* functions */
	bool caller_again, callee_again;
	uint64_t calls, below; /* below: instructions, with the callee's own */
	uint64_t cycles;       /* the same of cycles */
	uint64_t site;	       /* pc of the call; where that is not certain the first of the caller */
};

struct hf_edges {
	struct hf_edge *at; /* by caller, callee, caller_again, callee_again */
	size_t count;
};

/* What each node of the tree is, by the number of its function, for the caller to free; NULL: out of memory. */
struct hf_recursion *hf_recursion_of_functions(const struct hf_profiled *of, const struct hf_functions *functions);

/* recursion: of hf_recursion_of_functions. To be freed after success. HF_ERR_NOMEM. */
int hf_edges_new(const struct hf_profiled *of, const struct hf_functions *functions,
		 const struct hf_recursion *recursion, struct hf_edges *ret_edges);
void hf_edges_free(struct hf_edges *edges);

#endif
