/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which retired instructions may be wrong because of a gap or doubt behind them: those that hf_index_problem.back reaches.
 */
#ifndef HF_INDEX_DOUBTS_H
#define HF_INDEX_DOUBTS_H

#include <stddef.h>
#include <stdint.h>

/* By hart and end; lowest and by are of this one and all behind it of the same hart. */
struct hf_doubt {
	uint32_t hart;
	uint64_t end;	 /* the problem's ordinal */
	uint64_t lowest; /* the first instruction that any of them reaches, */
	uint64_t by;	 /*   and the end of the one that does */
};

struct hf_doubts {
	size_t count;
	struct hf_doubt *doubt; /* owned */
};

/* A problem with so many instructions of the hart before it. HF_ERR_NOMEM. */
int hf_doubts_add(struct hf_doubts *doubts, uint32_t hart, uint64_t ordinal, uint64_t back);
/* All were added. */
void hf_doubts_end(struct hf_doubts *doubts);
void hf_doubts_free(struct hf_doubts *doubts);
/* As hf_index_doubt. */
uint64_t hf_doubts_find(const struct hf_doubts *doubts, uint32_t hart, uint64_t ordinal);

#endif
