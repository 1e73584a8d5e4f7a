/* SPDX-License-Identifier: Apache-2.0 */
/* The table of inlined calls while it is made: ranges as they come, of which later ones lie within or upon earlier ones. */
#ifndef HF_IMAGE_INLINED_TABLE_H
#define HF_IMAGE_INLINED_TABLE_H

#include "codecs/image/inlined.h"

struct hf_inlined {
	/* From start to that of the next row, ascending. */
	struct hf_inlined_row {
		uint64_t start;
		uint32_t call; /* from 1; 0: none */
	} *row;
	size_t count, cap;
	struct hf_inlined_node {
		uint32_t name, file; /* offsets among the names; file 0: unknown */
		uint32_t line, outer;
	} *call;
	size_t call_count, call_cap;
	struct hf_names names; /* the first two are "" and "?" */
};

#define HF_INLINED_NO_NAME 1 /* where "?" is */

struct hf_inlined_range {
	uint64_t start, end;
	uint32_t call;
	uint32_t order; /* of those that have an address the last one counts */
};

struct hf_inlined_ranges {
	struct hf_inlined_range *row;
	size_t count, cap;
};

int hf_inlined_add_range(struct hf_inlined_ranges *ranges, uint64_t start, uint64_t end, uint32_t call);
/* *ret_call is its number. HF_ERR_ELF_LIMIT, HF_ERR_NOMEM. */
int hf_inlined_add_call(struct hf_inlined *inlined, struct hf_inlined_node node, uint32_t *ret_call);
int hf_inlined_new_table(struct hf_inlined **ret_inlined);
/* Makes the rows of the ranges, which are sorted for it. */
int hf_inlined_resolve(struct hf_inlined *inlined, struct hf_inlined_ranges *ranges);

#endif
