/* SPDX-License-Identifier: Apache-2.0 */
/* What a list of the summary is to a plan. Internal to fs/find/. */
#ifndef HF_FIND_LIST_H
#define HF_FIND_LIST_H

#include "fs/find/predicates.h"
#include "index/summary/summary.h"

/* What is asked, and of what. All is borrowed. */
struct hf_find_ask {
	const struct hf_predicates *predicates;
	struct hf_summary *summary;
	struct hf_index *index;
	uint32_t hart;
	uint64_t low, high;
	struct hf_disasm *disasm;
};

/*
 * A list of the summary: what it can tell of a question. Adds to counts[chunk - low], for chunks in [low, high), how many
 * instructions of the chunk its terms let through, and clears *exact if that is only the most there can be. The plan takes
 * of all lists that serve the question the least count.
 */
struct hf_find_list {
	const char *name;
	/* The terms it is about: bits; 0: of no use for this question. */
	uint32_t (*serves)(const struct hf_predicates *predicates);
	int (*count)(const struct hf_find_ask *ask, uint64_t *counts, bool *exact);
};

/* list_runs.c, list_words.c, list_rare.c, list_registers.c */
extern const struct hf_find_list hf_find_list_runs, hf_find_list_words, hf_find_list_rare, hf_find_list_registers;

/* How many answers the hart has, if its runs tell that: HF_NOTE_END if not. HF_ERR_STATE, HF_ERR_NOMEM, HF_ERR_IO. */
int hf_find_total(const struct hf_find_ask *ask, uint64_t *ret_total);

#endif
