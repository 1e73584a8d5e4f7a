/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/chains.h"
#include "codecs/base/err.h"

#include <stdlib.h>

enum { FIRST_CHAINS = 256 };

void hf_chains_free(struct hf_chains *chains)
{
	free(chains->first);
	*chains = (struct hf_chains){0};
}

static struct hf_chain *of_hash(struct hf_chain *chain, uint64_t hash)
{
	while (chain && chain->hash != hash)
		chain = chain->next;
	return chain;
}

struct hf_chain *hf_chains_find(const struct hf_chains *chains, uint64_t hash)
{
	return chains->first ? of_hash(chains->first[hash & chains->mask], hash) : NULL;
}

struct hf_chain *hf_chains_same(const struct hf_chain *chain)
{
	return of_hash(chain->next, chain->hash);
}

static void put(struct hf_chains *chains, struct hf_chain *chain)
{
	struct hf_chain **first = &chains->first[chain->hash & chains->mask];

	chain->next = *first;
	*first = chain;
}

static void grow(struct hf_chains *chains)
{
	const size_t size = chains->first ? 2 * (chains->mask + 1) : FIRST_CHAINS;
	struct hf_chains more = {
		.first = calloc(size, sizeof(struct hf_chain *)), .mask = size - 1, .count = chains->count};

	if (!more.first)
		return;
	HF_CHAINS_EACH(chains, chain)
		put(&more, chain);
	hf_chains_free(chains);
	*chains = more;
}

int hf_chains_add(struct hf_chains *chains, struct hf_chain *chain, uint64_t hash)
{
	if (!chains->first || chains->count > chains->mask)
		grow(chains);
	if (!chains->first)
		return HF_ERR_NOMEM;
	chain->hash = hash;
	put(chains, chain);
	chains->count++;
	return 0;
}

void hf_chains_remove(struct hf_chains *chains, struct hf_chain *chain)
{
	struct hf_chain **at = &chains->first[chain->hash & chains->mask];

	while (*at != chain)
		at = &(*at)->next;
	*at = chain->next;
	chains->count--;
}

struct hf_chain *hf_chains_next(const struct hf_chains *chains, const struct hf_chain *chain)
{
	size_t i = chain ? (size_t)(chain->hash & chains->mask) + 1 : 0;

	if (chain && chain->next)
		return chain->next;
	for (; chains->first && i <= chains->mask; i++)
		if (chains->first[i])
			return chains->first[i];
	return NULL;
}
