/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things by hash, each of which has a link as a member. Who has the things compares their keys, and frees them.
 */
#ifndef HF_BASE_CHAINS_H
#define HF_BASE_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_chain {
	struct hf_chain *next;
	uint64_t hash;
};

/* A zeroed one is empty. */
struct hf_chains {
	struct hf_chain **first;
	size_t mask, count;
};

/* The things stay. */
void hf_chains_free(struct hf_chains *chains);
/* One with that hash, and another one behind it. NULL: there is none. */
struct hf_chain *hf_chains_find(const struct hf_chains *chains, uint64_t hash);
struct hf_chain *hf_chains_same(const struct hf_chain *chain);
/* HF_ERR_NOMEM if it is the first one: without memory for more chains they get longer. */
int hf_chains_add(struct hf_chains *chains, struct hf_chain *chain, uint64_t hash);
void hf_chains_remove(struct hf_chains *chains, struct hf_chain *chain);
/* One of them (behind NULL), or the one behind another; NULL: no more. */
struct hf_chain *hf_chains_next(const struct hf_chains *chains, const struct hf_chain *chain);

/* Goes through all of them. The body may remove and free the one that it has. */
#define HF_CHAINS_EACH(chains, chain)                                                            \
	for (struct hf_chain *chain = hf_chains_next((chains), NULL), *chain##_next = chain;     \
	     chain && (chain##_next = hf_chains_next((chains), chain), true); chain = chain##_next)

#endif
