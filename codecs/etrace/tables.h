/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both sides of a trace learn from it in the same way: return addresses, branch outcomes, jump targets. A decoder
 * asks them where the flow goes; an encoder asks them whether a decoder knows that.
 */
#ifndef HF_ETRACE_TABLES_H
#define HF_ETRACE_TABLES_H

#include "codecs/base/fields.h"
#include "codecs/etrace/params.h"
#include "codecs/walk/return_stack.h"

#define HF_ETRACE_CACHE_EMPTY 1 /* no target is odd */

/* Where the tables lie: as many entries of each as its size says, and one at least. */
struct hf_etrace_room {
	uint64_t *stack;    /* NULL: calls are only counted */
	uint16_t *repeat;   /* how often more each address lies there (2.1); NULL: no more */
	uint8_t *predictor; /* two bits each, in a byte: the upper is the prediction, the lower the last outcome */
	uint64_t *cache;    /* HF_ETRACE_CACHE_EMPTY: an entry without a target */
};

struct hf_etrace_tables {
	struct hf_etrace_room room;
	struct hf_return_stack stack;
	uint32_t predictor_mask, cache_mask;
	uint32_t cache_used;
	uint8_t lsb;	/* iaddress_lsb */
	bool predicted; /* the predictor was touched since it was reset */
};

/* Entries of the return stack, by whichever the unit has; 0: it has none. */
uint32_t hf_etrace_stack_size(const struct hf_etrace_params *params);

/* Of the sizes that params have, for these modes; of the others no room is needed. The room is borrowed. */
void hf_etrace_tables_place(struct hf_etrace_tables *t, const struct hf_etrace_params *params, uint32_t modes,
			    const struct hf_etrace_room *room);
/* The same for all modes with room of its own; *t is zero, or was made before. HF_ERR_NOMEM; free in any case. */
int hf_etrace_tables_make(struct hf_etrace_tables *t, const struct hf_etrace_params *params);
void hf_etrace_tables_free(struct hf_etrace_tables *t);
/* Of tables of the same sizes. */
void hf_etrace_tables_copy(struct hf_etrace_tables *to, const struct hf_etrace_tables *from);
/* As behind a synchronisation. */
void hf_etrace_tables_reset(struct hf_etrace_tables *t);
/* What they have learned since, as part of a state; loading, the tables are as behind a synchronisation. */
void hf_etrace_tables_visit(struct hf_etrace_tables *t, struct hf_fields *f);

/* ---- branch predictor ---- */

static inline uint8_t *hf_etrace_counter(const struct hf_etrace_tables *t, uint64_t pc)
{
	return &t->room.predictor[pc >> t->lsb & t->predictor_mask];
}

static inline bool hf_etrace_foretells_taken(const struct hf_etrace_tables *t, uint64_t pc)
{
	return *hf_etrace_counter(t, pc) >> 1;
}

static inline void hf_etrace_learn_outcome(struct hf_etrace_tables *t, uint64_t pc, bool taken)
{
	uint8_t *counter = hf_etrace_counter(t, pc);
	const bool foretold = *counter >> 1, last = *counter & 1;

	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all of them are 0 or 1 */
	*counter = (uint8_t)((foretold == last ? foretold : taken) << 1 | taken);
	t->predicted = true;
}

/* ---- jump target cache ---- */

static inline uint32_t hf_etrace_cache_index(const struct hf_etrace_tables *t, uint64_t target)
{
	return (uint32_t)(target >> t->lsb) & t->cache_mask;
}

static inline void hf_etrace_learn_target(struct hf_etrace_tables *t, uint64_t target)
{
	uint64_t *entry = &t->room.cache[hf_etrace_cache_index(t, target)];

	t->cache_used += *entry == HF_ETRACE_CACHE_EMPTY;
	*entry = target;
}

#endif
