/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which retired instructions may be wrong because of a later gap or doubt: those that hf_index_problem.back reaches.
 */
#ifndef HF_INDEX_DOUBTS_H
#define HF_INDEX_DOUBTS_H

#include <stddef.h>
#include <stdint.h>

/* Sorted by hart and end. lowest and by are minima over this one and all later ones of the hart. */
struct hf_doubt {
	uint32_t hart;
	uint64_t end;	 /* the problem's ordinal */
	uint64_t lowest; /* the first instruction that one of them reaches, */
	uint64_t by;	 /*   and the end of that one */
};

struct hf_doubts {
	size_t count;
	struct hf_doubt *doubt; /* owned */
};

/* Adds a problem at that ordinal. HF_ERR_NOMEM. */
int hf_doubts_add(struct hf_doubts *doubts, uint32_t hart, uint64_t ordinal, uint64_t back);
/* After the last add. */
void hf_doubts_end(struct hf_doubts *doubts);
void hf_doubts_free(struct hf_doubts *doubts);
/* As hf_index_doubt. */
uint64_t hf_doubts_find(const struct hf_doubts *doubts, uint32_t hart, uint64_t ordinal);

#endif
