/* SPDX-License-Identifier: Apache-2.0 */
/* What the lists of words and of registers share: each term of theirs has a set of chunks. Internal to fs/find/. */
#ifndef HF_FIND_LIST_SETS_H
#define HF_FIND_LIST_SETS_H

#include "fs/find/list.h"
#include "index/summary/chunk_set.h"

/* Of these terms (bits) those that are not about a value alone: no list has values. */
uint32_t hf_find_predicates_listed(const struct hf_predicates *predicates, uint32_t bits);

/* Adds the chunks in which the term may hold. */
typedef int hf_find_term_fn(const struct hf_find_ask *ask, unsigned term, struct hf_chunk_set *set);

/* As hf_find_list.count, for these terms. */
int hf_find_count_sets(const struct hf_find_ask *ask, uint32_t terms, hf_find_term_fn *add, uint64_t *counts, bool *exact);

#endif
