/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both sides of a trace learn from it in the same way: return addresses, branch outcomes, jump targets. A decoder
 * asks them where the flow goes; an encoder asks them whether a decoder knows that.
 */
#ifndef HF_ETRACE_TABLES_H
#define HF_ETRACE_TABLES_H

#include "codecs/base/fields.h"
#include "codecs/etrace/params.h"

#define HF_ETRACE_CACHE_EMPTY 1 /* no target is odd */

struct hf_etrace_tables {
	uint64_t *stack;       /* ring of return addresses */
	uint16_t *repeat;      /* of each, how often more it lies there (2.1) */
	uint32_t stack_size, depth, top;
	uint8_t *predictor;    /* two bits each, in a byte: the upper is the prediction, the lower the last outcome */
	uint32_t predictor_mask;
	uint64_t *cache;       /* HF_ETRACE_CACHE_EMPTY: an entry without a target */
	uint32_t cache_mask, cache_used;
	uint8_t lsb;           /* iaddress_lsb */
	bool predicted;        /* the predictor was touched since it was reset */
};

/* Of the sizes that params have; tables that are zero, or were made before. HF_ERR_NOMEM: there are none. */
int hf_etrace_tables_init(struct hf_etrace_tables *t, const struct hf_etrace_params *params);
void hf_etrace_tables_fini(struct hf_etrace_tables *t);
/* Of tables of the same sizes. */
void hf_etrace_tables_copy(struct hf_etrace_tables *to, const struct hf_etrace_tables *from);
/* As behind a synchronisation. */
void hf_etrace_tables_reset(struct hf_etrace_tables *t);
/* What they have learned since, as part of a state; loading, the tables are as behind a synchronisation. */
void hf_etrace_tables_visit(struct hf_etrace_tables *t, struct hf_fields *f);

/* ---- return stack ---- */

/* An address that is on top already is counted there, up to repeat_max times. */
void hf_etrace_push(struct hf_etrace_tables *t, uint64_t address, uint32_t repeat_max);
/* The stack is not empty. */
void hf_etrace_pop(struct hf_etrace_tables *t);

static inline uint64_t hf_etrace_stack_top(const struct hf_etrace_tables *t)
{
	return t->stack[(t->top - 1) & (t->stack_size - 1)];
}

/* ---- branch predictor ---- */

static inline uint8_t *hf_etrace_counter(const struct hf_etrace_tables *t, uint64_t pc)
{
	return &t->predictor[pc >> t->lsb & t->predictor_mask];
}

static inline bool hf_etrace_foretells_taken(const struct hf_etrace_tables *t, uint64_t pc)
{
	return *hf_etrace_counter(t, pc) >> 1;
}

static inline void hf_etrace_learn_outcome(struct hf_etrace_tables *t, uint64_t pc, bool taken)
{
	uint8_t *counter = hf_etrace_counter(t, pc);
	const bool foretold = *counter >> 1, last = *counter & 1;

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
	uint64_t *entry = &t->cache[hf_etrace_cache_index(t, target)];

	t->cache_used += *entry == HF_ETRACE_CACHE_EMPTY;
	*entry = target;
}

#endif
